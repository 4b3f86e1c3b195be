package memories

import (
	"strings"
	"testing"
)

// Words about what was learnt follow from the shares that are right.
func TestVerdicts(t *testing.T) {
	at := func(eight, sixteen float64) map[string]float64 { return map[string]float64{"8": eight, "16": sixteen} }
	rows := func(n8, n16, n20, n32, n40 float64) map[string]float64 {
		return map[string]float64{"8": n8, "16": n16, "20": n20, "32": n32, "40": n40}
	}
	for got, want := range map[string]string{
		stackVerdict(at(1, 0.97)):         "has learnt it",
		stackVerdict(at(0.01, 0)):         "has not learnt it",
		stackVerdict(at(0.7, 0.6)):        "has learnt it in part",
		stackVerdict(at(1, 0.3)):          "has learnt it for as many rows as it heard, and no more",
		farther(rows(1, 1, 1, 0.97, 0.2)): ", and says at least nine in ten of 32 rows right",
		farther(rows(1, 0.2, 0, 0, 0)):    ", and says at least nine in ten of 8 rows right",
		farther(rows(0.1, 0.05, 0, 0, 0)): "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// hopfield says that Hebb's rule mixes letters only where it did.
func TestHopfieldWords(t *testing.T) {
	for _, c := range []struct {
		hebb, storkey, inverse int
		want                   string
	}{{5, 5, 5, "recalls all of them"}, {4, 5, 5, "mixes some of them"}, {3, 4, 3, "mixes some of them"}, {3, 1, 3, "too far from the letters"}, {5, 4, 4, "recalls all of them"}} {
		words := hopfieldWords(map[string]int{"Hebb": c.hebb, "Storkey": c.storkey, "pseudo-inverse": c.inverse}, 5)
		for _, one := range []string{"recalls all of them", "mixes some of them", "too far from the letters"} {
			if strings.Contains(words, one) != (one == c.want) {
				t.Errorf("of %+v it says %q", c, words)
			}
		}
	}
}

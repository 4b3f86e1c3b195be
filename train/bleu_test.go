package train_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/train"
)

// read fills v from a file of testdata.
func read(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// bleuFile is what SacreBLEU says of some corpora.
type bleuFile struct {
	Corpora []struct {
		Hyp  []string
		Refs [][]string
	}
	Tokens [][2]string
	Cases  []struct {
		Tokenize, Smooth, Text string
		Lower, Effective       bool
		Value, Score, BP       float64
		Corpus                 int
		Precisions             [4]float64
		HypLen                 int `json:"hyp_len"`
		RefLen                 int `json:"ref_len"`
	}
}

func TestBLEUGolden(t *testing.T) {
	var f bleuFile
	read(t, "bleu.json", &f)
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }
	for i, c := range f.Cases {
		b := train.BLEU{Tokenised: c.Tokenize == "none", Lower: c.Lower, Smooth: c.Smooth, SmoothValue: c.Value, Effective: c.Effective}
		if c.Smooth == "exp" && i%2 == 0 {
			b.Smooth = ""
		}
		got, err := b.Score(f.Corpora[c.Corpus].Hyp, f.Corpora[c.Corpus].Refs...)
		if err != nil {
			t.Fatal(err)
		}
		same := near(got.Score, c.Score) && near(got.BrevityPenalty, c.BP) && got.HypLen == c.HypLen && got.RefLen == c.RefLen
		for k, p := range c.Precisions {
			same = same && near(got.Precisions[k], p)
		}
		if !same || got.String() != c.Text {
			t.Errorf("corpus %d, %+v: got %v, SacreBLEU says %s", c.Corpus, b, got, c.Text)
		}
	}
	if len(f.Cases) < 100 {
		t.Errorf("only %d cases", len(f.Cases))
	}
}

// The words of mteval-v13a, of texts full of punctuation: a text matches the words
// that SacreBLEU cuts it into, and nothing else does.
func TestBLEUTokens(t *testing.T) {
	var f bleuFile
	read(t, "bleu.json", &f)
	for _, pair := range f.Tokens {
		if got := train.Words13a(pair[0]); strings.Join(got, " ") != pair[1] {
			t.Errorf("%q is cut into %q, want %q", pair[0], got, pair[1])
		}
	}
}

func TestBLEURefuses(t *testing.T) {
	one := []string{"a"}
	tests := []struct {
		b    train.BLEU
		hyp  []string
		refs [][]string
		want string
	}{
		{train.BLEU{}, one, nil, "no references"},
		{train.BLEU{}, one, [][]string{one, {"a", "b"}}, "1 hypotheses, and 2 references in set 1"},
		{train.BLEU{}, []string{"a", "\xff"}, [][]string{{"a", "b"}}, "hypothesis 1 is no UTF-8"},
		{train.BLEU{}, one, [][]string{{"\xff"}}, "reference 0 of set 0 is no UTF-8"},
		{train.BLEU{Smooth: "exponential"}, one, [][]string{one}, `Smooth is "exponential"`},
		{train.BLEU{SmoothValue: math.NaN()}, one, [][]string{one}, "SmoothValue is NaN"},
	}
	for _, tt := range tests {
		if _, err := tt.b.Score(tt.hyp, tt.refs...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
	if s, err := (train.BLEU{}).Score(nil, nil); err != nil || s.Score != 0 {
		t.Errorf("of no hypotheses: %v, %v", s, err)
	}
}

// The example of SacreBLEU's own page, which prints this line for it.
func ExampleBLEU() {
	score, err := train.BLEU{}.Score(
		[]string{"The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."},
		[]string{"The dog bit the man.", "It was not unexpected.", "The man bit him first."},
		[]string{"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."},
	)
	fmt.Println(score, err)
	// Output: BLEU = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18) <nil>
}

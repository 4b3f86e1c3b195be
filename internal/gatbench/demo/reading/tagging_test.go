package reading

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// What the tagger sees of a word's letters.
func TestFeatures(t *testing.T) {
	for word, want := range map[string]int32{"1990s": 0, "...": 1, "IBM": 2, "Rockwell": 3, "A": 3, "said": 4, "Łódź": 3} {
		if got := shape(word); got != want || got >= shapes {
			t.Errorf("%q has shape %d, want %d", word, got, want)
		}
	}
	for word, want := range map[string]string{"Running": "ing", "of": "of", "": "", "CAFÉS": "fés"} {
		if got := ending(word); got != want {
			t.Errorf("%q ends with %q, want %q", word, got, want)
		}
	}
}

// Phrases stand in brackets, and the picture has the tags that some word may have.
func TestPhrases(t *testing.T) {
	got := bracketed([]string{"He", "reckons", "the", "deficit", "."}, []train.Span{{Start: 0, End: 1, Label: "NP"}, {Start: 1, End: 2, Label: "VP"}, {Start: 2, End: 4, Label: "NP"}})
	if want := "[NP He] [VP reckons] [NP the deficit] ."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p := tensor.Of([]tensor.Float{0.5, 0.01, 0.49, 0.96, 0.04, 0}, 2, 3)
	rows, values := likely(p, []string{"a", "b", "c"})
	if !slices.Equal(rows, []string{"a", "c"}) || len(values) != 2 || len(values[1]) != 2 || values[1][0] < 0.48 {
		t.Errorf("%v, %v", rows, values)
	}
	if c := certainty(p); c != 0.5 {
		t.Errorf("the most doubtful word has %v, want 0.5", c)
	}
}

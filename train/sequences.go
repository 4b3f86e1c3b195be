package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Span is a stretch of tokens with a label, such as a noun phrase or an answer: from
// token Start to End, without End.
type Span struct {
	Start, End int
	Label      string
}

// SpanCounts says how many spans were found: a span is right if it has the ends and
// the label of one that is there. TrueNeg is 0 throughout.
type SpanCounts struct {
	All    Counts            // of all labels together; its F1 is the score of CoNLL-2000
	Labels map[string]Counts // of each label that occurs
}

// CountSpans compares the spans that were found with those that are there, sentence
// by sentence. A span that is found twice is right as often as it is there. It panics with a
// [*tensor.ShapeError] unless there are as many sentences of both.
func CountSpans(want, got [][]Span) *SpanCounts {
	pairs("train.CountSpans", want, got, false)
	c := &SpanCounts{Labels: map[string]Counts{}}
	for i := range want {
		c.count(want[i], got[i])
	}
	return c
}

// count adds a sentence.
func (c *SpanCounts) count(want, got []Span) {
	left := make(map[Span]int, len(want))
	for _, s := range want {
		left[s]++
		c.add(s.Label, Counts{FalseNeg: 1})
	}
	for _, s := range got {
		if left[s] == 0 {
			c.add(s.Label, Counts{FalsePos: 1})
			continue
		}
		left[s]--
		c.add(s.Label, Counts{TruePos: 1, FalseNeg: -1})
	}
}

func (c *SpanCounts) add(label string, by Counts) {
	of := c.Labels[label]
	for _, to := range []*Counts{&of, &c.All} {
		to.TruePos += by.TruePos
		to.FalsePos += by.FalsePos
		to.FalseNeg += by.FalseNeg
	}
	c.Labels[label] = of
}

// CountChunks compares the chunks of predicted tags with those of the true ones,
// sentence by sentence, as the script conlleval of CoNLL-2000 does: see [Chunks], whose error it returns.
func CountChunks(want, got [][]string) (*SpanCounts, error) {
	pairs("train.CountChunks", want, got, true)
	c := &SpanCounts{Labels: map[string]Counts{}}
	for i := range want {
		there, err := Chunks(want[i])
		if err != nil {
			return nil, fmt.Errorf("train: CountChunks: sentence %d: %w", i, err)
		}
		said, err := Chunks(got[i])
		if err != nil {
			return nil, fmt.Errorf("train: CountChunks: sentence %d, predicted: %w", i, err)
		}
		c.count(there, said)
	}
	return c, nil
}

// Chunks returns the chunks of a sentence's tags. A tag is O, or B, I, E or S, a
// dash and the chunk's label. By the rules of conlleval a chunk begins
//
//   - at B, and at S;
//   - at I or E after O, at the beginning, and where the tag before has another label;
//   - at I or E after E or S;
//
// and ends before O and where another begins. So the same function reads IOB1,
// IOB2, IOE and IOBES, and tags that follow no scheme. The script does not know S,
// and joins E-x and B-x into one chunk; here they are two.
func Chunks(tags []string) ([]Span, error) {
	var out []Span
	open, before, label := false, "O", ""
	for i, tag := range tags {
		place, name, ok := strings.Cut(tag, "-")
		if !validTag(place, name, ok) {
			return nil, fmt.Errorf("tag %d is %q; a tag is O, or B, I, E or S, a dash and a label", i, tag)
		}
		begins := place != "O" && (place == "B" || place == "S" || before == "O" || before == "E" || before == "S" || name != label)
		if open && (begins || place == "O") {
			out[len(out)-1].End = i
		}
		if begins {
			out = append(out, Span{Start: i, Label: name})
		}
		open, before, label = place != "O", place, name
	}
	if open {
		out[len(out)-1].End = len(tags)
	}
	return out, nil
}

func validTag(place, name string, labelled bool) bool {
	switch place {
	case "O":
		return !labelled
	case "B", "I", "E", "S":
		return name != "" || !labelled
	}
	return false
}

// pairs panics unless sequences can be compared.
func pairs[T any](op string, want, got [][]T, lengths bool) {
	if len(want) != len(got) {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{len(want)}, {len(got)}}, Why: "true sequences and predicted ones come in pairs"})
	}
	for i := range want {
		if lengths && len(want[i]) != len(got[i]) {
			panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{len(want[i])}, {len(got[i])}}, Why: fmt.Sprintf("the sequences of pair %d are not of one length", i)})
		}
	}
}

// ExactMatch returns the fraction of sequences that are right from end to end; of
// none it is 0. It panics with a [*tensor.ShapeError] unless there are as many of both.
func ExactMatch[T comparable](want, got [][]T) float64 {
	pairs("train.ExactMatch", want, got, false)
	right := 0
	for i := range want {
		if slices.Equal(want[i], got[i]) {
			right++
		}
	}
	return ratio(right, len(want))
}

// TokenAccuracy returns the fraction of all tokens that are right, long sequences
// counting more; of none it is 0. It panics with a [*tensor.ShapeError] unless there are as
// many of both, and pairs are of equal length.
func TokenAccuracy[T comparable](want, got [][]T) float64 {
	pairs("train.TokenAccuracy", want, got, true)
	right, all := 0, 0
	for i := range want {
		for k, w := range want[i] {
			if w == got[i][k] {
				right++
			}
		}
		all += len(want[i])
	}
	return ratio(right, all)
}

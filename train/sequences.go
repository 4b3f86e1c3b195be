package train

import (
	"fmt"
	"slices"
	"strings"
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
// by sentence. A span that is found twice is right as often as it is there.
func CountSpans(want, got [][]Span) (*SpanCounts, error) {
	if len(want) != len(got) {
		return nil, fmt.Errorf("train: CountSpans: %d sentences have spans, and of %d some were found; give a list for each", len(want), len(got))
	}
	c := &SpanCounts{Labels: map[string]Counts{}}
	for i := range want {
		c.count(want[i], got[i])
	}
	return c, nil
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
// sentence by sentence, as the script conlleval of CoNLL-2000 does: see [Chunks].
func CountChunks(want, got [][]string) (*SpanCounts, error) {
	if err := pairs("CountChunks", want, got, true); err != nil {
		return nil, err
	}
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
		if !validTag(place, ok) {
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

func validTag(place string, labelled bool) bool {
	switch place {
	case "O":
		return !labelled
	case "B", "I", "E", "S":
		return true
	}
	return false
}

// pairs reports sequences that cannot be compared.
func pairs[T any](op string, want, got [][]T, lengths bool) error {
	if len(want) != len(got) {
		return fmt.Errorf("train: %s: %d true sequences and %d predicted ones; they come in pairs", op, len(want), len(got))
	}
	for i := range want {
		if lengths && len(want[i]) != len(got[i]) {
			return fmt.Errorf("train: %s: sequence %d has %d elements, and %d were predicted", op, i, len(want[i]), len(got[i]))
		}
	}
	return nil
}

// ExactMatch returns the fraction of sequences that are right from end to end; of
// none it is 0.
func ExactMatch[T comparable](want, got [][]T) (float64, error) {
	if err := pairs("ExactMatch", want, got, false); err != nil {
		return 0, err
	}
	right := 0
	for i := range want {
		if slices.Equal(want[i], got[i]) {
			right++
		}
	}
	return ratio(right, len(want)), nil
}

// TokenAccuracy returns the fraction of all tokens that are right, long sequences
// counting more; of none it is 0. Pairs are of equal length.
func TokenAccuracy[T comparable](want, got [][]T) (float64, error) {
	if err := pairs("TokenAccuracy", want, got, true); err != nil {
		return 0, err
	}
	right, all := 0, 0
	for i := range want {
		for k, w := range want[i] {
			if w == got[i][k] {
				right++
			}
		}
		all += len(want[i])
	}
	return ratio(right, all), nil
}

package train

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// BLEU scores translations by the runs of one to four words that they share with
// reference translations (Papineni and others, 2002), as SacreBLEU 2 does: the
// zero value is its default.
//
// A precision is the share of the hypotheses' runs that a reference has, a run
// counting at most as often as in one reference. The score is the geometric mean of
// the four, counted over all sentences together, times exp(1 − r/c) where the
// hypotheses' c words are fewer than the r of the references nearest in length.
type BLEU struct {
	Tokenised bool // texts are words between blanks; else they are cut by the rules of mteval-v13a
	Lower     bool // case does not count

	// Smooth says what becomes of a precision without a match: "" or "exp", which
	// counts half a match, then a quarter, …; "floor", SmoothValue matches;
	// "add-k", which adds SmoothValue to all counts but those of single words; or
	// "none", by which the score is 0.
	Smooth      string
	SmoothValue float64 // 0 means 0.1 of floor, 1 of add-k

	Effective bool // leave out runs longer than any hypothesis: for a sentence alone
}

// bleuOrder is the length of the longest runs.
const bleuOrder = 4

// BLEUScore is a score from 0 to 100, and what it is made of.
type BLEUScore struct {
	Score          float64
	Precisions     [bleuOrder]float64 // in per cent, smoothed
	BrevityPenalty float64
	Matches        [bleuOrder]int // runs of one word, of two, …
	Totals         [bleuOrder]int
	HypLen, RefLen int // words
}

// String returns the score as SacreBLEU prints it.
func (s BLEUScore) String() string {
	p := s.Precisions
	return fmt.Sprintf("BLEU = %.2f %.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %d ref_len = %d)",
		s.Score, p[0], p[1], p[2], p[3], s.BrevityPenalty, float64(s.HypLen)/math.Max(1, float64(s.RefLen)), s.HypLen, s.RefLen)
}

// Score scores hypotheses against one or more sets of references, each with a
// reference for every hypothesis. Of no hypotheses the score is 0.
func (b BLEU) Score(hypotheses []string, references ...[]string) (BLEUScore, error) {
	if err := b.check(hypotheses, references); err != nil {
		return BLEUScore{}, err
	}
	var s BLEUScore
	words := vocabulary{}
	for i, text := range hypotheses {
		refs := make([][]int32, len(references))
		for k, set := range references {
			refs[k] = words.numbers(b.words(set[i]))
		}
		s.count(words.numbers(b.words(text)), refs)
	}
	b.finish(&s)
	return s, nil
}

func (b BLEU) check(hypotheses []string, references [][]string) error {
	switch b.Smooth {
	case "", "exp", "floor", "add-k", "none":
	default:
		return fmt.Errorf("train: BLEU.Smooth is %q; it must be exp, floor, add-k or none", b.Smooth)
	}
	if !(b.SmoothValue >= 0) || math.IsInf(b.SmoothValue, 0) {
		return fmt.Errorf("train: BLEU.SmoothValue is %v; it must be a number and not negative", b.SmoothValue)
	}
	if len(references) == 0 {
		return fmt.Errorf("train: BLEU: there are no references")
	}
	for k, set := range references {
		if len(set) != len(hypotheses) {
			return fmt.Errorf("train: BLEU: %d hypotheses, and %d references in set %d; each needs one", len(hypotheses), len(set), k)
		}
		if i := firstInvalid(set); i >= 0 {
			return fmt.Errorf("train: BLEU: reference %d of set %d is no UTF-8", i, k)
		}
	}
	if i := firstInvalid(hypotheses); i >= 0 {
		return fmt.Errorf("train: BLEU: hypothesis %d is no UTF-8", i)
	}
	return nil
}

// firstInvalid returns the number of the first text that is no UTF-8, or −1.
func firstInvalid(texts []string) int {
	for i, text := range texts {
		if !utf8.ValidString(text) {
			return i
		}
	}
	return -1
}

// words cuts a text.
func (b BLEU) words(text string) []string {
	if b.Lower {
		text = strings.ToLower(text)
	}
	text = strings.TrimRightFunc(text, blank)
	if !b.Tokenised {
		text = cut13a(text)
	}
	return strings.FieldsFunc(text, blank)
}

// wordRun is up to four words; those that it lacks are 0.
type wordRun [bleuOrder]int32

// vocabulary numbers words from 1 on.
type vocabulary map[string]int32

func (v vocabulary) numbers(words []string) []int32 {
	out := make([]int32, len(words))
	for i, w := range words {
		n, ok := v[w]
		if !ok {
			n = int32(len(v) + 1)
			v[w] = n
		}
		out[i] = n
	}
	return out
}

// runs counts the runs of a text.
func runs(words []int32) map[wordRun]int {
	out := make(map[wordRun]int, bleuOrder*len(words))
	for i := range words {
		var r wordRun
		for k, w := range words[i:min(i+bleuOrder, len(words))] {
			r[k] = w
			out[r]++
		}
	}
	return out
}

func (r wordRun) len() int {
	n := 0
	for n < bleuOrder && r[n] != 0 {
		n++
	}
	return n
}

// count adds a hypothesis and its references.
func (s *BLEUScore) count(hyp []int32, refs [][]int32) {
	most, near := map[wordRun]int{}, len(refs[0])
	for _, ref := range refs {
		for r, n := range runs(ref) {
			most[r] = max(most[r], n)
		}
		far, best := abs(len(hyp)-len(ref)), abs(len(hyp)-near)
		if far < best || far == best && len(ref) < near {
			near = len(ref)
		}
	}
	for r, n := range runs(hyp) {
		k := r.len() - 1
		s.Totals[k] += n
		s.Matches[k] += min(n, most[r])
	}
	s.HypLen += len(hyp)
	s.RefLen += near
}

func abs(n int) int { return max(n, -n) }

// finish makes the score from the counts.
func (b BLEU) finish(s *BLEUScore) {
	s.BrevityPenalty = 1
	if s.HypLen < s.RefLen {
		s.BrevityPenalty = math.Exp(1 - float64(s.RefLen)/float64(s.HypLen)) // 0 of no words
	}
	if s.Matches == [bleuOrder]int{} {
		return
	}
	halves, orders, sum := 1.0, bleuOrder, 0.0
	for k := range bleuOrder {
		matches, total := float64(s.Matches[k]), float64(s.Totals[k])
		if b.Smooth == "add-k" && k > 0 {
			matches, total = matches+b.smoothValue(), total+b.smoothValue()
		}
		if total == 0 {
			break
		}
		if b.Effective {
			orders = k + 1
		}
		switch {
		case matches > 0:
		case b.Smooth == "" || b.Smooth == "exp":
			halves *= 2
			matches = 1 / halves
		case b.Smooth == "floor":
			matches = b.smoothValue()
		}
		s.Precisions[k] = 100 * matches / total
	}
	for _, p := range s.Precisions[:orders] {
		sum += math.Log(p) // −Inf of 0, and a score of 0
	}
	s.Score = s.BrevityPenalty * math.Exp(sum/float64(orders))
}

func (b BLEU) smoothValue() float64 {
	switch {
	case b.SmoothValue != 0:
		return b.SmoothValue
	case b.Smooth == "floor":
		return 0.1
	}
	return 1
}

// The rules of mteval-v13a for Western languages, in the form of SacreBLEU: each is
// applied to what the one before has left.
var rules13a = sync.OnceValue(func() []rule13a {
	return []rule13a{
		{regexp.MustCompile("([{-~\\[-` -&(-+:-@/])"), " ${1} "}, // punctuation stands alone
		{regexp.MustCompile(`([^0-9])([.,])`), "${1} ${2} "},     // so do point and comma,
		{regexp.MustCompile(`([.,])([^0-9])`), " ${1} ${2}"},     // unless between digits,
		{regexp.MustCompile(`([0-9])(-)`), "${1} ${2} "},         // and a dash after a digit
	}
})

type rule13a struct {
	match *regexp.Regexp
	by    string
}

// entities13a are replaced one after another, so that &amp;lt; becomes <.
var entities13a = [][2]string{{"&quot;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}}

// cut13a puts blanks between the words of a text.
func cut13a(text string) string {
	text = strings.ReplaceAll(text, "<skipped>", "")
	text = strings.ReplaceAll(text, "-\n", "")
	text = strings.ReplaceAll(text, "\n", " ")
	for _, e := range entities13a {
		text = strings.ReplaceAll(text, e[0], e[1])
	}
	text = " " + text + " "
	for _, r := range rules13a() {
		text = r.match.ReplaceAllString(text, r.by)
	}
	return text
}

// blank reports what Python takes for a blank: what Unicode does, and four
// separators of ASCII.
func blank(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

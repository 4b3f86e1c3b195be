package reading

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/attention"
)

// passage is a text, a question about it and the words of the text that answer it.
type passage struct {
	text, question []string
	answer         attention.Passage
}

// said are the words of an answer.
func (p passage) said(a attention.Passage) []string { return p.text[a.First : a.Last+1] }

// passageBatch is some passages as graphs, and their words in numbers.
type passageBatch struct {
	*attention.Reading
	texts, questions []int32
}

// newPassageBatch returns passages as a batch.
func newPassageBatch(words *text.Vocabulary, ps []passage) (*passageBatch, error) {
	b := &passageBatch{}
	lengths, asked, answers := make([]int, len(ps)), make([]int, len(ps)), make([]attention.Passage, len(ps))
	for i, p := range ps {
		lengths[i], asked[i], answers[i] = len(p.text), len(p.question), p.answer
		b.texts, b.questions = append(b.texts, words.IDs(p.text)...), append(b.questions, words.IDs(p.question)...)
	}
	var err error
	b.Reading, err = attention.NewReading(graph.Chains(lengths...), graph.Chains(asked...), answers)
	return b, err
}

// passageScores are how many answers are right to the word, and what the others have in common with the right ones.
type passageScores struct{ exact, f1 float64 }

// scorePassages compares answers with what is right, by their words and not by where these stand.
func scorePassages(ps []passage, got []attention.Passage) passageScores {
	var s passageScores
	for i, p := range ps {
		a, b := p.said(got[i]), p.said(p.answer)
		if strings.Join(a, " ") == strings.Join(b, " ") {
			s.exact++
		}
		s.f1 += overlap(a, b)
	}
	n := float64(max(1, len(ps)))
	return passageScores{s.exact / n, s.f1 / n}
}

// overlap is F1 of two bags of words.
func overlap(a, b []string) float64 {
	left, common := map[string]int{}, 0
	for _, w := range b {
		left[w]++
	}
	for _, w := range a {
		if left[w] > 0 {
			left[w]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b))
}

// storyMost is how many sentences of a story are read: the last ones, as by a memory network.
const storyMost = 50

// storyPassages returns questions of bAbI as passages: the answer is pointed at where it stands in the last statement that the
// answer follows from and that has it, or else in the last one of all. of names the file.
func storyPassages(of string, questions []text.Question) ([]passage, error) {
	out := make([]passage, len(questions))
	for i, q := range questions {
		from := max(0, len(q.Story)-storyMost)
		p := passage{question: strings.Fields(plainWords(q.Text))}
		answer := strings.ToLower(q.Answer)
		supports := map[int]bool{}
		for _, f := range q.Facts {
			supports[int(f)] = true
		}
		at, inFact := -1, false
		for k, line := range q.Story[from:] {
			for _, w := range strings.Fields(plainWords(line)) {
				if fact := supports[from+k]; w == answer && (fact || !inFact) {
					at, inFact = len(p.text), fact
				}
				p.text = append(p.text, w)
			}
			p.text = append(p.text, ".")
		}
		if at < 0 {
			return nil, fmt.Errorf("%s: line %d: the answer %.40q is no word of the last %d statements before %.60q: this demo points at words; the demo babi chooses an answer from all", of, q.Line, q.Answer, storyMost, q.Text)
		}
		if len(p.question) == 0 {
			return nil, fmt.Errorf("%s: line %d: the question has no words", of, q.Line)
		}
		p.answer = attention.Passage{First: int32(at), Last: int32(at)}
		out[i] = p
	}
	return out, nil
}

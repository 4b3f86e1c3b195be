package attention

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// Passage is some words of a text that follow each other, counted from 0: the answer to a question about it.
type Passage struct{ First, Last int32 }

// Reading is texts and a question about each, as graphs: what a [BiDAF] and a [Coattention] read.
type Reading struct {
	Texts, Questions *graph.Graph // a chain each; question i is about text i
	ToText           *graph.Graph // from every word of a question to every word of its text

	whole       *graph.Graph // from every word of a text to a node for the text
	of          []int32      // the text of each word
	first, last []int32      // the words of Texts where the answers begin and end; nil: nobody knows them
}

// NewReading returns texts and questions as graphs. answers are what a network is to learn; nil where it is only
// asked. The error names a text or a question without words, and an answer that is not in its text.
func NewReading(texts, questions *graph.Graph, answers []Passage) (*Reading, error) {
	m, n := texts.NodeOffsets(), questions.NodeOffsets()
	switch {
	case len(m) != len(n):
		return nil, fmt.Errorf("attention: %d texts and %d questions: ask one question about each text", len(m)-1, len(n)-1)
	case answers != nil && len(answers) != len(m)-1:
		return nil, fmt.Errorf("attention: %d answers for %d texts: give each its own, or none at all", len(answers), len(m)-1)
	}
	r := &Reading{Texts: texts, Questions: questions}
	parts, whole := make([]*graph.Graph, len(m)-1), make([]*graph.Graph, len(m)-1)
	for i := range parts {
		words, asked := m[i+1]-m[i], n[i+1]-n[i]
		switch {
		case words == 0:
			return nil, fmt.Errorf("attention: text %d has no words, so there is nothing to point at: leave it out", i)
		case asked == 0:
			return nil, fmt.Errorf("attention: question %d has no words: leave it out, or ask something", i)
		}
		parts[i], whole[i] = graph.CompleteBipartite(asked, words), graph.CompleteBipartite(words, 1)
		for range words {
			r.of = append(r.of, int32(i))
		}
		if answers == nil {
			continue
		}
		a := answers[i]
		if a.First < 0 || a.Last < a.First || int(a.Last) >= words {
			return nil, fmt.Errorf("attention: the answer to question %d is words %d to %d: its text has the words 0 to %d", i, a.First, a.Last, words-1)
		}
		r.first, r.last = append(r.first, int32(m[i])+a.First), append(r.last, int32(m[i])+a.Last)
	}
	r.ToText, r.whole = join(parts), join(whole)
	return r, nil
}

// check panics unless x and q have a row of so many numbers for each word.
func (r *Reading) check(op string, x, q *grad.Var, in int) {
	if r == nil {
		panic(&grad.TapeError{Op: op, Why: "the reading is nil: make it with NewReading"})
	}
	wantRows(op, "x", x, r.Texts.NumNodes(), "words in its texts")
	wantRows(op, "q", q, r.Questions.NumNodes(), "words in its questions")
	for _, v := range []*grad.Var{x, q} {
		if v.Dim(-1) != in {
			compose.BadShape(op, v, fmt.Sprintf("a word has %d columns, In is %d", v.Dim(-1), in))
		}
	}
}

// Pointed is where a network sees the beginning and the end of each answer, and how text and question looked at
// each other on the way.
type Pointed struct {
	Start, End         *grad.Var // a logit for each word of the texts
	ToText, ToQuestion Alignment // the words of a text look at its question; and the other way round
}

// Loss is the mean over the texts of −log p(start) − log p(end), each softmax over the words of one text.
func (p Pointed) Loss(r *Reading) *grad.Var {
	if r.first == nil {
		panic(&grad.TapeError{Op: "attention.Pointed.Loss", Why: "the reading has no answers: give them to NewReading"})
	}
	logP := func(logits *grad.Var, at []int32) *grad.Var {
		return message.ApplyEdges(r.whole, message.CopyU(logits).LogSoftmax()).Rows(at).Mean()
	}
	return logP(p.Start, r.first).Add(logP(p.End, r.last)).Neg()
}

// Best returns the passage of each text with the largest p(first)·p(last), of at most so many words; 0: of any
// number. It takes one look at each word where any number is allowed. Of several the first one is returned.
func (p Pointed) Best(r *Reading, most int) []Passage {
	start, end, ends := p.Start.Value().Data, p.End.Value().Data, r.Texts.NodeOffsets()
	out := make([]Passage, len(ends)-1)
	for i := range out {
		s, e := start[ends[i]:ends[i+1]], end[ends[i]:ends[i+1]]
		top, first := math.Inf(-1), 0 // first is where the best answer that ends at k begins
		for k := range s {
			if s[k] > s[first] {
				first = k
			}
			if most > 0 && k-first >= most { // it has moved out of reach
				first = k - most + 1
				for j := first; j <= k; j++ {
					if s[j] > s[first] {
						first = j
					}
				}
			}
			if v := float64(s[first]) + float64(e[k]); v > top {
				top, out[i] = v, Passage{int32(first), int32(k)}
			}
		}
	}
	return out
}

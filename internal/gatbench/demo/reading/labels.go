package reading

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/train"
)

// labelling is texts with labels, those to learn and those to try, and what numbers their tokens.
type labelling struct {
	learnt, tried *text.Labelled
	by            text.Tokeniser
}

// learn trains a network that has a row of scores for each text, in batches of a size. It returns which labels
// the texts to try have, and which they are given, and their scores.
func (d labelling) learn(l *stage.Training, size int, forward func(t *grad.Tape, g *graph.Graph, tokens []int32) *grad.Var) (*train.Confusion, *grad.Var, error) {
	read, tests := text.EncodeLines(d.by, d.learnt.Texts), text.EncodeLines(d.by, d.tried.Texts)
	guess := func() (*train.Confusion, *grad.Var) {
		y := forward(grad.NewEval(), tests.Graph(), tests.Tokens)
		return train.NewConfusion(y.Value(), d.tried.Labels), y
	}
	l.Batches, l.ScoreName = l.ByLength(read.Lengths(), size), "test_accuracy"
	l.Loss = func(t *grad.Tape, rows []int32) *grad.Var {
		b := read.Batch(rows)
		return forward(t, b.Graph, b.Tokens).CrossEntropy(d.learnt.Rows(rows).Labels)
	}
	l.Score = func() (float64, error) {
		c, _ := guess()
		return c.Accuracy(), nil
	}
	if err := l.Run(); err != nil {
		return nil, nil, err
	}
	c, y := guess()
	return c, y, nil
}

// commonest returns the class of most texts.
func commonest(l *text.Labelled) string {
	counts, best := make([]int, len(l.Classes)), 0
	for _, c := range l.Labels {
		counts[c]++
	}
	for c, n := range counts {
		if n > counts[best] {
			best = c
		}
	}
	return l.Classes[best]
}

// confused names the three pairs of classes of which most are taken for each other.
func confused(c *train.Confusion, classes []string) string {
	type pair struct{ a, b, n int }
	var best [3]pair
	for a := range classes {
		for b := range classes {
			p := pair{a, b, c.At(a, b)}
			for k := range best {
				if a != b && p.n > best[k].n {
					best[k], p = p, best[k]
				}
			}
		}
	}
	var words []string
	for _, p := range best {
		if p.n > 0 {
			words = append(words, fmt.Sprintf("%s for %s (%d)", classes[p.a], classes[p.b], p.n))
		}
	}
	if words == nil {
		return "none"
	}
	return strings.Join(words, ", ")
}

// confusionPanel shows which classes are taken for which, each row in shares of its class.
func confusionPanel(c *train.Confusion, classes []string) picture.Panel {
	h := &picture.Heat{Title: "share of each class", Across: "taken for", Down: "is", Rows: classes, Columns: classes, Top: 1}
	for a := range classes {
		row, all := make([]float64, len(classes)), 0
		for b := range classes {
			all += c.At(a, b)
		}
		for b := range classes {
			row[b] = float64(c.At(a, b)) / float64(max(1, all))
		}
		h.Values = append(h.Values, row)
	}
	return h
}

package demo

import (
	"fmt"
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// every returns the numbers of n rows.
func every(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
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

// lossPanel shows the loss of each epoch, or hundred steps.
func lossPanel(ls ...*training) picture.Panel {
	ch := &picture.Chart{Title: "loss", X: ls[0].axis()}
	for i, l := range ls {
		ch.Series = append(ch.Series, curve("", i, l.losses))
	}
	return ch
}

// curve is a line through numbers, from 1 on.
func curve(name string, colour int, ys []float64) picture.Series {
	s := picture.Series{Name: name, Mark: picture.Curve, Colour: picture.Colour(colour)}
	for i, y := range ys {
		s.Points = append(s.Points, picture.Point{X: float64(i + 1), Y: y})
	}
	return s
}

// bits are numbers of nats in bits.
func bits(nats []float64) []float64 {
	out := make([]float64, len(nats))
	for i, n := range nats {
		out[i] = n / math.Ln2
	}
	return out
}

// logs are the logarithms of numbers.
func logs(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = math.Log(x)
	}
	return out
}

// zeros is a state of one row before anything has been read.
func zeros(width int) *grad.Var { return grad.Const(tensor.New(1, width)) }

package attention

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// stopping returns, of each edge, the probability that one who begins at an edge drawn from
// last, and stops at each with probability p, stops there. The edges into a destination
// are in the order in which they are passed:
//
//	q := 0
//	for e := range edges into v {
//		q = (1−p[e−1])·q + last[e]
//		y[e] = p[e]·q
//	}
func stopping(g *graph.Graph, p, last *grad.Var) *grad.Var {
	op := grad.Begin("attention.stopping", p, last)
	k := tape.Note(op, stops{offsets: g.In().Offsets, p: p, last: last, q: tape.FreshFloats(op, p.Dim(0))})
	y := op.Fresh(p.Dim(0), 1)
	if !tape.Dry(op, 0) {
		k.forward(y.Value().Data, p.Value().Data, last.Value().Data)
	}
	return tape.RecordBy(op, y, k)
}

// stops is the pullback of stopping.
type stops struct {
	offsets []int64
	p, last *grad.Var
	q       []tensor.Float // of each edge the probability of coming there
}

func (k *stops) forward(y, p, last []tensor.Float) {
	for v := range len(k.offsets) - 1 {
		q, stay := 0.0, 0.0
		for e := k.offsets[v]; e < k.offsets[v+1]; e++ {
			q = (1-stay)*q + float64(last[e])
			stay = float64(p[e])
			k.q[e], y[e] = tensor.Float(q), tensor.Float(stay*q)
		}
	}
}

// Pull adds to the gradients of p and last.
func (k *stops) Pull(dy *tensor.Dense) {
	p, dp, dl := k.p.Value().Data, k.p.Grad(), k.last.Grad()
	for v := range len(k.offsets) - 1 {
		next := 0.0 // the gradient of the next edge's q
		for e := k.offsets[v+1] - 1; e >= k.offsets[v]; e-- {
			d, stay := float64(dy.Data[e]), float64(p[e])
			if dp != nil {
				dp.Data[e] += tensor.Float((d - next) * float64(k.q[e]))
			}
			next = d*stay + next*(1-stay)
			if dl != nil {
				dl.Data[e] += tensor.Float(next)
			}
		}
	}
}

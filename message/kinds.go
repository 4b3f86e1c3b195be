package message

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// UpdateKinds returns, for every destination of g, what it hears from the edges of each
// kind, of which each has a matrix w_r of its own:
//
//	y_v = Σ_r by_{u ∈ N_r(v)} x_u·w_r
//
// x is NumSrc×In, w is K×In×Out and by is Sum or Mean. That by Sum is what
// U(x·W).Pick(g.Kinds()) sums to, with the matrices side by side in W; here the rows of a
// kind are reduced before they are multiplied, in Backward those of a source, and neither
// the products nor these sums are stored.
func UpdateKinds(g *graph.Graph, x, w *grad.Var, by Reducer) *grad.Var {
	const op = "message.UpdateKinds"
	given(op, g)
	if by != Sum && by != Mean {
		panic(&grad.TapeError{Op: op, Why: "a kind is not reduced by " + by.String()})
	}
	o := grad.Begin(op, x, w)
	if w.Value().Axes() != 3 || x.Value().Axes() != 2 || x.Dim(0) != g.NumSrc() || x.Dim(1) != w.Dim(1) {
		panic(tensor.Mismatch(op, x, w))
	}
	y := o.Fresh(g.NumDst(), w.Dim(2))
	n := tape.Note(o, kindsNotes{x, w, kindsOf(op, g, w.Dim(0), by == Mean)})
	if !tape.Dry(o, 0) {
		n.kinds.Into(y.Value(), x.Value(), w.Value())
	}
	return tape.RecordBy(o, y, n)
}

// kindsNotes is the pullback of UpdateKinds.
type kindsNotes struct {
	x, w  *grad.Var
	kinds *sparse.Kinds
}

// Pull adds to the gradients of x and w.
func (n *kindsNotes) Pull(dy *tensor.Dense) {
	n.kinds.Grad(n.x.Grad(), n.w.Grad(), dy, n.x.Value(), n.w.Value())
}

// kindsKey names what kindsOf derives from a graph: graphs that differ in their kinds
// alone share it.
type kindsKey struct {
	kinds *int32
	n     int
	mean  bool
}

// kindsOf returns g's edges, of n kinds, arranged by these. They are arranged once a graph.
func kindsOf(op string, g *graph.Graph, n int, mean bool) *sparse.Kinds {
	kinds, key := g.Kinds(), kindsKey{n: n, mean: mean}
	if len(kinds) > 0 {
		key.kinds = &kinds[0]
	} else if g.NumEdges() > 0 {
		panic(&grad.TapeError{Op: op, Why: "the graph's edges have no kinds; see graph.WithKinds"})
	}
	return graph.Derive(g, key, func() *sparse.Kinds {
		for e, k := range kinds {
			if int(k) >= n || k < 0 {
				panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("edge %d has kind %d, and there are %d matrices", e, k, n)})
			}
		}
		return sparse.NewKinds(g.In(), kinds, n, mean)
	})
}

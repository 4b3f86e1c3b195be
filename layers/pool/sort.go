package pool

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Sort lays the K nodes of each graph side by side whose last feature is the greatest, the
// greatest first. It is SortPooling of Zhang, Cui, Neumann and Chen, "An End-to-End Deep
// Learning Architecture for Graph Classification", AAAI 2018, where a convolution over the K
// follows. x is N×F; the result has a row of K·F for each graph, with zeros where it has
// fewer nodes. What runs is a sort of each graph's last column, and a gather of rows.
type Sort struct{ K int }

// Init does nothing: there are no Params. All layers have it.
func (l *Sort) Init(*rand.Rand) { compose.WantOptions(l) }

// Forward returns a row for each member of g.
func (l *Sort) Forward(_ *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	compose.WantOptions(l)
	compose.WantNodes("pool.Sort", g, x)
	compose.WantDense("pool.Sort", "x", x, "rows are taken, and a pool stands behind a layer")
	at, width := g.NodeOffsets(), x.Dim(1)
	last := make([]tensor.Float, g.NumNodes())
	for v := range last {
		last[v] = x.Value().Row(v)[width-1]
	}
	var rows, places []int32
	for m := range len(at) - 1 {
		for i, v := range best(last, at[m], at[m+1], l.K) {
			rows, places = append(rows, v), append(places, int32(m*l.K+i))
		}
	}
	return x.Rows(rows).ScatterAdd(places, (len(at)-1)*l.K).Reshape(len(at)-1, l.K*width)
}

// best returns the nodes from lo to hi of the k greatest scores, the greatest first. A NaN is
// less than any number.
func best(score []tensor.Float, lo, hi, k int) []int32 {
	nodes := make([]int32, hi-lo)
	for i := range nodes {
		nodes[i] = int32(lo + i)
	}
	slices.SortStableFunc(nodes, func(u, v int32) int { return cmp.Compare(score[v], score[u]) })
	return nodes[:min(k, len(nodes))]
}

// zeros returns rows that nothing was learnt of.
func zeros(rows, width int) *grad.Var { return grad.Const(tensor.New(rows, width)) }

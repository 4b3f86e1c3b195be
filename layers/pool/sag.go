package pool

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// SAG is TopK whose scores see the neighbours, too: they are a graph convolution's.
//
//	s = tanh(GCN(x))      y_v = s_v·x_v of the ⌈Ratio·n⌉ best of n
//
// of Lee, Lee and Kang, "Self-Attention Graph Pooling", ICML 2019. x is N×In. The paper's
// graph has a loop at each node, which is up to the data: without one an isolated node's score
// is that of the bias. Of a graph without nodes nothing is kept. What runs is [layers.GCNConv],
// and then what [TopK] runs.
type SAG struct {
	In    int
	Ratio float64 `json:",omitempty"` // of a graph's nodes that are kept; 0: 0.5

	GCN *layers.GCNConv `json:"-"`
}

// Init makes the convolution and its Params.
func (l *SAG) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.GCN = &layers.GCNConv{In: l.In, Out: 1}
	l.GCN.Init(rng)
}

// Forward returns what is kept of the nodes x of g.
func (l *SAG) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) Kept {
	const op = "pool.SAG"
	compose.WantNodes(op, g, x)
	compose.WantDense(op, "x", x, "rows are taken, and a pool stands behind a layer")
	compose.WantRows(op, x, l.In, "In")
	compose.WantMade(op, "Params", l.GCN != nil)
	return keep(op, g, x, l.GCN.Forward(t, g, x).Tanh(), l.Ratio)
}

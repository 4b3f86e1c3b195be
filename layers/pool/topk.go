package pool

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// Kept is what a pooling layer leaves of a batch.
type Kept struct {
	Graph *graph.Graph // of the nodes that were kept, with the edges between them; members as before
	Y     *grad.Var    // a row for each of them
	Nodes []int32      // which they are; they ascend
	Score *grad.Var    // of all nodes of before, N×1
}

// TopK keeps the nodes of each graph that score best, and multiplies them by their scores,
// through which it learns which to keep:
//
//	s_v = tanh(x_v·p/‖p‖)      y_v = s_v·x_v of the ⌈Ratio·n⌉ best of n
//
// of Gao and Ji, "Graph U-Nets", ICML 2019, with the tanh of Cangea and others, 2018, as PyG
// has it. x is N×In; what is kept is of that width. A node without edges is scored as any
// other; of a graph without nodes nothing is kept. What runs is a product, a sort of each
// graph's scores and a gather of rows.
type TopK struct {
	In    int
	Ratio float64 `json:",omitempty"` // of a graph's nodes that are kept; 0: 0.5

	P *grad.Param `json:"-"` // In×1
}

// Init makes p, uniform up to 1/√In.
func (l *TopK) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.P = compose.Uniform(rng, l.In, 1, l.In)
}

// Forward returns what is kept of the nodes x of g.
func (l *TopK) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) Kept {
	const op = "pool.TopK"
	compose.WantNodes(op, g, x)
	compose.WantDense(op, "x", x, "rows are taken, and a pool stands behind a layer")
	compose.WantRows(op, x, l.In, "In")
	compose.WantInit(op, l.P, 1)
	p := t.Use(l.P).Reshape(1, l.In).L2Normalise().Reshape(l.In, 1)
	return keep(op, g, x, x.MatMul(p).Tanh(), l.Ratio)
}

// keep keeps the nodes of the best scores.
func keep(op string, g *graph.Graph, x, score *grad.Var, ratio float64) Kept {
	if ratio = grad.Preset(ratio, 0.5); !(ratio > 0 && ratio <= 1) {
		panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("its Ratio is %v; it must be above 0 and at most 1", ratio)})
	}
	at := g.NodeOffsets()
	var nodes []int32
	offsets := []int{0}
	for m := range len(at) - 1 {
		n := at[m+1] - at[m]
		nodes = append(nodes, best(score.Value().Data, at[m], at[m+1], int(math.Ceil(ratio*float64(n)-1e-9)))...)
		slices.Sort(nodes[offsets[m]:])
		offsets = append(offsets, len(nodes))
	}
	h := graph.Must(graph.WithMembers(graph.Must(graph.Subgraph(g, nodes)), offsets))
	return Kept{Graph: h, Y: x.Rows(nodes).Mul(score.Rows(nodes)), Nodes: nodes, Score: score}
}

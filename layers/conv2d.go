package layers

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// Conv2D is a convolution on pictures, whose cells are the nodes of a graph.
//
//	y_v = act( Σ_{u ∈ N(v)} x_u·W_k + b )      k the kind of the edge u → v
//
// of LeCun and others, "Backpropagation Applied to Handwritten Zip Code Recognition", 1989;
// PyTorch's Conv2d. [graph.Windows] makes the graph of a picture, and says the size, the stride and the padding; a
// kind is a place in the window. Pictures of any shapes stand in one graph.Batch. Pooling is no layer: it is
// message.UpdateAll(g, message.U(x), message.Max) on a Window of Size 2 and Stride 2.
//
// x is NumSrc×In, a row for each cell, and the result NumDst×Out. What a window covers beyond the picture adds nothing, as
// zeros would; a node without in-edges gets act(b). As a message it is U(x·W).Pick(g.Kinds()), a row of products with
// every matrix for each cell. Here each row goes to a slot of its kind at the node that hears it, so that they stand
// side by side and are multiplied once. So it wants one edge of a kind into a node, at most; [RGCNConv] takes several.
//
// W is PyTorch's weight (out×in×K×K) with the axes turned: W[i·K+j] is the matrix of the window's row i and column j.
type Conv2D struct {
	In, Out    int
	Kernel     int             `json:",omitempty"` // K, cells on a side of the window; 0: 3
	NoBias     bool            `json:",omitempty"`
	Activation grad.Activation `json:",omitempty"`

	W *grad.Param `json:"-"` // K²×In×Out
	B *grad.Param `json:"-"` // Out
}

// kinds is how many kinds of edges there are.
func (l *Conv2D) kinds() int {
	if l.Kernel > 0 {
		return l.Kernel * l.Kernel
	}
	return 9
}

// Init makes the Params: the weights uniform up to √(6/(K²·In)), with which a ReLU behind the layer keeps the size of
// what it hears (He and others, 2015), the bias zero.
func (l *Conv2D) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	k := l.kinds()
	l.W, l.B = grad.NewParam(k, l.In, l.Out), compose.Bias(!l.NoBias, l.Out)
	b := math.Sqrt(6 / float64(max(1, k*l.In)))
	l.W.Value.Uniform(rng, -b, b)
}

// Forward returns the result at every place of g.
func (l *Conv2D) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	const op = "layers.Conv2D"
	k := l.kinds()
	compose.WantInit(op, l.W, l.Out)
	if l.W.Value.Dim(0) != k {
		compose.SetBefore(op, "Kernel")
	}
	In{Src: x}.check(g, wants{op: op, width: &l.In})
	compose.WantDense(op, "x", x, "a picture has numbers in all its cells")
	wantKinds(op, g, k, "Kernel²")
	heard := message.UpdateAll(slotsOf(op, g, k), message.CopyU(x), message.Sum).Reshape(g.NumDst(), k*l.In)
	return heard.Linear(t.Use(l.W).Reshape(k*l.In, l.Out), compose.Use(t, l.B), l.Activation)
}

type slotsKey struct {
	kinds *int32
	n     int
}

// slotsOf returns the graph from the sources of g, whose edges have n kinds, to a slot of each kind for each of its
// destinations, v·n + kind: an edge leads to a slot of its own, and a slot without one gets zero. It is worked
// out once a graph.
func slotsOf(op string, g *graph.Graph, n int) *graph.Graph {
	return graph.Derive(g, slotsKey{kindsOf(g), n}, func() *graph.Graph {
		kinds, slots := g.Kinds(), make([]int32, g.NumEdges())
		taken := make([]bool, n*g.NumDst())
		for e, v := range g.Destinations() {
			at := int(v)*n + int(kinds[e])
			if taken[at] {
				panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("node %d has two in-edges of kind %d; RGCNConv with AggregateSum adds up several", v, kinds[e])})
			}
			slots[e], taken[at] = int32(at), true
		}
		return graph.Must(graph.NewBipartite(g.NumSrc(), n*g.NumDst(), g.In().Cols, slots))
	})
}

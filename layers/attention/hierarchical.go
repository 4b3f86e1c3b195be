package attention

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Hierarchical reads words into sentences, these into paragraphs, those into documents, to
// any depth: at each tier what stands side by side is read along its chain, and then pooled.
//
//	h = Body(g_k, x)      x' = Pool(h) over the members of g_k      and so on, with g_k+1 over x'
//
// of Yang and others, "Hierarchical Attention Networks for Document Classification", 2016,
// which has a GRU in both directions for a Body and a [Saliency] in its Pool. The graph of
// the first tier has a node for each word and a member for each sentence; that of the next
// a node for each of these sentences, in their order, and a member for each document:
//
//	words, sentences := graph.Chains(4, 7, 5), graph.Chains(2, 1)   // three sentences, two documents
//	y, weights := han.Forward(t, []*graph.Graph{words, sentences}, x)
type Hierarchical struct {
	Tiers []Tier
}

// Tier is a step of [Hierarchical]: how rows are read beside their neighbours, and how they
// become one.
type Tier struct {
	Body Body // nil: rows are not read beside each other
	Pool *AttentionPool
}

// Body reads the rows of a graph's nodes beside each other: a [sequence.Stack], a
// [sequence.LSTM], or anything else with these methods.
type Body interface {
	Init(rng *rand.Rand)
	Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
}

// Init makes the Params of every tier.
func (l *Hierarchical) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	for i, tier := range l.Tiers {
		if tier.Body != nil {
			tier.Body.Init(rng)
		}
		if tier.Pool == nil {
			panic(&grad.TapeError{Op: "attention.Hierarchical", Why: fmt.Sprintf("tier %d has no Pool", i)})
		}
		tier.Pool.Init(rng)
	}
}

// Forward returns a row for each member of the last graph. The weights of a tier are those
// of the edges of its graph's [graph.Membership]: a number for each node, in order. It
// panics with a [*tensor.ShapeError] unless there is a graph for each tier, with a node for
// each member of the one before.
func (l *Hierarchical) Forward(t *grad.Tape, gs []*graph.Graph, x *grad.Var) (y *grad.Var, weights []message.Msg) {
	const op = "attention.Hierarchical"
	if len(gs) != len(l.Tiers) {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{len(gs)}}, Why: fmt.Sprintf("there are %d graphs, want one for each of %d Tiers", len(gs), len(l.Tiers))})
	}
	for i, tier := range l.Tiers {
		g := gs[i]
		if g == nil || tier.Pool == nil {
			panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("tier %d has no graph or no Pool", i)})
		}
		if g.Bipartite() {
			compose.BadGraph(op, g, fmt.Sprintf("the graph is bipartite, that of tier %d", i))
		}
		if x == nil || x.Dim(0) != g.NumNodes() {
			l.bad(i, g, x)
		}
		if tier.Body != nil {
			x = tier.Body.Forward(t, g, x)
		}
		out := tier.Pool.Apply(t, graph.Membership(g), layers.In{Src: x})
		x, weights = out.Y, append(weights, out.Attention)
	}
	return x, weights
}

// bad panics about rows that are not one for each node of tier i.
func (l *Hierarchical) bad(i int, g *graph.Graph, x *grad.Var) {
	const op = "attention.Hierarchical"
	compose.WantVar(op, "x", x)
	what := "rows of x"
	if i > 0 {
		what = "members of the graph before it"
	}
	panic(&tensor.ShapeError{Op: op, Shapes: [][]int{append([]int(nil), x.Shape()...)},
		Why: fmt.Sprintf("the graph of tier %d has %d nodes, and there are %d %s: want a node for each", i, g.NumNodes(), x.Dim(0), what)})
}

package knowledge

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Scorer says how true facts are: [TransE], [DistMult], [ComplEx], [RotatE].
type Scorer interface {
	// Init makes the Params.
	Init(rng *rand.Rand)
	// Forward returns the score of each edge of facts, E×1, for the entities' rows x.
	Forward(t *grad.Tape, facts *graph.Graph, x *grad.Var) *grad.Var
}

// check panics unless facts has relations that the scorer has Params of, and x a row of
// the right width for each entity.
func check(op string, facts *graph.Graph, x *grad.Var, width int, relations *grad.Param) {
	compose.WantParam(op, relations, true)
	compose.WantNodes(op, facts, x)
	compose.WantWidth(op, "x", x, width, "Width")
	compose.WantDense(op, "x", x, "an entity's row is its own, and is learnt")
	wantKinds(op, facts)
	n := relations.Value.Dim(0)
	for e, k := range facts.Kinds() {
		if k < 0 || int(k) >= n {
			panic(&tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(relations.Value.Shape())},
				Why: fmt.Sprintf("fact %d is of relation %d, and Relations is %d", e, k, n)})
		}
	}
}

// wantGraph panics unless the edges of a graph can be facts about its nodes.
func wantGraph(op string, facts *graph.Graph) {
	compose.WantGraph(op, facts)
	if facts.Bipartite() {
		panic(&grad.TapeError{Op: op, Why: "heads and tails are the nodes of one graph, and this one is bipartite"})
	}
}

// wantKinds panics where edges do not say what relation they are of.
func wantKinds(op string, facts *graph.Graph) {
	if facts.Kinds() == nil && facts.NumEdges() > 0 {
		panic(&grad.TapeError{Op: op, Why: "the edges have no kinds, which say what relation each is of: graph.WithKinds gives them"})
	}
}

// even panics unless a row can be cut into real and imaginary parts.
func even(op string, width int) {
	if width%2 != 0 {
		panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("Width %d cannot be cut into real and imaginary parts", width)})
	}
}

// scores evaluates a message, one number an edge.
func scores(facts *graph.Graph, m message.Msg) *grad.Var {
	return message.ApplyEdges(facts, m).Reshape(facts.NumEdges(), 1)
}

// halves returns the real and the imaginary parts of rows.
func halves(x *grad.Var) (re, im *grad.Var) {
	half := x.Dim(-1) / 2
	return x.Columns(0, half), x.Columns(half, 2*half)
}

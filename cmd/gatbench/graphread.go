package main

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/message"
)

// graphReader reads graphs out, each into one row.
type graphReader interface {
	Init(rng *rand.Rand)
	Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
}

// graphPool makes graphs smaller.
type graphPool interface {
	Init(rng *rand.Rand)
	Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) pool.Kept
}

// readout is a row of the table of readouts.
type readout struct {
	name, title string
	wider       int                     // how much wider its rows are than those of nodes
	weights     func(width int64) int64 // how many numbers it learns, at least
	make        func(width int) graphReader
}

// The readouts and poolings that others name.
const (
	readSum   = "sum"
	poolTopK  = "topk"
	poolSAG   = "sag"
	sortedTop = 16  // nodes that the readout sort lays side by side
	poolRatio = 0.8 // of the nodes that a pooling keeps
)

var graphPools = []string{poolTopK, poolSAG}

// readouts returns the table. A new row is all that a new readout needs.
func readouts() []readout {
	none := func(int64) int64 { return 0 }
	reduced := func(by message.Reducer) func(int) graphReader {
		return func(int) graphReader { return &reducedNodes{by} }
	}
	return []readout{
		{readSum, "sum", 1, none, reduced(message.Sum)},
		{"mean", "mean", 1, none, reduced(message.Mean)},
		{"max", "greatest", 1, none, reduced(message.Max)},
		{"attention", "attention", 1, func(w int64) int64 { return w }, func(width int) graphReader {
			return &pool.Attention{Gate: layers.MLP{Widths: []int{width, 1}}}
		}},
		{"set2set", "Set2Set", 2, func(w int64) int64 { return 12 * w * w }, func(width int) graphReader {
			return &pool.Set2Set{In: width}
		}},
		{"sort", "the first nodes by their last feature", sortedTop, none, func(int) graphReader { return &pool.Sort{K: sortedTop} }},
	}
}

// reducedNodes is the sum, the mean or the greatest of the nodes of a graph.
type reducedNodes struct{ By message.Reducer }

// Init does nothing: there are no Params.
func (l *reducedNodes) Init(*rand.Rand) {}

// Forward returns a row for each member of g.
func (l *reducedNodes) Forward(_ *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return message.UpdateAll(g.Membership(), message.U(x), l.By)
}

// readout returns the row of the recipe's readout.
func (r *graphRecipe) readout() readout {
	all := readouts()
	for _, o := range all {
		if o.name == r.Readout {
			return o
		}
	}
	return all[0]
}

// pooling returns the recipe's pooling for rows of a width; nil: there is none.
func (r *graphRecipe) pooling(width int) graphPool {
	switch r.Pool {
	case poolTopK:
		return &pool.TopK{In: width, Ratio: poolRatio}
	case poolSAG:
		return &pool.SAG{In: width, Ratio: poolRatio}
	}
	return nil
}

// checkReadout returns an error for a readout or a pooling that there is not.
func (r *graphRecipe) checkReadout() error {
	if r.Readout != "" {
		var names []string
		for _, o := range readouts() {
			names = append(names, o.name)
		}
		if err := oneOf("--readout", r.Readout, names); err != nil {
			return err
		}
	}
	if r.Pool != "" {
		return oneOf("--pool", r.Pool, graphPools)
	}
	return nil
}

// ofReadout is how many numbers, at least, the readouts have for in features of nodes.
func (r *graphRecipe) ofReadout(in, out int64) int64 {
	o := r.readout()
	total := int64(0)
	for _, w := range []int64{in, int64(r.Hidden)} {
		total += o.weights(w) + int64(o.wider-1)*w*out
	}
	return total
}

// reading says how nodes become a row of their graph, where it is not as GIN's authors have it.
func (r *graphRecipe) reading() string {
	var says []string
	if r.Readout != "" {
		says = append(says, "readout: "+r.readout().title)
	}
	switch r.Pool {
	case poolTopK:
		says = append(says, "top-k pooling")
	case poolSAG:
		says = append(says, "SAG pooling")
	}
	return strings.Join(says, "; ")
}

// keptEdges returns the rows of the edges that a pooling left.
func keptEdges(edge *grad.Var, kept *graph.Graph) *grad.Var {
	if edge == nil {
		return nil
	}
	return edge.Rows(slices.Clone(kept.From().Edges))
}

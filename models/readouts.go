package models

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

// reader reads graphs out, each into one row.
type reader interface {
	Init(rng *rand.Rand)
	Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
}

// pooling makes graphs smaller.
type pooling interface {
	Init(rng *rand.Rand)
	Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) pool.Kept
}

// readout is a row of the table of readouts.
type readout struct {
	name, title string
	wider       int                     // how much wider its rows are than those of nodes
	weights     func(width int64) int64 // how many numbers it learns, at least
	make        func(width int) reader
}

// The readouts and poolings that others name.
const (
	readSum   = "sum"
	poolTopK  = "topk"
	poolSAG   = "sag"
	sortedTop = 16  // nodes that the readout sort lays side by side
	poolRatio = 0.8 // of the nodes that a pooling keeps
)

var poolings = []string{poolTopK, poolSAG}

// readouts returns the table. A new row is all that a new readout needs.
func readouts() []readout {
	none := func(int64) int64 { return 0 }
	reduced := func(by message.Reducer) func(int) reader {
		return func(int) reader { return &reducedNodes{by} }
	}
	return []readout{
		{readSum, "sum", 1, none, reduced(message.Sum)},
		{"mean", "mean", 1, none, reduced(message.Mean)},
		{"max", "greatest", 1, none, reduced(message.Max)},
		{"attention", "attention", 1, func(w int64) int64 { return w }, func(width int) reader {
			return &pool.Attention{Gate: layers.MLP{Widths: []int{width, 1}}}
		}},
		{"set2set", "Set2Set", 2, func(w int64) int64 { return 12 * w * w }, func(width int) reader {
			return &pool.Set2Set{In: width}
		}},
		{"sort", "the first nodes by their last feature", sortedTop, none, func(int) reader { return &pool.Sort{K: sortedTop} }},
	}
}

// reducedNodes is the sum, the mean or the greatest of the nodes of a graph.
type reducedNodes struct{ By message.Reducer }

// Init does nothing: there are no Params.
func (l *reducedNodes) Init(*rand.Rand) {}

// Forward returns a row for each member of g.
func (l *reducedNodes) Forward(_ *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return message.UpdateAll(graph.Membership(g), message.U(x), l.By)
}

// readout returns the row of the network's readout.
func (n *GraphNetwork) readout() readout {
	all := readouts()
	for _, o := range all {
		if o.name == n.Readout {
			return o
		}
	}
	return all[0]
}

// pooling returns the network's pooling for rows of a width; nil: there is none.
func (n *GraphNetwork) pooling(width int) pooling {
	switch n.Pool {
	case poolTopK:
		return &pool.TopK{In: width, Ratio: poolRatio}
	case poolSAG:
		return &pool.SAG{In: width, Ratio: poolRatio}
	}
	return nil
}

// Readouts returns the names of the readouts of a [GraphNetwork].
func Readouts() []string {
	var names []string
	for _, o := range readouts() {
		names = append(names, o.name)
	}
	return names
}

// Pools returns the names of the poolings of a [GraphNetwork].
func Pools() []string { return slices.Clone(poolings) }

// checkReadout returns an error for a readout or a pooling that there is not.
func (n *GraphNetwork) checkReadout() error {
	if n.Readout != "" && !slices.Contains(Readouts(), n.Readout) {
		return unnamed("readout", n.Readout, Readouts())
	}
	if n.Pool != "" && !slices.Contains(poolings, n.Pool) {
		return unnamed("pooling", n.Pool, poolings)
	}
	return nil
}

// ofReadout is how many numbers, at least, the readouts have, if the layers see such a shape.
func (n *GraphNetwork) ofReadout(s Shape) int64 {
	o, total := n.readout(), int64(0)
	for _, w := range []int64{int64(s.In), int64(n.Settings.Hidden)} {
		total += o.weights(w) + int64(o.wider-1)*w*int64(s.Out)
	}
	return total
}

// Reading says how nodes become a row of their graph, where it is not as GIN's authors have it; else "".
func (n *GraphNetwork) Reading() string {
	var says []string
	if n.Readout != "" {
		says = append(says, "readout: "+n.readout().title)
	}
	switch n.Pool {
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

package attention

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Encoded is sequences that were read, one or many: what a decoder attends to.
type Encoded struct {
	Source *graph.Graph  // a chain each
	H      *grad.Var     // annotations, a row for each token
	Keys   *grad.Var     // what the Aligner made of them
	State  message.State // what the decoder begins with, a row for each sequence

	places *grad.Var // of each token in its sequence
}

// encoded returns what was read of source.
func encoded(t *grad.Tape, source *graph.Graph, a Aligner, h *grad.Var, state message.State) *Encoded {
	places := graph.Derive(source, placesKey{}, func() *grad.Var {
		x := tensor.New(source.NumNodes(), 1)
		for v, p := range source.Positions() {
			x.Data[v] = tensor.Float(p)
		}
		return grad.Const(x)
	})
	return &Encoded{Source: source, H: h, Keys: a.Keys(t, source, h), State: state, places: places}
}

type placesKey struct{}

// Keep returns a copy that is of no tape, for a search of several.
func (e *Encoded) Keep() *Encoded {
	out := *e
	out.H, out.Keys, out.State = e.H.Keep(), e.Keys.Keep(), e.State.Keep()
	return &out
}

// Len returns the number of sequences.
func (e *Encoded) Len() int { return len(e.Source.NodeOffsets()) - 1 }

// lengths is how many tokens each sequence has.
func (e *Encoded) lengths() []int {
	ends := e.Source.NodeOffsets()
	out := make([]int, len(ends)-1)
	for i := range out {
		out[i] = ends[i+1] - ends[i]
	}
	return out
}

// look is what the queries of g see.
func (e *Encoded) look(g *graph.Graph) Look { return Look{Graph: g, Keys: e.Keys, Places: e.places} }

// targetKey is that of the graph from a source to a target.
type targetKey struct {
	source *graph.Graph
	window int
}

// toTarget returns the graph from the tokens of each source to the nodes of its target, a
// chain as well. With a window a node hears the tokens at most that many places off its
// own. It is kept with target.
func (e *Encoded) toTarget(op string, target *graph.Graph, window int) *graph.Graph {
	ends := target.NodeOffsets()
	if n := len(ends) - 1; n != e.Len() {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{n}, {e.Len()}}, Why: fmt.Sprintf("there are %d targets for %d sources", n, e.Len())})
	}
	return graph.Derive(target, targetKey{e.Source, window}, func() *graph.Graph {
		var parts []*graph.Graph
		for i, n := range e.lengths() {
			steps := make([]int, ends[i+1]-ends[i])
			for k := range steps {
				steps[k] = k
			}
			parts = append(parts, seen(n, steps, window))
		}
		return join(parts)
	})
}

// toLive returns the graph from the tokens of each source to the rows that go on with it.
func (e *Encoded) toLive(op string, live Live, window int) *graph.Graph {
	steps := make([][]int, e.Len())
	for i, s := range live.Sentence {
		if s < 0 || int(s) >= len(steps) || i > 0 && s < live.Sentence[i-1] {
			panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{len(steps)}}, Why: fmt.Sprintf("row %d is of sentence %d; they ascend, and there are %d", i, s, len(steps))})
		}
		steps[s] = append(steps[s], live.Step)
	}
	var parts []*graph.Graph
	for i, n := range e.lengths() {
		parts = append(parts, seen(n, steps[i], window))
	}
	return join(parts)
}

// join is graph.Batch, also of none.
func join(parts []*graph.Graph) *graph.Graph {
	if len(parts) == 0 {
		return graph.CompleteBipartite(0, 0)
	}
	return graph.Batch(parts...)
}

// seen returns the graph from n tokens to steps of a decoder, at the places given: from
// all tokens, or from those in the window around its place.
func seen(n int, steps []int, window int) *graph.Graph {
	if window <= 0 {
		return graph.CompleteBipartite(n, len(steps))
	}
	var src, dst []int32
	for i, at := range steps {
		for u := max(0, at-window); u <= min(n-1, at+window); u++ {
			src, dst = append(src, int32(u)), append(dst, int32(i))
		}
	}
	return graph.Must(graph.NewBipartite(n, len(steps), src, dst))
}

// slots are where what is carried on the edges of g stands in rows that have room for the
// longest sequence.
func (e *Encoded) slots(g *graph.Graph) (at []int32, room int) {
	room = max(1, slices.Max(append(e.lengths(), 0)))
	cols := g.In().Cols
	at = make([]int32, len(cols))
	for k, v := range g.Destinations() {
		at[k] = v*int32(room) + int32(e.places.Value().Data[cols[k]])
	}
	return at, room
}

// Live says which sequences a step of a search goes on with, a row each; see package
// decode, whose Live has the same.
type Live struct {
	Step     int     // how many tokens each has
	Last     []int32 // the last of each
	Sentence []int32 // whose it is; ascending
}

// Alignment is how the steps of a decoder looked at their sources.
type Alignment struct {
	Graph   *graph.Graph // from source tokens to steps
	Weights message.Msg  // of each edge; costs nothing until it is used
	Carried *grad.Var    // what the Aligner carried after each step; nil if nothing
}

// Matrices returns the weights of each pair: a row for each step, a column for each source
// token.
func (a Alignment) Matrices() []*tensor.Dense {
	w := message.ApplyEdges(a.Graph, a.Weights).Value().Data
	src, dst, in := a.Graph.SrcOffsets(), a.Graph.DstOffsets(), a.Graph.In()
	out := make([]*tensor.Dense, len(dst)-1)
	for i := range out {
		out[i] = tensor.New(dst[i+1]-dst[i], src[i+1]-src[i])
		for v := dst[i]; v < dst[i+1]; v++ {
			for e := in.Offsets[v]; e < in.Offsets[v+1]; e++ {
				out[i].Row(v - dst[i])[int(in.Cols[e])-src[i]] = w[e]
			}
		}
	}
	return out
}

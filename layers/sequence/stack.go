package sequence

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// Cell is a recurrent layer: an [RNN], a [GRU], an [LSTM], a [TreeLSTM], or another that
// carries a state along chains. The first Var of its state is its result.
type Cell interface {
	Init(rng *rand.Rand)
	ForwardFrom(t *grad.Tape, g *graph.Graph, x *grad.Var, init message.State) message.State

	// Step is ForwardFrom of chains of one node, a row of x and of prev each, without a
	// graph; a nil prev is zeros.
	Step(t *grad.Tape, x *grad.Var, prev message.State) message.State
}

// Stack is recurrent layers one on the other, each in one direction or in both.
//
//	y_0 = x      y_k = [Layers_k(g, y_{k−1}) ‖ Back_k(reverse of g, y_{k−1})]
//
// of Schuster and Paliwal, "Bidirectional Recurrent Neural Networks", 1997. Back
// is empty, or has a cell for each of Layers; so a bidirectional network is a
// Stack of one layer. With Back the next layer's In is the sum of both Hidden.
// x is N×In of the first layer, dense or sparse; the result is N rows of the
// last. Dropout is applied between the layers.
type Stack struct {
	Layers  []Cell
	Back    []Cell  `json:",omitempty"` // the same from the chains' ends
	Dropout float64 `json:",omitempty"`
}

// Init makes the Params of all cells.
func (s *Stack) Init(rng *rand.Rand) {
	compose.WantOptions(s)
	s.check()
	for k, c := range s.Layers {
		c.Init(rng)
		if len(s.Back) > 0 {
			s.Back[k].Init(rng)
		}
	}
}

// check panics unless s is a network: at least a layer, and of Back as many or none.
func (s *Stack) check() {
	switch {
	case len(s.Layers) == 0:
		panic(&grad.TapeError{Op: "sequence.Stack", Why: "it has no Layers"})
	case len(s.Back) > 0 && len(s.Back) != len(s.Layers):
		panic(&grad.TapeError{Op: "sequence.Stack", Why: "Back wants a cell for each of Layers, or none"})
	}
}

// Forward returns the last layer's result for every node of g, from states of
// zeros.
func (s *Stack) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	y, _ := s.ForwardFrom(t, g, x, nil)
	return y
}

// ForwardFrom returns the last layer's result and the states of all cells for
// every node of g: layer by layer, and of each the forward one first. init has
// the cells' initial states in that order; nil, or a nil state, is zeros. A
// backward cell begins at the sinks of g: its initial rows are in the order of
// graph.Reverse(g).Roots().
func (s *Stack) ForwardFrom(t *grad.Tape, g *graph.Graph, x *grad.Var, init []message.State) (y *grad.Var, states []message.State) {
	s.check()
	both := len(s.Back) > 0
	next := func() (st message.State) {
		if n := len(states); n < len(init) {
			st = init[n]
		}
		return st
	}
	for k, c := range s.Layers {
		if k > 0 {
			x = t.Dropout(x, s.Dropout)
		}
		in := x
		states = append(states, c.ForwardFrom(t, g, in, next()))
		x = states[len(states)-1][0]
		if both {
			states = append(states, s.Back[k].ForwardFrom(t, graph.Reverse(g), in, next()))
			x = grad.Concat(x, states[len(states)-1][0])
		}
	}
	return x, states
}

// Step returns the last layer's result and the states of all cells after one more row each
// of x, from the states before it in the order of ForwardFrom; nil, or a nil state, is
// zeros. A Stack with Back has no Step, for its backward cells begin at the end.
func (s *Stack) Step(t *grad.Tape, x *grad.Var, prev []message.State) (y *grad.Var, states []message.State) {
	s.check()
	if len(s.Back) > 0 {
		panic(&grad.TapeError{Op: "sequence.Stack", Why: "a Stack with Back has no Step: what its backward cells say of a node depends on all that follow"})
	}
	if prev != nil && len(prev) != len(s.Layers) {
		panic(&grad.TapeError{Op: "sequence.Stack", Why: fmt.Sprintf("there are %d states before the step, want one for each of %d Layers", len(prev), len(s.Layers))})
	}
	states = make([]message.State, len(s.Layers))
	for k, c := range s.Layers {
		if k > 0 {
			x = t.Dropout(x, s.Dropout)
		}
		var before message.State
		if prev != nil {
			before = prev[k]
		}
		states[k] = c.Step(t, x, before)
		x = states[k][0]
	}
	return x, states
}

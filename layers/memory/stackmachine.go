package memory

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// StackMachine is an LSTM that steers a [StackMemory]:
//
//	h_t, c_t = LSTM([x_t ‖ r_{t−1}], h_{t−1}, c_{t−1})
//	d = σ(h·W_d + b_d)   u = σ(h·W_u + b_u)   v = tanh(h·W_v + b_v)
//	r_t = the stack's read after popping u and pushing v with d
//	y_t = h_t·W + b
//
// of Grefenstette and others, 2015. What is read in a step is heard in the next, and b_u begins
// at −1, so that pops come after pushes. A batch is chains of any lengths, as of an [NTM]; Slots of
// the stack are the steps that it remembers. x is N×In, y is N×Out.
type StackMachine struct {
	In, Out, Hidden int
	Stack           StackMemory

	LSTM   *sequence.LSTM
	Say    *layers.Linear // from h to v, d and u
	Answer *layers.Linear // from h to y
}

// Init makes the Params.
func (n *StackMachine) Init(rng *rand.Rand) {
	compose.WantOptions(n, "Out", "Hidden")
	n.Stack.check()
	n.LSTM = &sequence.LSTM{In: n.In + n.Stack.Width, Hidden: n.Hidden}
	n.LSTM.Init(rng)
	n.Say = &layers.Linear{In: n.Hidden, Out: n.Stack.Width + 2}
	n.Say.Init(rng)
	n.Say.B.Value.Data[n.Stack.Width+1] = -1
	n.Answer = &layers.Linear{In: n.Hidden, Out: n.Out}
	n.Answer.Init(rng)
}

// Start returns the state before the first step, a row for all sentences: values, strengths,
// what was read last, h and c.
func (n *StackMachine) Start(t *grad.Tape) message.State {
	zeros := func(width int) *grad.Var { return t.Input(tensor.New(1, width)) }
	return append(n.Stack.Start(t), zeros(n.Stack.Width), zeros(n.Hidden), zeros(n.Hidden))
}

// Forward returns y of every node of g, from Start.
func (n *StackMachine) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	y, _ := n.ForwardFrom(t, g, x, nil)
	return y
}

// ForwardFrom returns y and the states of every node of g, from a state that has a row for each
// of g.Roots(), or one for all; nil is Start.
func (n *StackMachine) ForwardFrom(t *grad.Tape, g *graph.Graph, x *grad.Var, init message.State) (y *grad.Var, s message.State) {
	if init == nil {
		init = n.Start(t)
	}
	n.check(x, init)
	compose.WantNodes("memory.StackMachine", g, x)
	compose.WantDense("memory.StackMachine", "x", x, "multiply it by a matrix first")
	s = message.Sweep(g, init, func(lv *message.Level, prev message.State) message.State {
		for i, v := range prev {
			prev[i] = message.UpdateAll(lv.In, message.U(v), message.Sum)
		}
		return n.turn(t, lv.Rows(x), prev)
	})
	return n.Answer.Forward(t, s[3]), s
}

// Step returns y and the state after one more row each of x, from the state before it, which
// has a row for each of x or one for all. It is one step of ForwardFrom on chains, to the bit.
func (n *StackMachine) Step(t *grad.Tape, x *grad.Var, s message.State) (y *grad.Var, next message.State) {
	n.check(x, s)
	next = n.turn(t, x, broadcast(s, x.Dim(0)))
	return n.Answer.Forward(t, next[3]), next
}

// turn is a step but for y.
func (n *StackMachine) turn(t *grad.Tape, x *grad.Var, s message.State) message.State {
	hc := n.LSTM.Step(t, grad.Concat(x, s[2]), s[3:])
	said := n.Say.Forward(t, hc[0]).Split(n.Stack.Width, 1, 1)
	r, stack := n.Stack.Step(t, s[:2], said[0].Tanh(), said[1].Sigmoid(), said[2].Sigmoid())
	return message.State{stack[0], stack[1], r, hc[0], hc[1]}
}

// check panics unless Init has been called, and x and s are an input and a state.
func (n *StackMachine) check(x *grad.Var, s message.State) {
	compose.WantMade("memory.StackMachine", "weights", n.LSTM != nil && n.Say != nil && n.Answer != nil)
	compose.WantInit("memory.StackMachine", n.Say.W, n.Stack.Width+2)
	compose.WantRows("memory.StackMachine", x, n.In, "In")
	if len(s) != 5 {
		panic(&grad.TapeError{Op: "memory.StackMachine", Why: fmt.Sprintf("the state has %d Vars, want 5; begin with Start", len(s))})
	}
}

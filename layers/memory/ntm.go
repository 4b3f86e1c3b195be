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

// Controller says what steers the heads of an [NTM]. Its text form is its name.
type Controller string

// The controllers. The zero value is an LSTM.
const (
	LSTMController        Controller = ""
	FeedForwardController Controller = "feedforward" // one layer of tanh, whose only memory is the tape
)

// NTM is the neural Turing machine: a controller that reads and writes the N slots of a memory
// M through heads, each a softmax over the slots.
//
//	h_t = Controller([x_t ‖ r_{t−1}], h_{t−1})
//	the writing heads address M_{t−1}:    w from h_t and their last w, below
//	M_t,i = M_{t−1,i}·Π (1 − w_i·e) + Σ w_i·a      all erase, then all add; e = σ, a = tanh of h_t
//	the reading heads address M_t         what was just written can be read
//	r_t = Σ_i w_i·M_t,i
//	y_t = [h_t ‖ r_t]·W + b
//
// A head addresses M by content and by location, in five steps:
//
//	u_i = softmax_i(β·cos(k, M_i))                 k = tanh, β = softplus of h_t
//	g_i = g·u_i + (1 − g)·w_{t−1,i}                g = σ
//	s_i = Σ_o s_o·g_{i−o}, around the end          s = softmax over −Shifts … Shifts; +1 moves on to i+1
//	w_i = s_i^γ / Σ_j s_j^γ                        γ = 1 + softplus
//
// of Graves, Wayne and Danihelka, "Neural Turing Machines", 2014. M begins as 10⁻⁶, since a slot
// of zeros has no direction; w_0 = softmax(StartAt) and r_0 = StartRead are learnt. A slot or
// key of zeros has a cosine of nought with all, and weights of nought are sharpened to equal
// ones. The erase, a σ, cannot be above 1.
//
// Every node of an acyclic graph is a step, and each root begins with a memory of its own: a
// batch is chains of any lengths ([graph.Chains]). x is N×In, y is N×Out.
type NTM struct {
	In, Out      int
	Controller   Controller `json:",omitempty"`
	Hidden       int        // of the controller
	Slots, Width int        // of the memory
	Reads        int        `json:",omitempty"` // heads; 0: 1
	Writes       int        `json:",omitempty"` // heads; 0: 1
	Shifts       int        `json:",omitempty"` // how far a head moves at most in a step; 0: 1

	LSTM      *sequence.LSTM // the controller, or
	Layer     *layers.Linear // that of a feed-forward one
	Say       *layers.Linear // from h to what the heads are told
	Answer    *layers.Linear // from [h ‖ r] to y
	StartAt   *grad.Param    `json:"-"` // heads×Slots, the writing heads first
	StartRead *grad.Param    `json:"-"` // 1×Reads·Width
}

// Init makes the Params: the matrices of the heads and StartAt as a Linear's, StartRead normal
// with a deviation of 0.1.
func (n *NTM) Init(rng *rand.Rand) {
	compose.WantOptions(n, "Out", "Hidden")
	l := n.layout()
	in := n.In + l.reads*l.width
	n.LSTM, n.Layer = nil, nil
	if n.Controller == FeedForwardController {
		n.Layer = &layers.Linear{In: in, Out: n.Hidden}
		n.Layer.Init(rng)
	} else {
		n.LSTM = &sequence.LSTM{In: in, Hidden: n.Hidden}
		n.LSTM.Init(rng)
	}
	n.Say = &layers.Linear{In: n.Hidden, Out: l.columns()}
	n.Say.Init(rng)
	n.Answer = &layers.Linear{In: n.Hidden + l.reads*l.width, Out: n.Out}
	n.Answer.Init(rng)
	n.StartAt = grad.NewParam(l.heads(), l.slots)
	n.StartAt.Value.Normal(rng, 0, 1)
	n.StartRead = grad.NewParam(1, l.reads*l.width)
	n.StartRead.Value.Normal(rng, 0, 0.1)
}

// layout is that of the memory and its heads.
func (n *NTM) layout() tapeLayout {
	if n.Slots <= 0 || n.Width <= 0 || n.Hidden <= 0 || n.Reads < 0 || n.Writes < 0 || n.Shifts < 0 {
		panic(&tensor.ShapeError{Op: "memory.NTM", Shapes: [][]int{{n.Slots, n.Width}}, Why: fmt.Sprintf(
			"want Slots, Width and Hidden of 1 or more, and no negative Reads, Writes or Shifts; Hidden is %d", n.Hidden)})
	}
	if n.Controller != LSTMController && n.Controller != FeedForwardController {
		panic(&grad.TapeError{Op: "memory.NTM", Why: "no controller is called " + string(n.Controller)})
	}
	return tapeLayout{n.Slots, n.Width, max(1, n.Reads), max(1, n.Writes), max(1, n.Shifts)}
}

// What the Vars of an NTM's state are; an LSTM has its cell behind them.
const (
	stateMemory = iota // width·slots: a number of all slots side by side
	stateAt            // heads·slots
	stateRead          // reads·width
	stateHidden
	stateCell
)

// Start returns the state before the first step, a row for all sentences.
func (n *NTM) Start(t *grad.Tape) message.State {
	n.check()
	l := n.layout()
	blank := tensor.New(1, l.slots*l.width)
	blank.Fill(1e-6)
	s := message.State{
		t.Input(blank),
		t.Use(n.StartAt).Softmax().Reshape(1, l.heads()*l.slots),
		t.Use(n.StartRead),
		t.Input(tensor.New(1, n.Hidden)),
	}
	if n.LSTM != nil {
		s = append(s, t.Input(tensor.New(1, n.Hidden)))
	}
	return s
}

// Forward returns y of every node of g, from Start.
func (n *NTM) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	y, _ := n.ForwardFrom(t, g, x, nil)
	return y
}

// ForwardFrom returns y and the states of every node of g, from a state that has a row for
// each of g.Roots(), or one for all; nil is Start. Of chains the state after the last node is
// Rows(g.Sinks()); its Keep begins the next segment of a truncated back-propagation.
func (n *NTM) ForwardFrom(t *grad.Tape, g *graph.Graph, x *grad.Var, init message.State) (y *grad.Var, s message.State) {
	n.check()
	compose.WantNodes("memory.NTM", g, x)
	compose.WantWidth("memory.NTM", "x", x, n.In, "In")
	compose.WantDense("memory.NTM", "x", x, "multiply it by a matrix first")
	if init == nil {
		init = n.Start(t)
	}
	n.checkState(init)
	s = message.Sweep(g, init, func(lv *message.Level, prev message.State) message.State {
		for i, v := range prev {
			prev[i] = message.UpdateAll(lv.In, message.U(v), message.Sum)
		}
		return n.turn(t, lv.Rows(x), prev)
	})
	return n.answer(t, s), s
}

// Step returns y and the state after one more row each of x, from the state before it, which
// has a row for each of x or one for all. It is one step of ForwardFrom on chains, to the bit.
func (n *NTM) Step(t *grad.Tape, x *grad.Var, s message.State) (y *grad.Var, next message.State) {
	n.check()
	compose.WantRows("memory.NTM", x, n.In, "In")
	n.checkState(s)
	next = n.turn(t, x, broadcast(s, x.Dim(0)))
	return n.answer(t, next), next
}

// broadcast gives a state of one row as many as there are.
func broadcast(s message.State, rows int) message.State {
	out := make(message.State, len(s))
	for i, v := range s {
		if out[i] = v; v.Dim(0) == 1 && rows != 1 {
			out[i] = v.Expand(rows, v.Dim(1))
		}
	}
	return out
}

// turn is a step but for y, which is made of all steps at once.
func (n *NTM) turn(t *grad.Tape, x *grad.Var, s message.State) message.State {
	in := grad.Concat(x, s[stateRead])
	next := make(message.State, len(s))
	if n.LSTM != nil {
		hc := n.LSTM.Step(t, in, s[stateHidden:])
		next[stateHidden], next[stateCell] = hc[0], hc[1]
	} else {
		next[stateHidden] = n.Layer.Forward(t, in).Tanh()
	}
	says := n.Say.Forward(t, next[stateHidden])
	next[stateMemory], next[stateAt], next[stateRead] = turnTape(n.layout(), says, s[stateMemory], s[stateAt])
	return next
}

// answer is y of some states.
func (n *NTM) answer(t *grad.Tape, s message.State) *grad.Var {
	return n.Answer.Forward(t, grad.Concat(s[stateHidden], s[stateRead]))
}

// Weights returns where the heads are in each row of a state: rows×heads×slots, the writing
// heads first.
func (n *NTM) Weights(s message.State) *grad.Var {
	n.checkState(s)
	return s[stateAt].Reshape(s[stateAt].Dim(0), -1, n.Slots)
}

// Memory returns a copy of the memory of each row of a state: rows×slots×width.
func (n *NTM) Memory(s message.State) *tensor.Dense {
	n.checkState(s)
	m := s[stateMemory].Value()
	out := tensor.New(m.Rows(), n.Slots, n.Width)
	for r := range m.Rows() {
		for d := range n.Width {
			for i, v := range m.Row(r)[d*n.Slots : (d+1)*n.Slots] {
				out.Row(r)[i*n.Width+d] = v
			}
		}
	}
	return out
}

// check panics unless Init has made the Params that the fields want.
func (n *NTM) check() {
	l := n.layout()
	fits := (n.LSTM == nil) == (n.Controller == FeedForwardController) && (n.Layer == nil) != (n.LSTM == nil)
	compose.WantMade("memory.NTM", "weights of its Controller", n.Say != nil && n.Answer != nil && fits)
	compose.WantInit("memory.NTM", n.Say.W, l.columns())
	compose.WantInit("memory.NTM", n.StartAt, l.slots)
}

// checkState panics unless s is a state of n.
func (n *NTM) checkState(s message.State) {
	l, want := n.layout(), 4
	if n.Controller == LSTMController {
		want = 5
	}
	if len(s) != want {
		panic(&grad.TapeError{Op: "memory.NTM", Why: fmt.Sprintf("the state has %d Vars, want %d; begin with Start", len(s), want)})
	}
	for i, width := range []int{l.width * l.slots, l.heads() * l.slots, l.reads * l.width} {
		if s[i].Dim(-1) != width {
			compose.BadShape("memory.NTM", s[i], fmt.Sprintf("Var %d of the state wants %d columns", i, width))
		}
	}
}

package sequence

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Peephole says what the gates of an [LSTM] see of its cell. Its text form is
// its name.
type Peephole string

// The peepholes. The zero value is none.
const (
	NoPeephole       Peephole = ""
	DiagonalPeephole Peephole = "diagonal" // a gate sees its own element of the cell
	FullPeephole     Peephole = "full"     // a gate sees all of the cell
)

// Forget says what an [LSTM] keeps of its cell. Its text form is its name.
type Forget string

// The forget gates. The zero value is one with weights of its own.
const (
	OwnForget     Forget = ""
	NoForget      Forget = "none"    // f = 1: the cell of 1997, which only ever adds
	CoupledForget Forget = "coupled" // f = 1 − i: what comes in takes the place of what was there
)

// LSTM carries a state h and a cell c along chains.
//
//	i = σ(x_t·W_i + h·U_i + b_i)      f = σ(x_t·W_f + h·U_f + b_f)
//	g = tanh(x_t·W_g + h·U_g + b_g)   o = σ(x_t·W_o + h·U_o + b_o)
//	c_t = f·c + i·g                   h_t = o·tanh(c_t)
//
// of Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997, with the forget
// gate of Gers, Schmidhuber and Cummins, 2000. h and c are those of the
// predecessor: the sum where there are several, the initial ones at a root, so
// an isolated node is a chain of one. x is N×In, dense or sparse; the result is
// N×Hidden.
//
// Forget takes f's weights away: with [NoForget] the cell is the one of 1997, with
// [CoupledForget] f is 1 − i (Greff et al., "LSTM: A Search Space Odyssey", 2017).
//
// With peepholes (Gers and Schmidhuber, 2000) c·P_i and c·P_f are added inside
// i and f, and c_t·P_o inside o; with PeepOld the output gate sees c instead.
//
// With LayerNorm (Ba, Kiros and Hinton, 2016) the gates read LN(x_t·W) + LN(h·U) + b,
// and h_t is o·tanh(LN(c_t)); c itself is carried as it is.
//
// InputDropout and StateDropout are those of Gal and Ghahramani, "A Theoretically
// Grounded Application of Dropout in Recurrent Neural Networks", 2016: one mask for a
// chain, the same at all of its nodes, on x and on the h that is multiplied by U. A
// chain is a member of the graph ([graph.Membership]); a graph that was not
// made of members is one. A segment of a truncated back-propagation is a chain, too:
// it has a mask of its own.
//
// The gates stand in PyTorch's order i, f, g, o, but with one bias: it is the
// sum of PyTorch's two.
type LSTM struct {
	In, Hidden int
	Forget     Forget   `json:",omitempty"`
	Peephole   Peephole `json:",omitempty"`
	PeepOld    bool     `json:",omitempty"` // the output gate's peephole sees the old cell
	Orthogonal bool     `json:",omitempty"` // U of each gate begins as an orthogonal matrix, as in an [RNN]
	NoBias     bool     `json:",omitempty"`

	// ForgetBias is what Init makes of b_f; 1 or more helps the cell to remember. If
	// the gates are coupled b_i begins at −ForgetBias instead. With Chrono, the longest
	// distance T to be bridged, they are drawn: b_f = log U(1, T−1) and b_i = −b_f, of
	// Tallec and Ollivier, "Can recurrent neural networks warp time?", 2018.
	ForgetBias float64 `json:",omitempty"`
	Chrono     int     `json:",omitempty"`

	LayerNorm    bool    `json:",omitempty"`
	InputDropout float64 `json:",omitempty"` // of x, a mask a chain
	StateDropout float64 `json:",omitempty"` // of h where U reads it, a mask a chain

	W *grad.Param `json:"-"` // In×4·Hidden; without f's columns, here and below, 3·Hidden
	U *grad.Param `json:"-"` // Hidden×4·Hidden
	B *grad.Param `json:"-"` // 4·Hidden
	P *grad.Param `json:"-"` // P_i, P_f, P_o: 3×Hidden if diagonal, Hidden×3·Hidden if full

	GainX *grad.Param `json:"-"` // 4·Hidden, of LN(x·W)
	GainH *grad.Param `json:"-"` // 4·Hidden, of LN(h·U)
	GainC *grad.Param `json:"-"` // Hidden, of LN(c_t)
	BiasC *grad.Param `json:"-"` // Hidden
}

// Init makes the Params: the weights uniform up to 1/√Hidden unless U is Orthogonal, the bias zero but
// for the forget gate's, gains one.
func (l *LSTM) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	m, n := l.Hidden, l.form().blocks()
	l.W, l.U = compose.Uniform(rng, l.In, n*m, m), recurrentStart(rng, m, n, l.Orthogonal)
	l.B, l.P, l.GainX, l.GainH, l.GainC, l.BiasC = nil, nil, nil, nil, nil, nil
	switch l.Peephole {
	case DiagonalPeephole:
		l.P = compose.Uniform(rng, n-1, m, m)
	case FullPeephole:
		l.P = compose.Uniform(rng, m, (n-1)*m, m)
	}
	if l.LayerNorm {
		l.GainX, l.GainH, l.GainC, l.BiasC = compose.Ones(n*m), compose.Ones(n*m), compose.Ones(m), grad.NewParam(m)
	}
	if l.NoBias {
		return
	}
	l.B = grad.NewParam(n * m)
	input, forget := l.B.Value.Data[:m], l.B.Value.Data[m:2*m]
	remember := retention{"sequence.LSTM", l.ForgetBias, l.Chrono}
	switch l.Forget {
	case OwnForget:
		remember.fill(rng, forget, 1)
		if l.Chrono > 0 {
			for j, v := range forget {
				input[j] = -v
			}
		}
	case CoupledForget:
		remember.fill(rng, input, -1)
	case NoForget: // what it adds is the smaller, the more steps add to it
		if l.Chrono > 0 {
			remember.fill(rng, input, -1)
		}
	}
}

// form is how the gates are computed.
func (l *LSTM) form() gateForm {
	switch l.Forget {
	case OwnForget, NoForget, CoupledForget:
		return gateForm{old: l.PeepOld, over: true, forget: l.Forget}
	}
	panic(&grad.TapeError{Op: "sequence.LSTM", Why: "no forget gate is called " + string(l.Forget)})
}

// like is what the layer has to be like.
func (l *LSTM) like() cell {
	return cell{op: "sequence.LSTM", w: l.W, u: l.U, hidden: l.Hidden, gates: l.form().blocks()}
}

// Forward returns h of every node of g, from a state of zeros.
func (l *LSTM) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.ForwardFrom(t, g, x, nil)[0]
}

// ForwardFrom returns h and c of every node of g, from an initial h and c that
// have a row for each of g.Roots(), or one for all; nil is zeros. Of chains the
// state after the last node is Rows(g.Sinks()); its Keep begins the next segment of a
// truncated back-propagation.
func (l *LSTM) ForwardFrom(t *grad.Tape, g *graph.Graph, x *grad.Var, init message.State) message.State {
	like := l.like()
	like.check(g, x)
	xp := l.input(t, x).masked(chainDropout(t, g, l.InputDropout)).inLevels(t, g) // of all nodes at once
	drop, init := chainDropout(t, g, l.StateDropout), like.start(t, init, 2)
	if l.Forget == OwnForget && l.Peephole == NoPeephole && !l.LayerNorm {
		r := recurrence{like: like, plan: chainPlanOf(g), u: t.Use(l.U), xp: xp, init: init, drop: drop}
		if s := r.run(t, &lstmChains{}); s != nil {
			return s
		}
	}
	step := l.step(t, g)
	return message.Sweep(g, init, func(lv *message.Level, prev message.State) message.State {
		h, c := drop.on(lv, arrived(lv, prev[0])), arrived(lv, prev[1])
		prev[0], prev[1] = step(h, c, lv.Take(xp), roomOf(lv))
		return prev
	})
}

// Step returns h and c after one more row each of x, from those before it, which have a
// row for each of x or one for all; nil is zeros. It is one step of [LSTM.ForwardFrom] on
// chains, to the bit: what a generator calls, or a step of another Sweep.
func (l *LSTM) Step(t *grad.Tape, x *grad.Var, prev message.State) message.State {
	like := l.like()
	prev = like.before(t, x, prev, 2, max(l.InputDropout, l.StateDropout))
	h, c := l.step(t, nil)(prev[0], prev[1], l.input(t, x).project(), room{})
	return message.State{h, c}
}

// input is what the gates read of x: with layer norms the product alone, which is normalised
// where the gates read it, but for the gates with full peepholes.
func (l *LSTM) input(t *grad.Tape, x *grad.Var) input {
	if l.LayerNorm && l.Peephole != FullPeephole {
		return input{x: x, w: t.Use(l.W)}
	}
	return input{x: x, w: t.Use(l.W), b: compose.Use(t, l.B), gain: compose.Use(t, l.GainX)}
}

// step returns what makes h and c, in to, of those before and of the gates' share of x. g, of
// whose levels it is a step, may be nil.
func (l *LSTM) step(t *grad.Tape, g *graph.Graph) func(h, c, xp *grad.Var, to room) (after, next *grad.Var) {
	u, v, form := t.Use(l.U), gateOperands{}, l.form()
	switch l.Peephole {
	case NoPeephole:
	case DiagonalPeephole:
		v.p = t.Use(l.P)
	case FullPeephole:
		return l.fullStep(t, u)
	default:
		panic(&grad.TapeError{Op: "sequence.LSTM", Why: "no peephole is called " + string(l.Peephole)})
	}
	if !l.LayerNorm {
		return func(h, c, xp *grad.Var, to room) (after, next *grad.Var) {
			v.z, v.c = xp.AddProduct(h, u), c
			return v.applyTo(form, to)
		}
	}
	v.gainX, v.b, v.gain, v.gainC, v.biasC = t.Use(l.GainX), compose.Use(t, l.B), t.Use(l.GainH), t.Use(l.GainC), t.Use(l.BiasC)
	if g != nil {
		v.sumNorms(g, form.blocks(), l.Hidden)
	}
	return func(h, c, xp *grad.Var, to room) (after, next *grad.Var) {
		v.z, v.c, v.q = xp, c, h.MatMul(u)
		return v.applyTo(form, to)
	}
}

// fullStep is step with full peepholes.
func (l *LSTM) fullStep(t *grad.Tape, u *grad.Var) func(h, c, xp *grad.Var, _ room) (after, next *grad.Var) {
	gates := l.fullGates(t)
	if !l.LayerNorm {
		return func(h, c, xp *grad.Var, to room) (after, next *grad.Var) { return gates(xp.AddProduct(h, u), c) }
	}
	gain, gainC, biasC := t.Use(l.GainH), t.Use(l.GainC), t.Use(l.BiasC)
	return func(h, c, xp *grad.Var, _ room) (after, next *grad.Var) {
		o, next := gates(h.MatMul(u).LayerNorm(gain, nil, normEps).Add(xp), c)
		return o.Mul(next.LayerNorm(gainC, biasC, normEps).Tanh()), next
	}
}

// fullGates returns the step from z and c to h, or with LayerNorm to o alone, and c with
// full peepholes. Their products stand between the
// gates, so it is spelt out.
func (l *LSTM) fullGates(t *grad.Tape) func(z, c *grad.Var) (h, next *grad.Var) {
	m := l.Hidden
	w := (l.form().blocks() - 2) * m // of the gates into the cell
	p := t.Use(l.P).Split(w, m)
	return func(z, c *grad.Var) (h, next *grad.Var) {
		in := z.Columns(0, w).Add(c.MatMul(p[0])).Sigmoid()
		i, g := in.Columns(0, m), z.Columns(w, w+m).Tanh()
		switch l.Forget {
		case NoForget:
			next = c.Add(i.Mul(g))
		case CoupledForget:
			next = i.OneMinus().Mul(c).Add(i.Mul(g))
		default:
			next = in.Columns(m, 2*m).Mul(c).Add(i.Mul(g))
		}
		seen := next
		if l.PeepOld {
			seen = c
		}
		o := z.Columns(w+m, w+2*m).Add(seen.MatMul(p[1])).Sigmoid()
		if l.LayerNorm {
			return o, next
		}
		return o.Mul(next.Tanh()), next
	}
}

// lstmChains is an LSTM with a forget gate of its own, as a chainCell.
type lstmChains struct {
	c, tanh []tensor.Float // the cells, behind those before the roots, and tanh of those of the nodes
	dc      []tensor.Float
	set     bool // dc holds anything until backward sets it
}

func (k *lstmChains) begin(r *recurrence) {
	if !r.back {
		k.c, k.tanh = r.states(1), tape.FreshFloats(r.op, len(r.plan.Order)*r.m)
		return
	}
	dc, fresh := tape.FreshGrad(r.all[1])
	k.dc, k.set = dc.Data, fresh
}

// rows are those of s.
func (k *lstmChains) rows(r *recurrence, s span) vec.LSTMRows {
	return vec.LSTMRows{M: r.m, Gates: r.a[s.lo*r.width:], Cell: k.c[s.from*r.m:], Next: k.c[s.to*r.m:], Tanh: k.tanh[s.lo*r.m:], H: r.h[s.to*r.m:]}
}

func (k *lstmChains) forward(r *recurrence, s span) {
	g := k.rows(r, s)
	g.Forward(0, s.hi-s.lo)
}

func (k *lstmChains) backward(r *recurrence, s span, rest []tensor.Float) {
	g, m := k.rows(r, s), r.m
	g.DGates, g.DCell, g.DNext, g.DH, g.SetCell = r.da[s.lo*r.width:], k.dc[s.from*m:], k.dc[s.to*m:], r.dh[s.to*m:], k.set
	if k.set && s.last < s.hi { // nothing follows that has set these
		clear(k.dc[(s.to+s.last-s.lo)*m : (s.to+s.hi-s.lo)*m])
	}
	g.Backward(0, s.hi-s.lo, rest, nil)
}

func (k *lstmChains) end(*recurrence) {}

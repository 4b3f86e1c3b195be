package sequence

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// GRU carries a state h along chains.
//
//	r = σ(x_t·W_r + h·U_r + b_r)      z = σ(x_t·W_z + h·U_z + b_z)
//	n = tanh(x_t·W_n + b_n + r·(h·U_n + b_u))
//	h_t = (1−z)·n + z·h
//
// of Cho et al., "Learning Phrase Representations using RNN Encoder–Decoder for
// Statistical Machine Translation", 2014, in the form of cuDNN and PyTorch,
// which resets the product. With ResetBefore it is the paper's own, in which the
// state is reset before the product: n = tanh(x_t·W_n + b_n + (r·h)·U_n).
//
// With UpdateAdmits z admits the new state, h_t = (1−z)·h + z·n, as in Bahdanau, Cho
// and Bengio, 2015. The two are one network with the signs of W_z, U_z and b_z changed,
// so weights of the one are wrong in the other.
//
// With Minimal one gate resets and admits, r = z and h_t = (1−z)·h + z·n: the minimal
// gated unit of Zhou et al., "Minimal Gated Unit for Recurrent Neural Networks", 2016,
// whose own form is that with ResetBefore.
//
// h is that of the predecessor: the sum where there are several, the initial one
// at a root, so an isolated node is a chain of one. x is N×In, dense or sparse;
// the result is N×Hidden.
//
// With LayerNorm (Ba, Kiros and Hinton, 2016) the products x_t·W and h·U are normalised,
// the columns of r and z together and those of n apart. InputDropout and StateDropout
// are those of an [LSTM]: a mask a chain.
//
// The gates stand in PyTorch's order r, z, n. B holds the sums of PyTorch's two
// biases for r and z, and bias_ih for n; BN is bias_hh for n.
type GRU struct {
	In, Hidden   int
	ResetBefore  bool `json:",omitempty"`
	UpdateAdmits bool `json:",omitempty"` // z = 1 takes the new state, not the old one
	Minimal      bool `json:",omitempty"` // one gate for r and z
	Orthogonal   bool `json:",omitempty"` // U of each gate begins as an orthogonal matrix, as in an [RNN]
	NoBias       bool `json:",omitempty"`

	// KeepBias is how far Init leads b_z to where the old state is kept: below zero if
	// z admits. With Chrono, the longest distance T to be bridged, that is drawn: log U(1, T−1), of
	// Tallec and Ollivier, "Can recurrent neural networks warp time?", 2018.
	KeepBias float64 `json:",omitempty"`
	Chrono   int     `json:",omitempty"`

	LayerNorm    bool    `json:",omitempty"`
	InputDropout float64 `json:",omitempty"` // of x, a mask a chain
	StateDropout float64 `json:",omitempty"` // of h where U reads it, a mask a chain

	W  *grad.Param `json:"-"` // In×3·Hidden; with Minimal, here and below, the 2·Hidden of z and n
	U  *grad.Param `json:"-"` // Hidden×3·Hidden
	B  *grad.Param `json:"-"` // 3·Hidden; nil with NoBias
	BN *grad.Param `json:"-"` // Hidden, b_u; nil with NoBias or ResetBefore

	GainX *grad.Param `json:"-"` // 3·Hidden, of LN(x·W)
	GainH *grad.Param `json:"-"` // 3·Hidden, of LN(h·U)
}

// Init makes the Params: the weights uniform up to 1/√Hidden unless U is Orthogonal, the biases zero but for
// the update gate's, gains one.
func (l *GRU) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	m, n := l.Hidden, l.form().blocks()
	l.W, l.U = compose.Uniform(rng, l.In, n*m, m), recurrentStart(rng, m, n, l.Orthogonal)
	l.B, l.BN, l.GainX, l.GainH = nil, nil, nil, nil
	if l.LayerNorm {
		l.GainX, l.GainH = compose.Ones(n*m), compose.Ones(n*m)
	}
	if l.NoBias {
		return
	}
	if l.B = grad.NewParam(n * m); !l.ResetBefore {
		l.BN = grad.NewParam(m)
	}
	sign := 1.0
	if l.UpdateAdmits || l.Minimal {
		sign = -1
	}
	retention{"sequence.GRU", l.KeepBias, l.Chrono}.fill(rng, l.B.Value.Data[(n-2)*m:(n-1)*m], sign)
}

// form is how the gates are computed.
func (l *GRU) form() gruForm {
	return gruForm{over: true, admits: l.UpdateAdmits, minimal: l.Minimal}
}

// like is what the layer has to be like.
func (l *GRU) like() cell {
	return cell{op: "sequence.GRU", w: l.W, u: l.U, hidden: l.Hidden, gates: l.form().blocks()}
}

// Forward returns h of every node of g, from a state of zeros.
func (l *GRU) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.ForwardFrom(t, g, x, nil)[0]
}

// ForwardFrom returns h of every node of g, from an initial h as
// [LSTM.ForwardFrom] wants it; nil is zeros.
func (l *GRU) ForwardFrom(t *grad.Tape, g *graph.Graph, x *grad.Var, init message.State) message.State {
	like := l.like()
	like.check(g, x)
	xp := l.input(t, x).masked(chainDropout(t, g, l.InputDropout)).inLevels(t, g) // of all nodes at once
	init, drop := like.start(t, init, 1), chainDropout(t, g, l.StateDropout)
	if l.ResetBefore {
		w := l.gateWidth()
		xs, step := xp.Split(w, l.Hidden), l.stepBefore(t)
		return message.Sweep(g, init, func(lv *message.Level, prev message.State) message.State {
			h := arrived(lv, prev[0])
			prev[0] = step(h, drop.level(lv.N), lv.Take(xs[0]), lv.Take(xs[1]))
			return prev
		})
	}
	if !l.Minimal && !l.LayerNorm {
		r := recurrence{like: like, plan: chainPlanOf(g), u: t.Use(l.U), xp: xp, init: init, drop: drop, apart: true, bias: compose.Use(t, l.BN)}
		if s := r.run(t, &gruChains{admits: l.UpdateAdmits}); s != nil {
			return s
		}
	}
	step := l.step(t)
	return message.Sweep(g, init, func(lv *message.Level, prev message.State) message.State {
		h := arrived(lv, prev[0])
		prev[0] = step(h, drop.on(lv, h), lv.Take(xp), lv.Room(0))
		return prev
	})
}

// Step returns h after one more row each of x, from that before it, as [LSTM.Step] does.
func (l *GRU) Step(t *grad.Tape, x *grad.Var, prev message.State) message.State {
	like := l.like()
	prev = like.before(t, x, prev, 1, max(l.InputDropout, l.StateDropout))
	h, xp := prev[0], l.input(t, x).project()
	if l.ResetBefore {
		xs := xp.Split(l.gateWidth(), l.Hidden)
		return message.State{l.stepBefore(t)(h, rowDropout{}, xs[0], xs[1])}
	}
	return message.State{l.step(t)(h, h, xp, nil)}
}

// gateWidth is how many columns the gates have, without n.
func (l *GRU) gateWidth() int { return (l.form().blocks() - 1) * l.Hidden }

// input is what the gates read of x.
func (l *GRU) input(t *grad.Tape, x *grad.Var) input {
	return input{x: x, w: t.Use(l.W), b: compose.Use(t, l.B), gain: compose.Use(t, l.GainX), cut: l.gateWidth()}
}

// step returns what makes the next h, in to unless that is nil, of h, of what U reads of it
// and of the gates' share of x.
func (l *GRU) step(t *grad.Tape) func(h, read, xp, to *grad.Var) *grad.Var {
	u, bn, form := t.Use(l.U), compose.Use(t, l.BN), l.form()
	if !l.LayerNorm {
		return func(h, read, xp, to *grad.Var) *grad.Var {
			return gruOperands{xp, read.MatMul(u), h, bn}.apply(form, to)
		}
	}
	norm := newNormer(t.Use(l.GainH), l.gateWidth())
	return func(h, read, xp, to *grad.Var) *grad.Var {
		return gruOperands{xp, norm.apply(read.MatMul(u)), h, bn}.apply(form, to)
	}
}

// stepBefore is step in the paper's form. A product stands between the gates, so it is
// spelt out. drop is what drops of what U reads.
func (l *GRU) stepBefore(t *grad.Tape) func(h *grad.Var, drop rowDropout, xg, xn *grad.Var) *grad.Var {
	m, w := l.Hidden, l.gateWidth()
	u := t.Use(l.U).Split(w, m)
	var gains []*grad.Var
	if l.LayerNorm {
		gains = t.Use(l.GainH).Split(w, m)
	}
	sum := func(k int, x, h *grad.Var) *grad.Var { // x + h·U_k
		if gains == nil {
			return x.AddProduct(h, u[k])
		}
		return h.MatMul(u[k]).LayerNorm(gains[k], nil, normEps).Add(x)
	}
	return func(h *grad.Var, drop rowDropout, xg, xn *grad.Var) *grad.Var {
		read := drop.apply(h)
		rz := sum(0, xg, read).Sigmoid()
		r, z := rz, rz
		if !l.Minimal {
			r, z = rz.Columns(0, m), rz.Columns(m, 2*m)
		}
		n := sum(1, xn, r.Mul(read)).Tanh()
		if l.UpdateAdmits || l.Minimal {
			return h.Add(z.Mul(n.Sub(h)))
		}
		return n.Add(z.Mul(h.Sub(n)))
	}
}

// gruChains is a GRU that resets the product, as a chainCell.
type gruChains struct {
	admits bool
	bias   []tensor.Float // nil: none
}

func (k *gruChains) begin(r *recurrence) {
	if r.bias != nil {
		k.bias = r.bias.Value().Data
	}
}

// rows are those of s.
func (k *gruChains) rows(r *recurrence, s span) vec.GRURows {
	return vec.GRURows{M: r.m, Gates: r.a[s.lo*r.width:], Q: r.z[s.lo*r.width:], Old: r.h[s.from*r.m:], Next: r.h[s.to*r.m:], Bias: k.bias, Admits: k.admits}
}

func (k *gruChains) forward(r *recurrence, s span) {
	g := k.rows(r, s)
	g.Forward(0, s.hi-s.lo)
}

func (k *gruChains) backward(r *recurrence, s span, rest []tensor.Float) {
	g := k.rows(r, s)
	g.DGates, g.DQ, g.DOld, g.DNext = r.da[s.lo*r.width:], r.dz[s.lo*r.width:], r.dh[s.from*r.m:], r.dh[s.to*r.m:]
	g.Backward(0, s.hi-s.lo, rest)
}

// end adds to the gradient of the bias, level by level from the last on.
func (k *gruChains) end(r *recurrence) {
	if r.bias == nil || !r.bias.Needs() {
		return
	}
	db := r.bias.Grad().Data
	if tape.Measuring(r.op) {
		return
	}
	par.For(r.m, 64, func(left, right int) {
		for n := r.plan.Len() - 1; n >= 0; n-- {
			for row := r.plan.Offsets[n]; row < r.plan.Offsets[n+1]; row++ {
				at := row*r.width + 2*r.m
				vec.Add.Forward(db[left:right], db[left:right], r.dz[at+left:at+right], 1, 1)
			}
		}
	})
}

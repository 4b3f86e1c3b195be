package attention

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// LocationAttention aligns by what stands there and by where the step before looked.
//
//	f_j = Σ_k α'_(j+k−r/2)·F_k      s_ij = tanh(k_j·W + q_i·Q + f_j·U + b)·v
//	α_i = softmax(s_i), or with By: Smoothing σ(s_i)/Σσ(s_i)
//
// of Chorowski, Bahdanau, Serdyuk, Cho and Bengio, "Attention-Based Models for Speech
// Recognition", NIPS 2015. α' is α of the step before or, if Cumulative, the sum of all
// before; before the first step it is one on the first of the sequence, or zero with
// StartZero. f is a cross-correlation, as PyTorch's Conv1d: F's last tap reads the later
// places, and beyond either end there are zeros. Without Key the score does not see what
// stands there. A step whose scores are all −∞ has weights of zero, which the next one reads.
type LocationAttention struct {
	Key, Query, Hidden int // Key 0: by location only
	Filters, Width     int // Width is r, odd
	By                 Weighing
	Cumulative         bool `json:",omitempty"`
	StartZero          bool `json:",omitempty"`

	W *grad.Param `json:"-"` // Key×Hidden; nil without Key
	Q *grad.Param `json:"-"` // Query×Hidden
	F *grad.Param `json:"-"` // 1×Width·Filters, the columns of a tap together
	U *grad.Param `json:"-"` // Filters×Hidden
	B *grad.Param `json:"-"` // Hidden
	V *grad.Param `json:"-"` // Hidden×1
}

// Init makes the Params, uniform up to the root of one over the rows that they read; the
// bias is zero.
func (l *LocationAttention) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	if l.Width < 1 || l.Width%2 == 0 {
		panic(&grad.TapeError{Op: "attention.LocationAttention", Why: fmt.Sprintf("Width is %d, want an odd number: the middle tap reads the place itself", l.Width)})
	}
	l.W = nil
	if l.Key > 0 {
		l.W = compose.Uniform(rng, l.Key, l.Hidden, l.Key)
	}
	l.Q = compose.Uniform(rng, l.Query, l.Hidden, l.Query)
	l.F = compose.Uniform(rng, 1, l.Width*l.Filters, l.Width)
	l.U = compose.Uniform(rng, l.Filters, l.Hidden, l.Filters)
	l.B = grad.NewParam(l.Hidden)
	l.V = compose.Uniform(rng, l.Hidden, 1, l.Hidden)
}

// Keys returns k·W + b.
func (l *LocationAttention) Keys(t *grad.Tape, _ *graph.Graph, keys *grad.Var) *grad.Var {
	compose.WantParam("attention.LocationAttention", l.Q, true)
	if l.W == nil {
		return keys
	}
	return compose.Affine(t, keys, l.W, l.B)
}

// Start is the weights, and with Cumulative their sum beside them.
func (l *LocationAttention) Start(_ *grad.Tape, g *graph.Graph) *grad.Var {
	x := onFirst(g, l.columns())
	switch {
	case l.StartZero:
		x.Value().Zero()
	case l.Cumulative: // what is on the first counts
		for e := range x.Value().Rows() {
			r := x.Value().Row(e)
			r[1] = r[0]
		}
	}
	return x
}

// columns is how many are carried.
func (l *LocationAttention) columns() int {
	if l.Cumulative {
		return 2
	}
	return 1
}

// Weigh returns the weights.
func (l *LocationAttention) Weigh(t *grad.Tape, look Look, query, last *grad.Var) (alpha message.Msg, next *grad.Var) {
	before := last.Columns(l.columns()-1, l.columns())
	f := l.convolve(t, look.Graph, before).MatMul(t.Use(l.U))
	z := message.V(query.MatMul(t.Use(l.Q))).Add(message.E(f))
	if l.W != nil {
		z = message.U(look.Keys).Add(z)
	} else {
		z = z.Add(message.W(t.Use(l.B)))
	}
	s := message.ApplyEdges(look.Graph, z.Tanh()).MatMul(t.Use(l.V))
	next = message.ApplyEdges(look.Graph, l.By.Of(message.E(s)))
	alpha = message.E(next)
	if l.Cumulative {
		next = grad.Concat(next, before.Add(next))
	}
	return alpha, next
}

// besideKey is that of the chains along the edges into each destination.
type besideKey struct{ width int }

// convolve returns f of every edge: the edges into a query are a chain.
func (l *LocationAttention) convolve(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	beside := graph.Derive(g, besideKey{l.Width}, func() *graph.Graph {
		lengths, shifts := make([]int, g.NumDst()), make([]int, l.Width)
		for v := range lengths {
			lengths[v] = g.InDegree(v)
		}
		for k := range shifts {
			shifts[k] = l.Width/2 - k // tap k reads k − r/2 places further
		}
		return graph.ShiftedChains(lengths, shifts...)
	})
	taps := x.MatMul(t.Use(l.F)).Reshape(-1, l.Width, l.Filters)
	return message.UpdateAll(beside, message.U(taps).Pick(beside.Kinds()), message.Sum)
}

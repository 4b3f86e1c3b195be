package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// Coverage aligns by a score that sees how much of each key was attended to so far.
//
//	s_ij = tanh(k_j·W + q_i·U + a_ij·c + b)·v      a_ij = Σ α_i'j, the steps i' before i
//
// of See, Liu and Manning, "Get To The Point: Summarization with Pointer-Generator
// Networks", ACL 2017, after Tu et al., "Modeling Coverage for Neural Machine
// Translation", ACL 2016. [Coverage.Penalty] is what it costs to look twice. A step whose
// scores are all −∞ has weights of zero and covers nothing.
type Coverage struct {
	Key, Query, Hidden int

	W *grad.Param `json:"-"` // Key×Hidden
	U *grad.Param `json:"-"` // Query×Hidden
	C *grad.Param `json:"-"` // 1×Hidden, what coverage says
	B *grad.Param `json:"-"` // Hidden
	V *grad.Param `json:"-"` // Hidden×1
}

// Init makes the Params, uniform up to the root of one over the rows that they read; the
// bias is zero.
func (l *Coverage) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.W = compose.Uniform(rng, l.Key, l.Hidden, l.Key)
	l.U = compose.Uniform(rng, l.Query, l.Hidden, l.Query)
	l.C = compose.Uniform(rng, 1, l.Hidden, l.Hidden)
	l.B = grad.NewParam(l.Hidden)
	l.V = compose.Uniform(rng, l.Hidden, 1, l.Hidden)
}

// Keys returns k·W + b.
func (l *Coverage) Keys(t *grad.Tape, _ *graph.Graph, keys *grad.Var) *grad.Var {
	compose.WantParam("attention.Coverage", l.W, true)
	return compose.Affine(t, keys, l.W, l.B)
}

// Start is the weights and their sum: zeros.
func (l *Coverage) Start(t *grad.Tape, g *graph.Graph) *grad.Var {
	x := onFirst(g, 2)
	x.Value().Zero()
	return x
}

// Weigh returns the weights.
func (l *Coverage) Weigh(t *grad.Tape, look Look, query, last *grad.Var) (alpha message.Msg, next *grad.Var) {
	sum := last.Columns(1, 2)
	z := message.UAddV(look.Keys, query.MatMul(t.Use(l.U))).Add(message.E(sum.MatMul(t.Use(l.C)))).Tanh()
	s := message.ApplyEdges(look.Graph, z).MatMul(t.Use(l.V))
	a := message.EdgeSoftmax(look.Graph, s)
	return message.E(a), grad.Concat(a, sum.Add(a))
}

// Penalty is the mean over all steps of Σ_j min(α_ij, a_ij), the loss that See, Liu and
// Manning add: zero where no key is attended to twice.
func (l *Coverage) Penalty(a Alignment) *grad.Var {
	alpha, after := a.Carried.Columns(0, 1), a.Carried.Columns(1, 2)
	return alpha.Min(after.Sub(alpha)).Sum().Scale(1 / float64(max(1, a.Graph.NumDst())))
}

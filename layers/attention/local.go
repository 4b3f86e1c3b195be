package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// ByPlace aligns by the place alone, whatever stands there: the softmax of [ByPosition].
type ByPlace struct{ Score *ByPosition }

// Init makes the Params of the score.
func (l *ByPlace) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Score.Init(rng)
}

// Keys is what is learnt for the place of each key.
func (l *ByPlace) Keys(t *grad.Tape, source *graph.Graph, keys *grad.Var) *grad.Var {
	return l.Score.At(source.Positions()).Keys(t, keys)
}

// Start is nil.
func (l *ByPlace) Start(*grad.Tape, *graph.Graph) *grad.Var { return nil }

// Weigh returns the weights.
func (l *ByPlace) Weigh(t *grad.Tape, look Look, query, _ *grad.Var) (alpha message.Msg, next *grad.Var) {
	return l.Score.At(nil).Of(t, look.Keys, query).Softmax(), nil
}

// LocalP aligns around a place that it predicts from the query ("local-p"):
//
//	p = S·σ(tanh(q·W)·v)      α_j = softmax_j(s_j)·exp(−(j−p)²/(2σ²)), σ = Reach/2
//
// of Luong, Pham and Manning, "Effective Approaches to Attention-based Neural Machine
// Translation", 2015. S is how many keys there are, and the softmax runs over those at
// most Reach places from p. The Gaussian comes after it, so the weights come to less than
// one; through it the gradient finds W and v. The query sees all keys: it wants no window.
type LocalP struct {
	Score         Score
	Query, Hidden int
	Reach         int // D; 0: 10

	W *grad.Param `json:"-"` // Query×Hidden
	V *grad.Param `json:"-"` // Hidden×1
}

// Init makes the Params, uniform up to the root of one over the rows that they read.
func (l *LocalP) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Score.Init(rng)
	l.W, l.V = compose.Uniform(rng, l.Query, l.Hidden, l.Query), compose.Uniform(rng, l.Hidden, 1, l.Hidden)
}

// Keys is that of the score.
func (l *LocalP) Keys(t *grad.Tape, _ *graph.Graph, keys *grad.Var) *grad.Var {
	compose.WantParam("attention.LocalP", l.W, true)
	return l.Score.Keys(t, keys)
}

// Start is nil.
func (l *LocalP) Start(*grad.Tape, *graph.Graph) *grad.Var { return nil }

// fall is what the logit of a key loses for each place that it is out of reach: after
// that its weight is zero.
const fall = 1e30

// Weigh returns the weights.
func (l *LocalP) Weigh(t *grad.Tape, look Look, query, _ *grad.Var) (alpha message.Msg, next *grad.Var) {
	want("attention.LocalP", "Query", query, l.Query, l.W, l.Hidden)
	reach := 10.0
	if l.Reach > 0 {
		reach = float64(l.Reach)
	}
	keys := tensor.New(look.Graph.NumDst(), 1)
	for v := range keys.Data {
		keys.Data[v] = tensor.Float(look.Graph.InDegree(v))
	}
	p := query.MatMul(t.Use(l.W)).Tanh().MatMul(t.Use(l.V)).Sigmoid().Mul(grad.Const(keys))
	off := message.USubV(look.Places, p)
	within := off.Abs().Neg().Shift(reach).Min(constant(0)).Scale(fall)
	near := off.Mul(off).Scale(-2 / (reach * reach)).Exp()
	return l.Score.Of(t, look.Keys, query).Add(within).Softmax().Mul(near), nil
}

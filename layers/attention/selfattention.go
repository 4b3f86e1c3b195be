package attention

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// MultiHead is attention by scalar products in several heads, each of which reads the rows
// through projections of its own:
//
//	q = x·W_q + b_q,   k = x'·W_k + b_k,   v = x″·W_v + b_v
//	α_uv = softmax_u( k_u·q_v/√D [+ bias_uv] ),   y_v = [Σ_u drop(α_uv)·v_u]·W_o + b_o
//
// of Vaswani and others, "Attention Is All You Need", NeurIPS 2017. Head h is columns h·D to
// (h+1)·D of q, k and v, with D = Model/Heads; the heads' results stand side by side before
// W_o. The graph says who hears whom: it is the mask. Queries are a row for each destination,
// N×Model; keys and values a row for each source; the result is a row for each destination,
// NumDst×Model. A destination without in-edges gets b_o.
type MultiHead struct {
	Model  int     // width of the queries and of the result
	Heads  int     // 0: 1; they divide Model
	Key    int     `json:",omitempty"` // width of the keys; 0: Model
	Value  int     `json:",omitempty"` // width of the values; 0: Model
	Drop   float64 `json:",omitempty"` // dropout of α, after which nothing is normalised again
	NoBias bool    `json:",omitempty"`

	Rotary   bool `json:",omitempty"` // queries and keys are turned by their places: see [Rotate]
	Relative int  `json:",omitempty"` // offsets from −Relative to Relative have a bias each, those beyond that of the last; 0: none

	WQuery *grad.Param `json:"-"` // Model×Model
	BQuery *grad.Param `json:"-"`
	WKey   *grad.Param `json:"-"` // Key×Model
	BKey   *grad.Param `json:"-"`
	WValue *grad.Param `json:"-"` // Value×Model
	BValue *grad.Param `json:"-"`
	WOut   *grad.Param `json:"-"` // Model×Model
	BOut   *grad.Param `json:"-"`
	Offset *grad.Param `json:"-"` // (2·Relative+1)×Heads×1, begins at zero
}

// QKV is what a [MultiHead] reads.
type QKV struct {
	Query *grad.Var   // a row for each destination
	Key   *grad.Var   // a row for each source; nil: Query
	Value *grad.Var   // a row for each source; nil: Key
	Bias  message.Msg // added to the scores, such as E(x) with x E×1 or, for each head, E×Heads×1; −Inf takes the edge away; the zero Msg adds nothing
}

// Init makes the Params, as PyTorch does: W_q, W_k and W_v by Glorot's uniform distribution,
// over all three side by side where they are alike; W_o uniform up to 1/√Model; biases zero.
func (l *MultiHead) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	heads, m := cmp.Or(l.Heads, 1), l.Model
	if m < 1 || heads < 1 || m%heads != 0 {
		panic(&tensor.ShapeError{Op: "attention.MultiHead", Shapes: [][]int{{m}, {heads}}, Why: fmt.Sprintf("Model is %d and Heads %d: make Model a multiple of Heads", m, heads)})
	}
	if l.Rotary && m/heads%2 != 0 {
		panic(&tensor.ShapeError{Op: "attention.MultiHead", Shapes: [][]int{{m}, {heads}}, Why: fmt.Sprintf("a head has %d columns, and Rotary turns pairs of them: a head is of even width", m/heads)})
	}
	key, value, across := cmp.Or(l.Key, m), cmp.Or(l.Value, m), m
	if key == m && value == m {
		across = 3 * m
	}
	matrix := func(in int) *grad.Param {
		p := grad.NewParam(in, m)
		p.Value.GlorotUniform(rng, in, across, 1)
		return p
	}
	bias := func() *grad.Param { return compose.Bias(!l.NoBias, m) }
	l.WQuery, l.BQuery = matrix(m), bias()
	l.WKey, l.BKey = matrix(key), bias()
	l.WValue, l.BValue = matrix(value), bias()
	l.WOut, l.BOut = compose.Uniform(rng, m, m, m), bias()
	l.Offset = nil
	if l.Relative > 0 {
		l.Offset = grad.NewParam(2*l.Relative+1, heads, 1)
	}
}

// Forward is self-attention: a node of g hears its in-neighbours.
func (l *MultiHead) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	y, _ := l.Apply(t, g, QKV{Query: x})
	return y
}

// Cross is attention to other rows: query has a row for each destination of g, memory for
// each source.
func (l *MultiHead) Cross(t *grad.Tape, g *graph.Graph, query, memory *grad.Var) *grad.Var {
	y, _ := l.Apply(t, g, QKV{Query: query, Key: memory})
	return y
}

// Apply is attention with everything that it can read. The weights are what each edge is
// multiplied by, a number for each head, and cost nothing until [message.ApplyEdges].
func (l *MultiHead) Apply(t *grad.Tape, g *graph.Graph, in QKV) (y *grad.Var, weights message.Msg) {
	return l.attend(t, g, l.project(t, g, in))
}

// project returns what the heads compare and carry.
func (l *MultiHead) project(t *grad.Tape, g *graph.Graph, in QKV) message.Attention {
	if in.Key == nil {
		in.Key = in.Query
	}
	if in.Value == nil {
		in.Value = in.Key
	}
	l.check(g, in)
	a := message.Attention{Drop: l.Drop, Bias: in.Bias, Q: l.heads(t, in.Query, l.WQuery, l.BQuery), K: l.heads(t, in.Key, l.WKey, l.BKey), V: l.heads(t, in.Value, l.WValue, l.BValue)}
	if l.Rotary {
		at := placesOf(g)
		a.Q, a.K = Rotate(a.Q, at.dst), Rotate(a.K, at.src)
	}
	if l.Relative > 0 {
		if offset := message.W(t.Use(l.Offset)).PickOffset(-l.Relative, l.Relative); in.Bias.Empty() {
			a.Bias = offset
		} else {
			a.Bias = offset.Add(in.Bias)
		}
	}
	return a
}

// attend takes the means of the heads, and W_o.
func (l *MultiHead) attend(t *grad.Tape, g *graph.Graph, a message.Attention) (y *grad.Var, weights message.Msg) {
	y, weights = a.Apply(t, g)
	return l.out(t, y), weights
}

func (l *MultiHead) out(t *grad.Tape, y *grad.Var) *grad.Var {
	return compose.Affine(t, compose.MergeHeads(y, false), l.WOut, l.BOut)
}

// heads is a projection, with an axis for the heads.
func (l *MultiHead) heads(t *grad.Tape, x *grad.Var, w, b *grad.Param) *grad.Var {
	n := cmp.Or(l.Heads, 1)
	return compose.SplitHeads(compose.Affine(t, x, w, b), n, l.Model/n)
}

// scale is that of the scores, 1/√D.
func (l *MultiHead) scale() float64 { return 1 / math.Sqrt(float64(l.Model/cmp.Or(l.Heads, 1))) }

const multiHead = "attention.MultiHead"

func (l *MultiHead) check(g *graph.Graph, in QKV) {
	compose.WantGraph(multiHead, g)
	compose.WantInit(multiHead, l.WQuery, l.Model)
	compose.WantRows(multiHead, in.Query, l.Model, "Model")
	compose.WantMatrix(multiHead, "QKV.Query", in.Query)
	compose.WantMatrix(multiHead, "QKV.Key", in.Key)
	compose.WantMatrix(multiHead, "QKV.Value", in.Value)
	compose.WantWidth(multiHead, "QKV.Key", in.Key, cmp.Or(l.Key, l.Model), "Key")
	compose.WantWidth(multiHead, "QKV.Value", in.Value, cmp.Or(l.Value, l.Model), "Value")
	if n := in.Query.Dim(0); n != g.NumDst() {
		panic(&tensor.ShapeError{Op: multiHead, Shapes: [][]int{slices.Clone(in.Query.Shape()), {g.NumDst()}}, Why: "the queries want a row for each destination of the graph"})
	}
	if n, m := in.Key.Dim(0), in.Value.Dim(0); n != g.NumSrc() || m != g.NumSrc() {
		panic(&tensor.ShapeError{Op: multiHead, Shapes: [][]int{{n}, {m}, {g.NumSrc()}}, Why: "keys and values want a row for each source of the graph"})
	}
}

package message

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Msg is what every edge carries: an expression over the rows at its source, at
// its destination and of its own. Building one computes nothing. A Msg is a
// value; it can be used several times and in several others.
type Msg struct {
	codeLen, varsLen, attributesLen uint16 // how much of what follows is in use
	code                            [shortCode]ir.Node
	vars                            [shortVars]*grad.Var
	attributes                      [shortAttributes]ops.Attribute
	long                            *program // instead of all that, where it does not fit
}

// U is the row of x that belongs to the edge's source. x has a row for each
// source node.
func U(x *grad.Var) Msg { return leaf(ops.LeafU, x) }

// V is the row of x that belongs to the edge's destination. x has a row for
// each destination node; [OnDst] takes these from the rows of the sources.
func V(x *grad.Var) Msg { return leaf(ops.LeafV, x) }

// E is the edge's own row of x. The rows of x are in the graph's edge order; use
// [OnEdges] for rows in the order of the list the graph was made from.
func E(x *grad.Var) Msg { return leaf(ops.LeafE, x) }

// W is x itself, on every edge: an attention vector, or the weights of a
// relation. All axes of x belong to the message.
func W(x *grad.Var) Msg { return leaf(ops.LeafW, x) }

func (m Msg) unary(u vec.Unary, c float64) Msg {
	return m.then(ir.Node{Kind: ops.Unary, Fn: uint8(u), C: tensor.Float(c)})
}

func (m Msg) binary(b vec.Binary, o Msg) Msg {
	return m.with(&o, ir.Node{Kind: ops.Binary, Fn: uint8(b)})
}

func (m Msg) along(k ops.Kind) Msg { return m.then(ir.Node{Kind: k}) }

// Add returns m + o. The shapes broadcast as NumPy's do, after the edge's axis.
func (m Msg) Add(o Msg) Msg { return m.binary(vec.Add, o) }

// Sub returns m − o, with broadcasting.
func (m Msg) Sub(o Msg) Msg { return m.binary(vec.Sub, o) }

// Mul returns the product of elements, with broadcasting.
func (m Msg) Mul(o Msg) Msg { return m.binary(vec.Mul, o) }

// Div returns the quotient of elements, with broadcasting.
func (m Msg) Div(o Msg) Msg { return m.binary(vec.Div, o) }

// Min returns the smaller of two elements, with broadcasting.
func (m Msg) Min(o Msg) Msg { return m.binary(vec.Min, o) }

// Max returns the larger of two elements, with broadcasting.
func (m Msg) Max(o Msg) Msg { return m.binary(vec.Max, o) }

// Scale returns c·m.
func (m Msg) Scale(c float64) Msg { return m.unary(vec.Scale, c) }

// Shift returns m + c.
func (m Msg) Shift(c float64) Msg { return m.unary(vec.Shift, c) }

// Neg returns −m.
func (m Msg) Neg() Msg { return m.unary(vec.Neg, 0) }

// LeakyReLU returns m where it is positive, else slope·m.
func (m Msg) LeakyReLU(slope float64) Msg { return m.unary(vec.LeakyReLU, slope) }

// ReLU returns max(m, 0).
func (m Msg) ReLU() Msg { return m.unary(vec.ReLU, 0) }

// ELU returns m where it is positive, else eᵐ − 1.
func (m Msg) ELU() Msg { return m.unary(vec.ELU, 1) }

// Sigmoid returns 1/(1 + e⁻ᵐ).
func (m Msg) Sigmoid() Msg { return m.unary(vec.Sigmoid, 0) }

// Tanh returns the hyperbolic tangent of m.
func (m Msg) Tanh() Msg { return m.unary(vec.Tanh, 0) }

// Softplus returns log(1 + eᵐ).
func (m Msg) Softplus() Msg { return m.unary(vec.Softplus, 0) }

// Exp returns eᵐ.
func (m Msg) Exp() Msg { return m.unary(vec.Exp, 0) }

// Log returns the natural logarithm of m.
func (m Msg) Log() Msg { return m.unary(vec.Log, 0) }

// Sqrt returns the square root of m.
func (m Msg) Sqrt() Msg { return m.unary(vec.Sqrt, 0) }

// Abs returns |m|.
func (m Msg) Abs() Msg { return m.unary(vec.Abs, 0) }

// Sign returns −1, 0 or 1. Its gradient is zero.
func (m Msg) Sign() Msg { return m.unary(vec.Sign, 0) }

// SiLU returns m·sigmoid(m).
func (m Msg) SiLU() Msg { return m.unary(vec.SiLU, 0) }

// GELU returns m·Φ(m), where Φ is the distribution function of the normal
// distribution.
func (m Msg) GELU() Msg { return m.unary(vec.GELU, 0) }

// Sin returns the sine of m, an angle in radians.
func (m Msg) Sin() Msg { return m.unary(vec.Sin, 0) }

// Cos returns the cosine of m, an angle in radians.
func (m Msg) Cos() Msg { return m.unary(vec.Cos, 0) }

// Pow returns mᵖ, as [math.Pow] defines it: of a negative m NaN, unless p is
// whole. The gradient of m⁰ is zero.
func (m Msg) Pow(p float64) Msg { return m.unary(vec.Pow, p) }

// Dot returns the scalar products of m and o along the last axis, which is kept
// with length 1. The other axes broadcast.
func (m Msg) Dot(o Msg) Msg { return m.with(&o, ir.Node{Kind: ops.DotLast}) }

// MatMul returns the products of m's last axis with a matrix that all edges share:
// w is In×Out, and an edge's …×In becomes …×Out. More axes of w take the place of
// In too: with In×H×D an edge's features become a row for each head. The product
// is made where the message is evaluated, and stored for no edge.
func (m Msg) MatMul(w *grad.Var) Msg {
	if w == nil {
		panic(&grad.TapeError{Op: "message.MatMul", Why: "the matrix is nil"})
	}
	o := W(w)
	return m.with(&o, ir.Node{Kind: ops.MatMul})
}

// SumLast sums along the last axis, which is kept with length 1.
func (m Msg) SumLast() Msg { return m.along(ops.SumLast) }

// MaxLast is the largest element along the last axis, which is kept with length
// 1. Ties go to the first.
func (m Msg) MaxLast() Msg { return m.along(ops.MaxLast) }

// LogSumExpLast is log Σeᵐ along the last axis, which is kept with length 1.
func (m Msg) LogSumExpLast() Msg { return m.along(ops.LogSumExpLast) }

// Pick takes of a K×… message the row of the edge's kind, and loses the first
// axis: the weights of a relation, or of a relative position. kinds has an entry
// for each edge, in the graph's order, as [graph.Graph.Kinds] returns it.
func (m Msg) Pick(kinds []int32) Msg { return m.withAttribute(ops.Pick, ops.Attribute{Rows: kinds}) }

// PickOffset takes of a K×… message the row of the edge's offset, and loses the first
// axis: that of its destination less that of its source, as nodes are numbered in their
// sequence. It is how far the source lies back. An offset below lo counts as lo, one
// above hi as hi, and the first row is that of lo: so K is hi−lo+1. Relative positions
// up to c are W(table).PickOffset(-c, c), causal ones W(table).PickOffset(0, c).
//
// No list of kinds is made, so a table of biases for [graph.Complete], [graph.Causal],
// [graph.Band] or [graph.CausalBand] costs nothing for each edge. [graph.Graph.Places]
// says where nodes stand: in a batch counted in each member, in a view or a block as
// in the graph that it is made from, and in a level of a [Sweep] as in the swept graph,
// where the state before a root stands one before it.
func (m Msg) PickOffset(lo, hi int) Msg {
	if hi < lo || lo <= -math.MaxInt32/2 || hi >= math.MaxInt32/2 {
		panic(&tensor.ShapeError{Op: "message.PickOffset", Shapes: [][]int{{lo}, {hi}}, Why: "want offsets from the first to the second, less than 2³⁰ in magnitude"})
	}
	return m.withAttribute(ops.Pick, ops.Attribute{ByOffset: true, Lo: int32(lo), Hi: int32(hi)})
}

// Softmax normalises m over the in-edges of each destination, every column on
// its own. Where all entries are −∞ the result is zero.
func (m Msg) Softmax() Msg { return m.along(ops.Softmax) }

// LogSoftmax is the logarithm of [Msg.Softmax], computed without taking one of
// zero: the loss of a pointer network.
func (m Msg) LogSoftmax() Msg { return m.along(ops.LogSoftmax) }

// Normalise divides m by its sum over the in-edges of each destination, every
// column on its own. Where the sum is zero the result is zero.
func (m Msg) Normalise() Msg { return m.along(ops.Normalise) }

// Sparsemax normalises m over the in-edges of each destination, every column on its
// own, to max(m − τ, 0) with the τ that makes the sum 1: the point nearest to m among
// all weights. Edges far below the largest get exactly zero, and no gradient;
// those that weigh share theirs, less its mean (Martins and Astudillo, "From Softmax to
// Sparsemax", 2016). Equal entries weigh the same. As of a softmax, −∞ alone is zero,
// several +∞ share the weight evenly, and a NaN makes the destination's column NaN.
func (m Msg) Sparsemax() Msg { return m.along(ops.Sparsemax) }

// TopK keeps the k largest of m over the in-edges of each destination, every
// column on its own, and makes −∞ of the others, which then weigh nothing in a
// [Msg.Softmax]. Of weights, which are not negative, ReLU makes zero of them
// again. Ties go to the lowest edge; a NaN counts as largest. The gradient of
// what is not kept is zero.
func (m Msg) TopK(k int) Msg {
	if k < 0 {
		panic(&grad.TapeError{Op: "message.TopK", Why: fmt.Sprintf("cannot keep %d edges", k)})
	}
	return m.then(ir.Node{Kind: ops.TopK, K: int32(min(k, math.MaxInt32))})
}

// Hardmax is 1 for the largest of m over the in-edges of each destination, every
// column on its own, and 0 for the others. Ties go to the lowest edge; where all
// entries are −∞ the result is zero. It has no gradient.
func (m Msg) Hardmax() Msg { return m.then(ir.Node{Kind: ops.TopK, K: 1, Mark: true}) }

// Sample is hard attention: of the in-edges of each destination it draws one,
// every column on its own, with the probabilities that Softmax of m gives. drawn
// is 1 on that edge and 0 on the others and has no gradient; logp, whose
// gradient trains m, is the logarithm of the probability there and 0 on the
// others, so that its sum over the in-edges belongs to the draw. Drawing is, like
// [Msg.Dropout], a function of seed, step, place, edge and column. Where t does
// not record, the most probable edge is taken.
func (m Msg) Sample(t *grad.Tape) (drawn, logp Msg) {
	noisy := m
	if d := (*vec.Dropout)(t.NextDropout(0.5)); d != nil {
		noisy = m.withAttribute(ops.Gumbel, ops.Attribute{Drop: d})
	}
	drawn = noisy.Hardmax()
	low := tensor.New(1)
	low.Fill(-1e30) // what is not drawn may be −∞, and zero times that is not zero
	return drawn, m.LogSoftmax().Max(W(grad.Const(low))).Mul(drawn)
}

// Dropout sets a fraction p of the elements to zero and scales the others by
// 1/(1−p), while t records. An element is the edge and its column. The mask is
// drawn here: however often m is evaluated, backward included, it is the same.
func (m Msg) Dropout(t *grad.Tape, p float64) Msg {
	if !(p >= 0 && p <= 1) {
		panic(&grad.TapeError{Op: "message.Dropout", Why: fmt.Sprintf("a fraction of %v; want one from 0 to 1", p)})
	}
	d := (*vec.Dropout)(t.NextDropout(p))
	if d == nil {
		return m
	}
	return m.withAttribute(ops.Dropout, ops.Attribute{Drop: d})
}

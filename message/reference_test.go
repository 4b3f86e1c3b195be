package message_test

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// formula is a message on a graph, what reduces it, if anything, what its leaves are made of, and what follows.
type formula struct {
	g    *graph.Graph
	m    message.Msg
	by   []message.Reducer
	made reference.Made
	then following
	dy   func(y []rounding.Result) []rounding.Result // the gradients of the loss; nil: those of weigh
}

// following is what follows a message.
type following func(r *reference.Reference, y []rounding.Number) []rounding.Number

// results are what a formula says in float64 of its result and of the gradients of operands.
func (f formula) results(of ...[]tensor.Float) [][]rounding.Result {
	r := message.Reference(f.g, f.m, f.made)
	y := r.Edges()
	if f.by != nil {
		y = r.Reduced(message.Computing(f.by)...)
	}
	if f.then != nil {
		y = f.then(r, y)
	}
	if f.dy == nil {
		f.dy = given(weighing(len(y)))
	}
	out := [][]rounding.Result{r.Results(y)}
	gradients := r.Gradients(y, f.dy(out[0]))
	for _, x := range of {
		out = append(out, gradients(r.Of(x)))
	}
	return out
}

// given are gradients of the result that are known.
func given(dy []tensor.Float) func(y []rounding.Result) []rounding.Result {
	return func([]rounding.Result) []rounding.Result { return rounding.Exact(dy) }
}

// squares are the gradients of the sum of squares.
func squares(y []rounding.Result) []rounding.Result {
	dy := make([]rounding.Result, len(y))
	for i, v := range y {
		dy[i] = rounding.Result{Value: 2 * v.Value, Bound: 2 * v.Bound}
	}
	return dy
}

// sum is a message that is summed.
func sum(g *graph.Graph, m message.Msg) formula {
	return formula{g: g, m: m, by: []message.Reducer{message.Sum}}
}

// arrays are the arrays of Params.
func arrays(of ...*grad.Param) (out [][]tensor.Float) {
	for _, p := range of {
		out = append(out, p.Value.Data)
	}
	return out
}

// operandsOf are the arrays of the Params that have gradients, in their order.
func operandsOf(gs grad.Grads) (out [][]tensor.Float) {
	for _, g := range gs {
		out = append(out, g.Param.Value.Data)
	}
	return out
}

// biasedBy adds a bias to each row.
func biasedBy(b []tensor.Float) following {
	return func(r *reference.Reference, y []rounding.Number) []rounding.Number {
		bias := r.Of(b)
		for i, x := range y {
			y[i] = r.Sum(x, bias[i%len(bias)])
		}
		return y
	}
}

// headSums says of a leaf with one number a head that it is the sums over the heads of u or v.
func headSums(u, v *grad.Param) reference.Made {
	return func(r *reference.Reference, leaf ops.Kind, x *tensor.Dense) (out []rounding.Number) {
		of, n := u.Value, u.Value.Dim(-1)
		if leaf == ops.LeafV {
			of = v.Value
		}
		if leaf != ops.LeafU && leaf != ops.LeafV || x.Dim(-1) == n {
			return nil
		}
		all := r.Of(of.Data)
		for i := range x.Data {
			out = append(out, r.Sum(all[i*n:][:n]...))
		}
		return out
	}
}

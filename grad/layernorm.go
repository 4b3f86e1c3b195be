package grad

import (
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// LayerNorm normalises each row along the last axis,
//
//	y = (x − mean)/√(var + eps)·gain + bias
//
// var being the mean square of x − mean. gain and bias have an element for each
// column; nil means 1 and 0. Sums are float64.
func (x *Var) LayerNorm(gain, bias *Var, eps float64) *Var {
	of := normed{x, gain, bias, nil}
	op := of.begin("LayerNorm")
	y, rows := op.freshLike(x), leading(x.val.Shape())
	room := op.freshFloats(3 * rows)
	n := notes[layerNotes](op)
	*n = layerNotes{of, dense.LayerNorm{
		X: x.val.Data, D: x.Dim(-1), Gain: dataOf(gain), Bias: dataOf(bias), Eps: eps,
		Mean: room[:rows], Rest: room[rows : 2*rows], Scale: room[2*rows:],
	}}
	if !op.dry(0) {
		n.kernel.Forward(y.val.Data)
	}
	return op.recordBy(y, n)
}

// layerNotes is the pullback of a layer norm.
type layerNotes struct {
	of     normed
	kernel dense.LayerNorm
}

// Pull adds to the gradients of x, gain and bias.
func (n *layerNotes) Pull(dy *tensor.Dense) {
	to := dense.NormGrads{Gain: gradOf(n.of.gain), Bias: gradOf(n.of.bias)}
	if dx, fresh := n.of.x.freshGrad(); dx != nil {
		to.X, to.SetX = dx.Data, fresh
	}
	n.kernel.Backward(to, dy.Data)
}

// normed is what a normalisation takes: x, and with an element for each column, or
// nil, a gain, a bias and a shift.
type normed struct{ x, gain, bias, shift *Var }

// begin checks the operands and starts the operation.
func (n *normed) begin(name string) Op {
	var all [4]*Var
	xs := append(all[:0], n.x)
	for _, v := range [...]*Var{n.gain, n.bias, n.shift} {
		if v != nil {
			xs = append(xs, v)
		}
	}
	op := Begin(name, xs...)
	op.pullsLast(n.x)
	d := n.x.Value().Dim(-1)
	for _, v := range xs[1:] {
		if len(v.Value().Data) != d {
			panic(tensor.Mismatch("grad."+name, n.x, v))
		}
	}
	return op
}

// dataOf returns the elements of what may be nil.
func dataOf(v *Var) []tensor.Float {
	if v == nil {
		return nil
	}
	return v.val.Data
}

// gradOf returns the elements of the gradient of what may be nil; nil where none is
// wanted.
func gradOf(v *Var) []tensor.Float {
	if v == nil || !v.needs {
		return nil
	}
	return v.Grad().Data
}

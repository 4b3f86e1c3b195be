package grad

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// NoLabel is the label of a row that does not count in a loss.
const NoLabel = -1

// CrossEntropy is a loss of rows of logits against one label each, with class
// weights w and smoothing s:
//
//	ℓ_i = −(1−s)·w_y·log p_iy − s/C·Σ_c w_c·log p_ic,   p = softmax(logits)
//
// The zero value is −log p_iy, and the loss is the mean over the rows, divided
// by the sum of w_y. Rows labelled NoLabel are left out of both.
type CrossEntropy struct {
	Weights   []float64 // of each class; nil: all 1
	Smoothing float64   // s, from 0 to 1
	Sum       bool      // add up the rows instead of taking their mean
}

// CrossEntropy returns the mean of −log softmax(x)_label over the rows of x; of
// no rows zero.
func (x *Var) CrossEntropy(labels []int32) *Var { return CrossEntropy{}.Of(x, labels) }

// Of returns the loss of logits x, a matrix of a row for each label. It panics
// with a [*tensor.ShapeError] on a label that is neither a column nor NoLabel.
func (c CrossEntropy) Of(x *Var, labels []int32) *Var {
	op := Begin("CrossEntropy", x)
	c.check(x, labels)
	n, d := x.Dim(0), x.Dim(1)
	logp := op.Floats(n * d)
	loss, total := 0.0, 0.0
	for i, l := range labels {
		if l == NoLabel {
			continue
		}
		row, out := x.val.Row(i), logp[i*d:i*d+d]
		simd.LogSoftmax(out, row)
		loss -= (1 - c.Smoothing) * c.weight(int(l)) * float64(out[l])
		if c.Smoothing > 0 {
			for j, v := range out {
				loss -= c.Smoothing / float64(d) * c.weight(j) * float64(v)
			}
		}
		total += c.weight(int(l))
	}
	scale := 1.0
	if !c.Sum {
		if scale = 0; total > 0 {
			scale = 1 / total
		}
	}
	y := op.New(1)
	y.val.Data[0] = tensor.Float(loss * scale)
	return op.Record(y, func(dy *tensor.Dense) {
		dx, g := x.Grad(), scale*float64(dy.Data[0])
		op.Scratch(d, func(p []tensor.Float) {
			for i, l := range labels {
				if l != NoLabel {
					c.pullRow(dx.Row(i), p, logp[i*d:i*d+d], int(l), g)
				}
			}
		})
	})
}

// pullRow adds g·∂ℓ/∂x of one row: with t_c the target weight of class c, it is
// p_c·Σt − t_c.
func (c CrossEntropy) pullRow(dx, p, logp []tensor.Float, label int, g float64) {
	simd.Exp.Forward(p, logp, 0)
	d, sum := float64(len(p)), (1-c.Smoothing)*c.weight(label)
	if c.Smoothing > 0 {
		for j := range p {
			sum += c.Smoothing / d * c.weight(j)
		}
	}
	for j := range p {
		t := 0.0
		if c.Smoothing > 0 {
			t = c.Smoothing / d * c.weight(j)
		}
		if j == label {
			t += (1 - c.Smoothing) * c.weight(j)
		}
		dx[j] += tensor.Float(g * (float64(p[j])*sum - t))
	}
}

func (c CrossEntropy) weight(class int) float64 {
	if c.Weights == nil {
		return 1
	}
	return c.Weights[class]
}

func (c CrossEntropy) check(x *Var, labels []int32) {
	bad := func(why string) {
		panic(&tensor.ShapeError{Op: "grad.CrossEntropy", Shapes: [][]int{slices.Clone(x.Shape()), {len(labels)}}, Why: why})
	}
	if len(x.Value().Shape()) != 2 || x.Dim(0) != len(labels) {
		bad("a matrix needs a label for each row")
	}
	if c.Weights != nil && len(c.Weights) != x.Dim(1) {
		bad(fmt.Sprintf("%d class weights", len(c.Weights)))
	}
	for i, l := range labels {
		if l != NoLabel && uint(l) >= uint(x.Dim(1)) {
			bad(fmt.Sprintf("label %d of row %d is no class", l, i))
		}
	}
}

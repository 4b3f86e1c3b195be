package grad_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// param returns a Param of normal numbers. Same seed, same numbers.
func param(seed uint64, shape ...int) *grad.Param {
	p := grad.NewParam(shape...)
	p.Value.Normal(rand.New(rand.NewPCG(seed, 1)), 0, 1)
	return p
}

// weigh makes a scalar of y in which every element counts differently.
func weigh(y *grad.Var) *grad.Var {
	w := tensor.New(y.Shape()...)
	w.Normal(rand.New(rand.NewPCG(99, 1)), 0, 1)
	return y.Mul(grad.Const(w)).Sum()
}

// TestOperations checks the gradient of every operation of this package.
func TestOperations(t *testing.T) {
	x, y := param(1, 4, 3), param(2, 4, 3)
	row, col, cube, head := param(3, 3), param(4, 4, 1), param(5, 4, 2, 3), param(6, 2, 3)
	other := param(60, 2, 3)
	heads, classes := param(61, 5, 2, 3), param(62, 3, 20) // more than are done one by one
	w, pos, long := param(7, 3, 5), param(8, 4, 3), param(9, 3, 4, 2)
	for i, v := range pos.Value.Data {
		pos.Value.Data[i] = 0.3 + v*v
	}
	bag := grad.Const(sparse.FromDense(tensor.Of([]tensor.Float{1, 0, 2, 0, 0, 0, 0, 3, 0, -1, 1, 0}, 4, 3)))
	type vars = []*grad.Var
	for name, c := range map[string]struct {
		in []*grad.Param
		f  func(t *grad.Tape, v vars) *grad.Var
	}{
		"Add":          {[]*grad.Param{x, y}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Add(v[1]) }},
		"Add row":      {[]*grad.Param{x, row}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Add(v[1]) }},
		"Sub col":      {[]*grad.Param{x, col}, func(_ *grad.Tape, v vars) *grad.Var { return v[1].Sub(v[0]) }},
		"Mul":          {[]*grad.Param{x, y}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Mul(v[1]) }},
		"Mul self":     {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Mul(v[0]) }},
		"Mul cube":     {[]*grad.Param{cube, head}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Mul(v[1]) }},
		"Mul outer":    {[]*grad.Param{col, row}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Mul(v[1]) }},
		"Div":          {[]*grad.Param{x, pos}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Div(v[1]) }},
		"Min":          {[]*grad.Param{x, y}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Min(v[1]) }},
		"Max":          {[]*grad.Param{x, row}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Max(v[1]) }},
		"Scale":        {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Scale(-2.5) }},
		"OneMinus":     {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].OneMinus() }},
		"ReLU":         {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Activate(grad.ReLU) }},
		"LeakyReLU":    {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].LeakyReLU(0.2) }},
		"ELU":          {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Activate(grad.ELU) }},
		"Sigmoid":      {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Activate(grad.Sigmoid) }},
		"Tanh":         {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Activate(grad.Tanh) }},
		"Softplus":     {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Activate(grad.Softplus) }},
		"SiLU":         {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Activate(grad.SiLU) }},
		"GELU":         {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Activate(grad.GELU) }},
		"GELUTanh":     {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Activate(grad.GELUTanh) }},
		"SELU":         {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Activate(grad.SELU) }},
		"Exp":          {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Exp() }},
		"Log":          {[]*grad.Param{pos}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Log() }},
		"Sqrt":         {[]*grad.Param{pos}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Sqrt() }},
		"Abs":          {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Abs() }},
		"Square":       {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Square() }},
		"Reciprocal":   {[]*grad.Param{pos}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Reciprocal() }},
		"MatMul":       {[]*grad.Param{x, w}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].MatMul(v[1]) }},
		"MatMul cube":  {[]*grad.Param{cube, w}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].MatMul(v[1]) }},
		"MatMul bag":   {[]*grad.Param{w}, func(_ *grad.Tape, v vars) *grad.Var { return bag.MatMul(v[0]) }},
		"Dropout bag":  {[]*grad.Param{w}, func(t *grad.Tape, v vars) *grad.Var { return t.Dropout(bag, 0.4).MatMul(v[0]) }},
		"Dropout":      {[]*grad.Param{cube}, func(t *grad.Tape, v vars) *grad.Var { return t.Dropout(v[0], 0.4) }},
		"Reshape":      {[]*grad.Param{cube}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Reshape(2, -1).Tanh() }},
		"RowRange":     {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].RowRange(1, 3).Tanh() }},
		"view of view": {[]*grad.Param{cube}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].RowRange(1, 3).Reshape(-1, 2).Tanh() }},
		"Rows":         {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Rows([]int32{2, 0, 2}) }},
		"Concat":       {[]*grad.Param{x, col, y}, func(_ *grad.Tape, v vars) *grad.Var { return grad.Concat(v...) }},
		"Split":        {[]*grad.Param{cube}, func(_ *grad.Tape, v vars) *grad.Var { s := v[0].Split(1, 2); return s[1].Mul(s[0]) }},
		"Dot twice": {[]*grad.Param{cube, head, other}, func(_ *grad.Tape, v vars) *grad.Var {
			a, b := dots(v[0].Scale(1), v[1], v[2])
			return a.Mul(b.Tanh())
		}},
		"Dot twice/one": {[]*grad.Param{cube, head, other}, func(_ *grad.Tape, v vars) *grad.Var {
			a, _ := dots(v[0].Scale(1), v[1], v[2])
			return a
		}},
		"Dot twice/same": {[]*grad.Param{cube, head}, func(_ *grad.Tape, v vars) *grad.Var {
			a, b := dots(v[0].Scale(1), v[1], v[1])
			return a.Mul(b.Tanh())
		}},
		"Dot":         {[]*grad.Param{cube, head}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Dot(v[1]) }},
		"Dot of many": {[]*grad.Param{heads, head}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Dot(v[1]) }},
		"Dot twice of many": {[]*grad.Param{heads, head, other}, func(_ *grad.Tape, v vars) *grad.Var {
			a, b := dots(v[0].Scale(1), v[1], v[2])
			return a.Mul(b.Tanh())
		}},
		"Dot outer":    {[]*grad.Param{x, row}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Dot(v[1]) }},
		"SumAxis 0":    {[]*grad.Param{long}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].SumAxis(0) }},
		"MeanAxis 1":   {[]*grad.Param{long}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].MeanAxis(1) }},
		"SumAxis -1":   {[]*grad.Param{long}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].SumAxis(-1) }},
		"Mean":         {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Square().Mean() }},
		"Roll":         {[]*grad.Param{cube}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Roll(-1) }},
		"Softmax":      {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].Softmax() }},
		"LogSoftmax":   {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].LogSoftmax() }},
		"CrossEntropy": {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var { return v[0].CrossEntropy([]int32{2, 0, grad.NoLabel, 1}) }},
		"CrossEntropy of many": {[]*grad.Param{classes}, func(_ *grad.Tape, v vars) *grad.Var {
			return v[0].CrossEntropy([]int32{17, grad.NoLabel, 4})
		}},
		"CrossEntropy weighted": {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var {
			return grad.CrossEntropy{Weights: []float64{1, 2, 0.5}, Smoothing: 0.1}.Of(v[0], []int32{2, 0, grad.NoLabel, 1})
		}},
		"CrossEntropy sum": {[]*grad.Param{x}, func(_ *grad.Tape, v vars) *grad.Var {
			return grad.CrossEntropy{Reduction: grad.SumLoss}.Of(v[0], []int32{2, 0, 1, 1})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			gradtest.Check(t, c.in, func(tp *grad.Tape) *grad.Var {
				var v vars
				for _, p := range c.in {
					v = append(v, tp.Use(p))
				}
				return weigh(c.f(tp, v))
			})
		})
	}
}

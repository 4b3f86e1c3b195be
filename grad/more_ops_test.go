package grad_test

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// check is a gradient check of an operation on Params.
type check struct {
	in []*grad.Param
	f  func(t *grad.Tape, v []*grad.Var) *grad.Var
}

func (c check) run(t *testing.T) {
	t.Helper()
	gradtest.Check(t, c.in, func(tp *grad.Tape) *grad.Var {
		var v []*grad.Var
		for _, p := range c.in {
			v = append(v, tp.Use(p))
		}
		return weigh(c.f(tp, v))
	})
}

func of(f func(v []*grad.Var) *grad.Var, in ...*grad.Param) check {
	return check{in, func(_ *grad.Tape, v []*grad.Var) *grad.Var { return f(v) }}
}

func one(f func(x *grad.Var) *grad.Var, in *grad.Param) check {
	return of(func(v []*grad.Var) *grad.Var { return f(v[0]) }, in)
}

func two(f func(x, y *grad.Var) *grad.Var, x, y *grad.Param) check {
	return of(func(v []*grad.Var) *grad.Var { return f(v[0], v[1]) }, x, y)
}

// apart returns a Param in which no two elements are close, as maxima, clamps and
// kinks need.
func apart(seed uint64, shape ...int) *grad.Param {
	p := param(seed, shape...)
	for i := range p.Value.Data {
		p.Value.Data[i] = tensor.Float((i*7+3)%len(p.Value.Data))*0.37 - 1.53
	}
	return p
}

func TestShapeGradients(t *testing.T) {
	x, y, cube := param(1, 4, 3), param(2, 4, 3), param(3, 2, 3, 4)
	row, long := param(4, 1, 3), apart(5, 3, 4, 2)
	for name, c := range map[string]check{
		"InsertAxis":   one(func(x *grad.Var) *grad.Var { return x.InsertAxis(1).Tanh() }, x),
		"Transpose":    one((*grad.Var).Transpose, x),
		"Transpose 3":  one(func(x *grad.Var) *grad.Var { return x.Transpose().Tanh() }, cube),
		"Expand":       one(func(x *grad.Var) *grad.Var { return x.Expand(2, 4, 3) }, row),
		"Expand last":  one(func(x *grad.Var) *grad.Var { return x.Reshape(4, 3, 1).Expand(4, 3, 5) }, x),
		"ConcatAxis 0": two(func(x, y *grad.Var) *grad.Var { return grad.ConcatAxis(0, x, y, x) }, x, row),
		"ConcatAxis 1": two(func(x, y *grad.Var) *grad.Var { return grad.ConcatAxis(1, x, y.Reshape(4, -1, 3)) }, param(6, 4, 2, 3), y),
		"Stack":        two(func(x, y *grad.Var) *grad.Var { return grad.Stack(x, y, x) }, x, y),
		"Slice":        one(func(x *grad.Var) *grad.Var { return x.Slice(1, 1, 3) }, cube),
		"SplitAxis": one(func(x *grad.Var) *grad.Var {
			s := x.SplitAxis(0, 1, 3)
			return s[1].Mul(s[0])
		}, x),
		"ScatterAdd":        one(func(x *grad.Var) *grad.Var { return x.ScatterAdd([]int32{2, 0, 2, 4}, 5) }, x),
		"Embedding":         one(func(x *grad.Var) *grad.Var { return x.Embedding([]int32{2, grad.NoLabel, 2, 0}, grad.NoLabel) }, x),
		"MaxAxis 0":         one(func(x *grad.Var) *grad.Var { return x.MaxAxis(0) }, long),
		"MaxAxis 1":         one(func(x *grad.Var) *grad.Var { return x.MaxAxis(1) }, long),
		"MinAxis -1":        one(func(x *grad.Var) *grad.Var { return x.MinAxis(-1) }, long),
		"SumAxes":           one(func(x *grad.Var) *grad.Var { return x.Square().SumAxes(0, -1) }, long),
		"MeanAxes":          one(func(x *grad.Var) *grad.Var { return x.Square().MeanAxes(1, 2) }, long),
		"TopK":              one(func(x *grad.Var) *grad.Var { v, _ := x.TopK(2); return v }, apart(6, 3, 5)),
		"Maxout":            one(func(x *grad.Var) *grad.Var { return x.Maxout(2) }, apart(7, 3, 6)),
		"Dot of pairs":      two((*grad.Var).Dot, x, y), // not of rows with one row
		"Dot of a column":   two((*grad.Var).Dot, param(16, 4, 1, 3), param(17, 2, 3)),
		"CumSum":            one((*grad.Var).CumSum, cube),
		"CumProd":           one((*grad.Var).CumProd, cube),
		"Outer":             two((*grad.Var).Outer, x, param(8, 4, 2)),
		"CircularConv":      two((*grad.Var).CircularConv, x, param(9, 4, 2)),
		"CircularConv taps": two((*grad.Var).CircularConv, x, param(9, 3)),
		"MatMul batch":      two((*grad.Var).MatMul, cube, param(10, 2, 4, 5)),
		"AddProduct":        two(func(x, w *grad.Var) *grad.Var { return x.MatMul(w).Tanh().AddProduct(x, w) }, x, param(18, 3, 4)),
		"MatMulT":           two((*grad.Var).MatMulT, x, param(11, 5, 3)),
		"MatMulT batch":     two((*grad.Var).MatMulT, cube, param(12, 2, 5, 4)),
		"MatMulT four axes": two((*grad.Var).MatMulT, param(13, 2, 2, 3, 4), param(14, 2, 2, 5, 4)),
		"L2Normalise":       one((*grad.Var).L2Normalise, x),
		"Where": two(func(x, y *grad.Var) *grad.Var {
			return grad.Where(grad.Const(tensor.Of([]tensor.Float{1, 0, 1}, 3)), x, y)
		}, x, row),
		"Clamp":              one(func(x *grad.Var) *grad.Var { return x.Clamp(-0.6, 0.8) }, apart(15, 4, 3)),
		"Pow 3":              one(func(x *grad.Var) *grad.Var { return x.Pow(3) }, x),
		"Pow -1.5":           one(func(x *grad.Var) *grad.Var { return x.Square().Shift(0.5).Pow(-1.5) }, x),
		"Pow 0":              one(func(x *grad.Var) *grad.Var { return x.Pow(0).Add(x) }, x),
		"LogSumExp":          one((*grad.Var).LogSumExp, cube),
		"LogSumExpAxis":      one(func(x *grad.Var) *grad.Var { return x.LogSumExpAxis(1) }, cube),
		"Sin":                one((*grad.Var).Sin, x),
		"Cos":                one((*grad.Var).Cos, x),
		"GELU":               one((*grad.Var).GELU, x),
		"GELUTanh":           one((*grad.Var).GELUTanh, x),
		"SELU":               one((*grad.Var).SELU, x),
		"ELUAlpha":           one(func(x *grad.Var) *grad.Var { return x.ELUAlpha(0.3) }, x),
		"LogSigmoid":         one((*grad.Var).LogSigmoid, x),
		"Mish":               one((*grad.Var).Mish, x),
		"Dropout of a slice": {[]*grad.Param{x}, func(t *grad.Tape, v []*grad.Var) *grad.Var { return t.Dropout(v[0].Slice(0, 1, 3), 0.3) }},
	} {
		t.Run(name, c.run)
	}
}

// TestCumProdZeros checks the gradient where a division would fail.
func TestCumProdZeros(t *testing.T) {
	for _, zeros := range [][]int{{0}, {2}, {4}, {1, 3}, {0, 1, 2, 3, 4}} {
		p := param(1, 1, 5)
		for _, i := range zeros {
			p.Value.Data[i] = 0
		}
		one((*grad.Var).CumProd, p).run(t)
	}
}

func TestLinearGradients(t *testing.T) {
	x, w, b, cube := param(1, 4, 3), param(2, 3, 5), param(3, 5), param(4, 2, 2, 3)
	bag := grad.Const(sparse.FromDense(tensor.Of([]tensor.Float{1, 0, 2, 0, 0, 0, 0, 3, 0, -1, 1, 0}, 4, 3)))
	for _, a := range []grad.Activation{grad.Identity, grad.ReLU, grad.ELU, grad.SiLU, grad.Sigmoid, grad.Tanh, grad.Softplus} {
		t.Run("activation "+string(a), func(t *testing.T) {
			of(func(v []*grad.Var) *grad.Var { return v[0].Linear(v[1], v[2], a) }, x, w, b).run(t)
			of(func(v []*grad.Var) *grad.Var { return v[0].Linear(v[1], v[2], a) }, cube, w, b).run(t)
			of(func(v []*grad.Var) *grad.Var { return v[0].Linear(v[1], nil, a) }, x, w).run(t)
			of(func(v []*grad.Var) *grad.Var { return bag.Linear(v[0], v[1], a) }, w, b).run(t)
		})
		got := grad.Const(x.Value).Linear(grad.Const(w.Value), grad.Const(b.Value), a).Value()
		want := grad.Const(x.Value).MatMul(grad.Const(w.Value)).Add(grad.Const(b.Value)).Activate(a).Value()
		for i, v := range want.Data {
			if got.Data[i] != v {
				t.Errorf("Linear with %q: element %d is %v, of single operations %v", a, i, got.Data[i], v)
			}
		}
	}
}

func TestNormGradients(t *testing.T) {
	normGradients(t, 18)
	t.Run("few elements", func(t *testing.T) { normGradients(t, 5) })
}

// normGradients checks norms of rows of d elements.
func normGradients(t *testing.T, d int) {
	x, gain, bias, shift := param(1, 7, d), param(2, d), param(3, d), param(4, d)
	at := []int{0, 2, 2, 3, 7}
	stats := func() *grad.RunningStats {
		v := param(6, d)
		for i, f := range v.Value.Data {
			v.Value.Data[i] = f*f + 0.5
		}
		v.Frozen = true
		return &grad.RunningStats{Mean: &grad.Param{Value: param(5, d).Value, Frozen: true}, Variance: v, Fixed: true}
	}
	affine := func(v []*grad.Var) grad.Affine { return grad.Affine{Gain: v[1], Bias: v[2]} }
	all := []*grad.Param{x, gain, bias}
	for name, c := range map[string]check{
		"LayerNorm":       of(func(v []*grad.Var) *grad.Var { return v[0].LayerNorm(v[1], v[2], 1e-2) }, all...),
		"LayerNorm bare":  one(func(x *grad.Var) *grad.Var { return x.LayerNorm(nil, nil, 1e-2) }, x),
		"LayerNorm gain":  two(func(x, g *grad.Var) *grad.Var { return x.LayerNorm(g, nil, 0) }, x, gain),
		"BatchNorm":       {all, func(t *grad.Tape, v []*grad.Var) *grad.Var { return t.BatchNorm(v[0], affine(v), nil, 1e-2) }},
		"BatchNorm fixed": {all, func(t *grad.Tape, v []*grad.Var) *grad.Var { return t.BatchNorm(v[0], affine(v), stats(), 1e-2) }},
		"GraphNorm": of(func(v []*grad.Var) *grad.Var {
			return v[0].GraphNorm(at, grad.Affine{Gain: v[1], Bias: v[2], Shift: v[3]}, 1e-2)
		}, x, gain, bias, shift),
		"GraphNorm shift": two(func(x, s *grad.Var) *grad.Var { return x.GraphNorm(at, grad.Affine{Shift: s}, 1e-2) }, x, shift),
		"PairNorm":        one(func(x *grad.Var) *grad.Var { return grad.PairNorm{Scale: 1.7, Eps: 1e-2}.Of(x, at) }, x),
		"PairNorm each": one(func(x *grad.Var) *grad.Var {
			return grad.PairNorm{Scale: 1.7, Each: true, Eps: 0.1}.Of(x, []int{0, 3, 7})
		}, x),
	} {
		t.Run(name, c.run)
	}
}

func TestLossGradients(t *testing.T) {
	x, y, kinks := param(1, 4, 3), param(2, 4, 3), apart(3, 4, 3)
	target := tensor.Of([]tensor.Float{1, 0, 1, 0.3, 0, 1, 1, 1, 0, 0.5, 0, 1}, 4, 3)
	nan := tensor.Float(math.NaN())
	holes := grad.Const(tensor.Of([]tensor.Float{1, nan, 1, 0.3, 0, nan, 1, 1, 0, 0.5, 0, 1}, 4, 3))
	probs := param(4, 4, 3)
	for i, v := range probs.Value.Data {
		probs.Value.Data[i] = 0.1 + v*v
	}
	labels := []int32{2, 0, grad.NoLabel, 1}
	for _, r := range []grad.Reduction{grad.MeanLoss, grad.SumLoss, grad.EachLoss, grad.BatchMean} {
		l := grad.Loss{Reduction: r}
		skip := grad.Loss{Reduction: r, SkipMissing: true}
		for name, c := range map[string]check{
			"MSE":         two(l.MSE, x, y),
			"MSE missing": one(func(x *grad.Var) *grad.Var { return skip.MSE(x, holes) }, x),
			"L1":          two(l.L1, x, y),
			"Huber":       two(func(x, y *grad.Var) *grad.Var { return l.Huber(x, y, 0.7) }, x, y),
			"SmoothL1":    two(func(x, y *grad.Var) *grad.Var { return l.SmoothL1(x, y, 0.5) }, x, y),
			"KL":          two(l.KL, x, probs),
			"Ranking":     two(func(x, y *grad.Var) *grad.Var { return l.Ranking(x, y, 0.4) }, kinks, y),
			"BCE":         one(func(x *grad.Var) *grad.Var { return grad.BCE{Loss: l}.Of(x, grad.Const(target)) }, x),
			"BCE weighted": one(func(x *grad.Var) *grad.Var {
				return grad.BCE{Loss: skip, PosWeight: []float64{1, 2, 0.5}, Weights: tensor.Of([]tensor.Float{1, 2, 3, 4}, 4, 1)}.Of(x, holes)
			}, x),
			"Hinge": one(func(x *grad.Var) *grad.Var { return grad.Hinge{Reduction: r, Margin: 0.9}.Of(x, labels) }, kinks),
			"NLL":   one(func(x *grad.Var) *grad.Var { return grad.CrossEntropy{Reduction: r}.OfLog(x, labels) }, x),
			"NLL smooth": one(func(x *grad.Var) *grad.Var {
				return grad.CrossEntropy{Reduction: r, Smoothing: 0.2, Weights: []float64{1, 2, 0.5}}.OfLog(x, labels)
			}, x),
			"CrossEntropy": one(func(x *grad.Var) *grad.Var {
				return grad.CrossEntropy{Reduction: r, Smoothing: 0.2, Weights: []float64{1, 2, 0.5}, Mask: []bool{true, false, true, true}}.Of(x, labels)
			}, x),
		} {
			t.Run(name, c.run)
		}
	}
	one(func(x *grad.Var) *grad.Var {
		return x.Reshape(-1).Reinforce([]float64{1, -2, 3, 4, 5, 6, -7, 8, 9, 0.5, 0, 1})
	}, x).run(t)
	one(func(x *grad.Var) *grad.Var { return x.MSE(grad.Const(target)).Add(x.L1(grad.Const(target))) }, x).run(t)
	one(func(x *grad.Var) *grad.Var { return x.BCE(grad.Const(target)).Add(x.NLL(labels)) }, x).run(t)
}

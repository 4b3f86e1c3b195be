package layers_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// rowLayer is a layer that needs no graph.
type rowLayer interface {
	Init(rng *rand.Rand)
	Forward(t *grad.Tape, x *grad.Var) *grad.Var
}

// rowLayers is every such layer under every option, for rows of 3.
func rowLayers() map[string]rowLayer {
	type mlp = layers.MLP
	return map[string]rowLayer{
		"Linear":              &layers.Linear{In: 3, Out: 2},
		"Linear without bias": &layers.Linear{In: 3, Out: 4, NoBias: true},
		"MLP":                 &mlp{Widths: []int{3, 5, 4, 2}, Activation: grad.Tanh},
		"MLP of one layer":    &mlp{Widths: []int{3, 2}, NoBias: true},
		"MLP with norms":      &mlp{Widths: []int{3, 5, 4, 2}, Activation: grad.ELU, BatchNorm: true},
		"MLP of ReLU":         &mlp{Widths: []int{3, 6, 2}},
		"LayerNorm":           &layers.LayerNorm{Width: 3},
		"LayerNorm plain":     &layers.LayerNorm{Width: 3, Eps: 0.1, NoAffine: true},
		"BatchNorm":           &layers.BatchNorm{Width: 3},
		"BatchNorm plain":     &layers.BatchNorm{Width: 3, Eps: 0.1, NoAffine: true},
		"BatchNorm fixed":     &layers.BatchNorm{Width: 3, Fixed: true},
	}
}

// fill initialises l with random Params and returns random rows.
func fill(l rowLayer, shape ...int) *grad.Param {
	rng := rand.New(rand.NewPCG(2, 7))
	l.Init(rng)
	for name, p := range grad.Params(l) {
		p.Value.Normal(rng, 0, 0.7)
		if strings.HasSuffix(name, "Variance") {
			p.Value.Uniform(rng, 0.5, 2)
		}
	}
	x := grad.NewParam(shape...)
	x.Value.Normal(rng, 0.3, 1)
	return x
}

// normalised takes the means off groups of numbers and divides by the deviation.
func normalised(x matrix, eps float64) matrix {
	y := make(matrix, len(x))
	for i, row := range x {
		mean, square := 0.0, 0.0
		for _, v := range row {
			mean += v / float64(len(row))
		}
		for _, v := range row {
			square += (v - mean) * (v - mean) / float64(len(row))
		}
		for _, v := range row {
			y[i] = append(y[i], (v-mean)/math.Sqrt(square+eps))
		}
	}
	return y
}

// transposed exchanges rows and columns.
func transposed(x matrix) matrix {
	y := make(matrix, len(x[0]))
	for _, row := range x {
		for j, v := range row {
			y[j] = append(y[j], v)
		}
	}
	return y
}

// scaled is x·gain + b, column by column.
func scaled(x matrix, gain, b *grad.Param) matrix {
	for _, row := range x {
		for j := range row {
			if gain != nil {
				row[j] = row[j]*float64(gain.Value.Data[j]) + float64(b.Value.Data[j])
			}
		}
	}
	return x
}

// rowOracle is what l makes of the rows x while training.
func rowOracle(l rowLayer, x matrix) matrix {
	eps := func(e float64) float64 {
		if e == 0 {
			return 1e-5
		}
		return e
	}
	switch l := l.(type) {
	case *layers.Linear:
		return affine(x, l.W, l.B)
	case *layers.LayerNorm:
		return scaled(normalised(x, eps(l.Eps)), l.Gain, l.B)
	case *layers.BatchNorm:
		if !l.Fixed {
			return scaled(transposed(normalised(transposed(x), eps(l.Eps))), l.Gain, l.B)
		}
		for _, row := range x {
			for j := range row {
				row[j] = (row[j] - float64(l.Mean.Value.Data[j])) / math.Sqrt(float64(l.Variance.Value.Data[j])+eps(l.Eps))
			}
		}
		return scaled(x, l.Gain, l.B)
	case *layers.MLP:
		for i, layer := range l.Layers {
			x = affine(x, layer.W, layer.B)
			if i+1 == len(l.Layers) {
				break
			}
			if l.BatchNorm {
				x = rowOracle(l.Norms[i], x)
			}
			act := l.Activation
			if act == "" {
				act = grad.ReLU
			}
			x = activated(x, nil, act)
		}
	}
	return x
}

// Layers of rows equal their formulas in loops, of arrays of more axes too, and
// have the gradients of differences.
func TestRows(t *testing.T) {
	for name, l := range rowLayers() {
		t.Run(name, func(t *testing.T) {
			for _, shape := range [][]int{{7, 3}, {2, 3, 3}} {
				x := fill(l, shape...)
				y := l.Forward(grad.NewTape(1), grad.Const(x.Value)).Value()
				for i, row := range rowOracle(l, values(x)) {
					compare.Near(t, fmt.Sprintf("row %d of %v", i, shape), y.Data[i*len(row):][:len(row)], row, compare.Part(2e-5))
				}
				if gradtest.Sharp {
					gradtest.Check(t, []any{l, x}, func(tp *grad.Tape) *grad.Var { return weigh(l.Forward(tp, tp.Use(x))) })
				}
			}
			if y := l.Forward(grad.NewTape(1), grad.Const(tensor.New(0, 3))); y.Dim(0) != 0 {
				t.Errorf("no rows become %v", y.Shape())
			}
		})
	}
}

// An MLP drops hidden elements while training, and only then.
func TestMLPDropout(t *testing.T) {
	l := &layers.MLP{Widths: []int{3, 20, 2}, Drop: 0.5}
	x := grad.Const(fill(l, 7, 3).Value)
	if slices.Equal(l.Forward(grad.NewTape(1), x).Value().Data, l.Forward(nil, x).Value().Data) {
		t.Error("training equals evaluation")
	}
}

// Running statistics move once a step, and not under an eval tape; Fixed keeps
// them.
func TestRunningStatistics(t *testing.T) {
	l := &layers.BatchNorm{Width: 3, Momentum: 0.25}
	x := fill(l, 7, 3)
	step := func(tp *grad.Tape) (mean, variance []tensor.Float) {
		y := l.Forward(tp, grad.Const(x.Value))
		if tp.Recording() {
			tp.Backward(weigh(y))
		}
		return slices.Clone(l.Mean.Value.Data), slices.Clone(l.Variance.Value.Data)
	}
	mean, variance := step(grad.NewEval())
	next, wide := step(grad.NewTape(1))
	for j, row := range transposed(values(x)) {
		m, s := 0.0, 0.0
		for _, v := range row {
			m += v / 7
		}
		for _, v := range row {
			s += (v - m) * (v - m) / 6
		}
		if got, want := float64(next[j]), 0.75*float64(mean[j])+0.25*m; math.Abs(got-want) > 1e-5 {
			t.Errorf("running mean %d is %v, want %v", j, got, want)
		}
		if got, want := float64(wide[j]), 0.75*float64(variance[j])+0.25*s; math.Abs(got-want) > 1e-5 {
			t.Errorf("running variance %d is %v, want %v", j, got, want)
		}
	}
	again, _ := step(nil)
	l.Fixed = true
	fixed, _ := step(grad.NewTape(1))
	if !slices.Equal(again, next) || !slices.Equal(fixed, next) {
		t.Error("the statistics move without a step of training")
	}
}

// Values and gradients of the row layers are those of PyTorch and PyG.
func TestRowsGolden(t *testing.T) {
	lin := func(n int, s *scene) rowLayer { return &layers.Linear{In: n, Out: s.Params["weight"].Shape[0]} }
	ln := func(n int, _ *scene) rowLayer { return &layers.LayerNorm{Width: n} }
	plain := func(n int, _ *scene) rowLayer { return &layers.LayerNorm{Width: n, NoAffine: true} }
	bn := func(n int, _ *scene) rowLayer { return &layers.BatchNorm{Width: n} }
	fixed := func(n int, _ *scene) rowLayer { return &layers.BatchNorm{Width: n, Fixed: true} }
	for path, f := range map[string]func(n int, s *scene) rowLayer{
		"torch/linear": lin, "torch/layernorm": ln, "torch/layernorm_no_affine": plain, "torch/batchnorm1d_train": bn,
		"torch/batchnorm1d_eval": fixed, "pyg/layernorm_node": ln, "pyg/batchnorm_train": bn, "pyg/batchnorm_eval": fixed,
	} {
		t.Run(path, func(t *testing.T) {
			s := stage(t, path+".json")
			l := f(s.Inputs["x"].Shape[1], s)
			l.Init(rand.New(rand.NewPCG(1, 1)))
			names := rowNames(l)
			for key := range s.Params {
				copy(names[strings.TrimPrefix(key, "module.")].Value.Data, s.rowParam(t, "params", key).Data)
			}
			tp := grad.NewTape(1)
			x := tp.Watch(s.Tensor(t, "inputs", "x"))
			y := l.Forward(tp, x)
			golden.Compare(t, "y", y.Value(), s.Tensor(t, "outputs", "y"), s.Float32Error.Outputs)
			grads := tp.Backward(y.Mul(grad.Const(s.Tensor(t, "cotangents", "y"))).Sum())
			golden.Compare(t, "gradient of x", grads.Of(x), s.Tensor(t, "grads", "x"), s.Float32Error.Grads)
			for key := range s.Grads {
				if p := names[strings.TrimPrefix(key, "module.")]; p != nil {
					golden.Compare(t, "gradient of "+key, grads.Param(p), s.rowParam(t, "grads", key), s.Float32Error.Grads)
				}
			}
			if s.Has("outputs", "running_mean") {
				golden.Compare(t, "running mean", names["running_mean"].Value, s.Tensor(t, "outputs", "running_mean"), s.Float32Error.Outputs)
				golden.Compare(t, "running variance", names["running_var"].Value, s.Tensor(t, "outputs", "running_var"), s.Float32Error.Outputs)
			}
		})
	}
}

func rowNames(l rowLayer) map[string]*grad.Param {
	switch l := l.(type) {
	case *layers.Linear:
		return map[string]*grad.Param{"weight": l.W, "bias": l.B}
	case *layers.LayerNorm:
		return map[string]*grad.Param{"weight": l.Gain, "bias": l.B}
	case *layers.BatchNorm:
		return map[string]*grad.Param{"weight": l.Gain, "bias": l.B, "running_mean": l.Mean, "running_var": l.Variance}
	}
	return nil
}

// rowParam is an array of the case; a matrix, which is out×in there, in×out.
func (s *scene) rowParam(t *testing.T, section, key string) *tensor.Dense {
	v := s.Tensor(t, section, key)
	if v.Axes() == 2 {
		return golden.Transpose(v)
	}
	return v
}

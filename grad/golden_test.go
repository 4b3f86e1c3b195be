package grad_test

import (
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/tensor"
)

// pull returns the gradients of ⟨y, dy⟩.
func pull(t *grad.Tape, y *grad.Var, dy *tensor.Dense) grad.Grads {
	return t.Backward(y.Mul(grad.Const(dy)).Sum())
}

func TestActivationGolden(t *testing.T) {
	for name, f := range map[string]func(x *grad.Var) *grad.Var{
		"elu":           (*grad.Var).ELU,
		"relu":          (*grad.Var).ReLU,
		"leaky_relu":    func(x *grad.Var) *grad.Var { return x.LeakyReLU(0.2) },
		"sigmoid":       (*grad.Var).Sigmoid,
		"tanh":          (*grad.Var).Tanh,
		"softplus":      (*grad.Var).Softplus,
		"silu":          (*grad.Var).SiLU,
		"softmax":       (*grad.Var).Softmax,
		"log_softmax":   (*grad.Var).LogSoftmax,
		"elu_alpha":     func(x *grad.Var) *grad.Var { return x.ELUAlpha(0.5) },
		"gelu":          (*grad.Var).GELU,
		"gelu_tanh":     (*grad.Var).GELUTanh,
		"logsigmoid":    (*grad.Var).LogSigmoid,
		"mish":          (*grad.Var).Mish,
		"selu":          (*grad.Var).SELU,
		"softplus_beta": func(x *grad.Var) *grad.Var { return x.Scale(2).Softplus().Scale(0.5) },
	} {
		t.Run(name, func(t *testing.T) {
			c := golden.Load(t, "testdata/activation_"+name+".json")
			tape := grad.NewTape(1)
			x := tape.Watch(c.Tensor(t, "inputs", "x"))
			y := f(x)
			golden.Compare(t, "y", y.Value(), c.Tensor(t, "outputs", "y"), c.Float32Error.Outputs)
			g := pull(tape, y, c.Tensor(t, "cotangents", "y"))
			golden.Compare(t, "dx", g.Of(x), c.Tensor(t, "grads", "x"), c.Float32Error.Grads)
		})
	}
}

func TestLinearGolden(t *testing.T) {
	c := golden.Load(t, "testdata/linear.json")
	tape := grad.NewTape(1)
	x := tape.Watch(c.Tensor(t, "inputs", "x"))
	w := tape.Watch(golden.Transpose(c.Tensor(t, "params", "weight")))
	b := tape.Watch(c.Tensor(t, "params", "bias"))
	y := x.MatMul(w).Add(b)
	golden.Compare(t, "y", y.Value(), c.Tensor(t, "outputs", "y"), c.Float32Error.Outputs)
	g := pull(tape, y, c.Tensor(t, "cotangents", "y"))
	golden.Compare(t, "dx", g.Of(x), c.Tensor(t, "grads", "x"), c.Float32Error.Grads)
	golden.Compare(t, "dW", g.Of(w), golden.Transpose(c.Tensor(t, "grads", "weight")), c.Float32Error.Grads)
	golden.Compare(t, "db", g.Of(b), c.Tensor(t, "grads", "bias"), c.Float32Error.Grads)
}

// TestCrossEntropyGolden covers every reduction; "none" is a loss a row.
func TestCrossEntropyGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/cross_entropy_*.json")
	if err != nil || len(files) != 11 {
		t.Fatalf("%d files, want 11 (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c := golden.Load(t, file)
			labels := c.Ints(t, "inputs", "target")
			for i, l := range labels {
				if l == -100 { // PyTorch's ignore_index
					labels[i] = grad.NoLabel
				}
			}
			tape := grad.NewTape(1)
			x := tape.Watch(c.Tensor(t, "inputs", "input"))
			y := crossEntropyOf(t, c).Of(x, labels)
			golden.Compare(t, "loss", y.Value(), c.Tensor(t, "outputs", "y"), c.Float32Error.Outputs)
			g := pull(tape, y, c.Tensor(t, "cotangents", "y"))
			golden.Compare(t, "dx", g.Of(x), c.Tensor(t, "grads", "input"), c.Float32Error.Grads)
		})
	}
}

// reductionOf returns PyTorch's reduction.
func reductionOf(c *golden.Case) grad.Reduction {
	switch c.Config["reduction"] {
	case "none":
		return grad.EachLoss
	case "sum":
		return grad.SumLoss
	}
	return grad.MeanLoss
}

func crossEntropyOf(t *testing.T, c *golden.Case) grad.CrossEntropy {
	r := grad.CrossEntropy{Reduction: reductionOf(c)}
	r.Smoothing, _ = c.Config["label_smoothing"].(float64)
	if c.Has("inputs", "weight") {
		for _, v := range c.Tensor(t, "inputs", "weight").Data {
			r.Weights = append(r.Weights, float64(v))
		}
	}
	return r
}

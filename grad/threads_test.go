package grad_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestThreads shows that no bit of a value or a gradient depends on the number of
// threads, for arrays that are large enough to be shared out.
func TestThreads(t *testing.T) {
	n, d := 1500, 70
	if sparing.Raced {
		n = 500
	}
	x, y, gain, bias, w := param(1, n, d), param(2, n, d), param(3, d), param(4, d), param(5, d, d)
	labels, offsets := make([]int32, n), []int{0, 1, n / 2, n / 2, n}
	for i := range labels {
		labels[i] = int32(i%(d+1)) - 1
	}
	for name, f := range map[string]func(t *grad.Tape, v []*grad.Var) *grad.Var{
		"LayerNorm": func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0].LayerNorm(v[2], v[3], 1e-5) },
		"BatchNorm": func(t *grad.Tape, v []*grad.Var) *grad.Var {
			return t.BatchNorm(v[0], grad.Affine{Gain: v[2], Bias: v[3]}, nil, 1e-5)
		},
		"GraphNorm": func(_ *grad.Tape, v []*grad.Var) *grad.Var {
			return v[0].GraphNorm(offsets, grad.Affine{Gain: v[2], Bias: v[3], Shift: v[2]}, 1e-5)
		},
		"Linear":       func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0].Linear(v[4], v[3], grad.ELU) },
		"MatMulT":      func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0].MatMulT(v[1].RowRange(0, 100)) },
		"CrossEntropy": func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0].CrossEntropy(labels) },
		"CrossEntropy each": func(_ *grad.Tape, v []*grad.Var) *grad.Var {
			return grad.CrossEntropy{Reduction: grad.EachLoss, Smoothing: 0.1}.Of(v[0], labels)
		},
		"NLL":   func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0].NLL(labels) },
		"Huber": func(_ *grad.Tape, v []*grad.Var) *grad.Var { return grad.Loss{}.Huber(v[0], v[1], 0.5) },
		"BCE each": func(_ *grad.Tape, v []*grad.Var) *grad.Var {
			return grad.BCE{Loss: grad.Loss{Reduction: grad.EachLoss}}.Of(v[0], v[1])
		},
		"rows of one array, MSE": func(_ *grad.Tape, v []*grad.Var) *grad.Var {
			return v[0].RowRange(1, n).MSE(v[0].RowRange(0, n-1)).Add(v[0].Mul(v[1]).Sum())
		},
		"rows of one array, Huber": func(_ *grad.Tape, v []*grad.Var) *grad.Var {
			return grad.Loss{}.Huber(v[0].RowRange(1, n), v[0].RowRange(0, n-1), 0.5).Add(v[0].Mul(v[1]).Sum())
		},
		"rows and two of them, Dot": func(_ *grad.Tape, v []*grad.Var) *grad.Var {
			x := v[0].Reshape(n, 7, d/7)
			y, z := dots(x, x.RowRange(n-10, n-9).Reshape(7, d/7), x.RowRange(n/2, n/2+1).Reshape(7, d/7))
			return y.Mul(z).Sum().Add(v[0].Mul(v[1]).Sum())
		},
		"rows and one of them, Dot": func(_ *grad.Tape, v []*grad.Var) *grad.Var {
			x := v[0].Reshape(n, 7, d/7)
			return x.Dot(x.RowRange(n-10, n-9).Reshape(7, d/7)).Sum().Add(v[0].Mul(v[1]).Sum())
		},
		"a bit of each": func(t *grad.Tape, v []*grad.Var) *grad.Var {
			h := t.Dropout(v[0].Mul(v[1]).Add(v[3]).GELU(), 0.3).Softmax()
			return h.MatMul(v[4]).L2Normalise().CumSum().MaxAxis(0)
		},
	} {
		run := func(threads int) (bits []tensor.Float) {
			defer par.SetThreads(threads)()
			tape := grad.NewTape(1)
			var v []*grad.Var
			for _, p := range []*grad.Param{x, y, gain, bias, w} {
				v = append(v, tape.Use(p))
			}
			z := f(tape, v)
			bits = append(bits, z.Value().Data...)
			for _, g := range tape.Backward(weigh(z)) {
				bits = append(bits, g.Value.Data...)
			}
			return bits
		}
		want := run(1)
		all := []int{3, 8}
		if !sparing.Full() {
			all = all[:1]
		}
		for _, threads := range all {
			if !slices.Equal(run(threads), want) {
				t.Errorf("%s: other bits on %d threads", name, threads)
			}
		}
	}
}

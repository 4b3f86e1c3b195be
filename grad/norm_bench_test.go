package grad_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
)

// BenchmarkNorm times norms and losses of a large array, forwards and backwards.
func BenchmarkNorm(b *testing.B) {
	const n, d = 16384, 128
	x, gain, bias := param(1, n, d), param(2, d), param(3, d)
	labels := make([]int32, n)
	target := grad.Const(x.Value.Clone())
	for _, c := range []struct {
		name string
		f    func(t *grad.Tape, v []*grad.Var) *grad.Var
	}{
		{"LayerNorm", func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0].LayerNorm(v[1], v[2], 1e-5) }},
		{"BatchNorm", func(t *grad.Tape, v []*grad.Var) *grad.Var {
			return t.BatchNorm(v[0], grad.Affine{Gain: v[1], Bias: v[2]}, nil, 1e-5)
		}},
		{"L2Normalise", func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0].L2Normalise() }},
		{"CrossEntropy", func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0].CrossEntropy(labels) }},
		{"MSE", func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0].MSE(target) }},
		{"nothing", func(_ *grad.Tape, v []*grad.Var) *grad.Var { return v[0] }},
	} {
		b.Run(c.name, func(b *testing.B) {
			tape := grad.NewTape(1)
			for b.Loop() {
				tape.Reset()
				y := c.f(tape, []*grad.Var{tape.Use(x), tape.Use(gain), tape.Use(bias)})
				if len(y.Shape()) > 1 {
					y = y.Columns(0, 1).Sum()
				}
				tape.Backward(y)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*d), "ns/element")
		})
	}
}

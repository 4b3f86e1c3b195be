package grad_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// rowOps are the operations that take each row of x by itself, of some width. y has the shape of
// x and c a column; b is one row, and w a matrix of as many rows as x has columns.
func rowOps() map[string]func(t *grad.Tape, x, y, c, b, w *grad.Var) *grad.Var {
	type V = *grad.Var
	type op = func(t *grad.Tape, x, y, c, b, w V) V
	ops := map[string]op{
		"MatMul": func(_ *grad.Tape, x, _, _, _, w V) V { return x.MatMul(w) },
		"MatMul of CSR": func(_ *grad.Tape, x, _, _, _, w V) V {
			return grad.Const(sparse.FromDense(x.Value())).MatMul(w)
		},
		"MatMulT":     func(_ *grad.Tape, x, _, _, _, w V) V { return x.MatMul(w).MatMulT(w) },
		"AddProduct":  func(_ *grad.Tape, x, y, _, _, w V) V { return x.MatMul(w).AddProduct(y, w) },
		"Project":     func(_ *grad.Tape, x, _, _, _, w V) V { return x.Project(w, 1) },
		"LayerNorm":   func(_ *grad.Tape, x, _, _, b, _ V) V { return x.LayerNorm(b, b, 1e-5) },
		"L2Normalise": func(_ *grad.Tape, x, _, _, _, _ V) V { return x.L2Normalise() },
		"Softmax":     func(_ *grad.Tape, x, _, _, _, _ V) V { return x.Softmax() },
		"LogSoftmax":  func(_ *grad.Tape, x, _, _, _, _ V) V { return x.LogSoftmax() },
		"LogSumExp":   func(_ *grad.Tape, x, _, _, _, _ V) V { return x.LogSumExp() },
		"SumAxis":     func(_ *grad.Tape, x, _, _, _, _ V) V { return x.SumAxis(1) },
		"MeanAxis":    func(_ *grad.Tape, x, _, _, _, _ V) V { return x.MeanAxis(1) },
		"MaxAxis":     func(_ *grad.Tape, x, _, _, _, _ V) V { return x.MaxAxis(1) },
		"Dot":         func(_ *grad.Tape, x, y, _, _, _ V) V { return x.Dot(y) },
		"Dot of b":    func(_ *grad.Tape, x, _, _, b, _ V) V { return x.Dot(b) },
		"Dot of a head": func(_ *grad.Tape, x, _, _, b, _ V) V {
			return x.Reshape(x.Dim(0), 1, x.Dim(1)).Dot(b.Reshape(1, x.Dim(1)))
		},
		"Dots of heads": func(_ *grad.Tape, x, y, _, b, _ V) V {
			h := grad.Concat(x, y).Reshape(x.Dim(0), 2, x.Dim(1))
			rows := grad.ConcatAxis(0, b, b.Scale(0.7)).Reshape(2, x.Dim(1))
			return h.Dot(rows).Add(h.Dot(rows.Scale(1.3)))
		},
		"Dot of itself": func(_ *grad.Tape, x, _, _, _, _ V) V { return x.Dot(x) },
		"arithmetic":    func(_ *grad.Tape, x, y, _, _, _ V) V { return x.Add(y).Mul(x).Div(y.Square().Shift(1)).Sub(y.Max(x)) },
		"columns":       func(_ *grad.Tape, x, _, c, _, _ V) V { return x.Mul(c).Add(c).Div(c).Sub(c) },
		"rows":          func(_ *grad.Tape, x, _, _, b, _ V) V { return x.Mul(b).Add(b).Div(b).Sub(b) },
		"Pow":           func(_ *grad.Tape, x, _, _, _, _ V) V { return x.Square().Shift(0.1).Pow(0.7) },
		"waves":         func(_ *grad.Tape, x, _, _, _, _ V) V { return x.Sin().Add(x.Cos()) },
		"roots": func(_ *grad.Tape, x, _, _, _, _ V) V {
			return x.Abs().Sqrt().Add(x.Square().Shift(1).Log()).Add(x.Exp().Reciprocal())
		},
		"CumSum":       func(_ *grad.Tape, x, _, _, _, _ V) V { return x.CumSum() },
		"CumProd":      func(_ *grad.Tape, x, _, _, _, _ V) V { return x.CumProd() },
		"Concat":       func(_ *grad.Tape, x, y, c, _, _ V) V { return grad.Concat(x, y, c).Roll(3) },
		"ConcatScaled": func(_ *grad.Tape, x, y, c, _, _ V) V { return grad.ConcatScaled([]V{x, y}, []V{nil, c}) },
		"Outer":        func(_ *grad.Tape, x, _, c, _, _ V) V { return x.Outer(c) },
		"LogSigmoid": func(_ *grad.Tape, x, _, _, _, _ V) V {
			return x.LogSigmoid().Add(x.Mish()).Add(x.ELUAlpha(0.3)).Add(x.GELUTanh())
		},
		"CircularConv": func(_ *grad.Tape, x, y, _, _, _ V) V { return x.CircularConv(y.Columns(0, min(3, y.Dim(1)))) },
		"BatchNorm": func(t *grad.Tape, x, _, _, b, _ V) V {
			stats := &grad.RunningStats{Mean: grad.NewParam(x.Dim(1)), Variance: grad.NewParam(x.Dim(1))}
			stats.Mean.Value.Fill(0.3)
			stats.Variance.Value.Fill(1.7)
			return t.BatchNorm(x, grad.Affine{Gain: b, Bias: b}, stats, 1e-5).ReLU()
		},
	}
	for _, a := range []grad.Activation{grad.Identity, grad.ReLU, grad.ELU, grad.Sigmoid, grad.Tanh, grad.Softplus, grad.SiLU, grad.GELU, grad.SELU} {
		ops["AddBias "+string(a)] = func(_ *grad.Tape, x, _, _, b, _ V) V { return x.AddBias(b, a) }
		ops["Linear "+string(a)] = func(_ *grad.Tape, x, _, _, _, w V) V { return x.Linear(w, w.RowRange(0, 1).Reshape(-1), a) }
		ops["Activate "+string(a)] = func(_ *grad.Tape, x, _, _, _, _ V) V { return x.Activate(a) }
	}
	return ops
}

// In an evaluation a row's result follows from its operands alone: every operation on rows gives
// few of them the bits that they have among all.
func TestRowsAlone(t *testing.T) {
	paths := map[string]func() func(){"as built": func() func() { return func() {} }}
	if cpu.Path() == "avx512" {
		paths["narrow"] = cpu.Narrow
	}
	const rows = 300
	counts := []int{1, 2, 3, 7, 8, 9, 16, 31, 33, 100}
	for path, begin := range paths {
		undo := begin()
		rng := rand.New(rand.NewPCG(5, 5))
		for i, width := range sparing.Some([]int{1, 3, 7, 8, 9, 16, 17, 33, 64, 130}) {
			draw := func(shape ...int) *tensor.Dense {
				x := tensor.New(shape...)
				sparing.Normals(rng, x.Data)
				return x
			}
			xs := [...]*tensor.Dense{draw(rows, width), draw(rows, width), draw(rows, 1)}
			rest := [...]*grad.Var{grad.Const(draw(width)), grad.Const(draw(width, []int{64, 7, 130, 16, 1}[i%5]))}
			run := func(f func(t *grad.Tape, x, y, c, b, w *grad.Var) *grad.Var, lo, n int) *tensor.Dense {
				tp := grad.NewEval()
				var in [3]*grad.Var
				for j, x := range xs {
					in[j] = tp.Input(x.RowRange(lo, lo+n).Clone())
				}
				return f(tp, in[0], in[1], in[2], rest[0], rest[1]).Value()
			}
			for name, f := range rowOps() {
				want := run(f, 0, rows)
				for _, n := range counts {
					lo := rng.IntN(rows - n + 1)
					got, all := run(f, lo, n), want.RowRange(lo, lo+n)
					compare.Near(t, fmt.Sprintf("%s, %s: %d rows of %d, and among all", path, name, n, width), got.Data, all.Data, compare.SameBits.OrNaN())
				}
			}
		}
		undo()
	}
}

package reference

import (
	"math"
	"slices"
	"sort"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Reducers are their formulas: what a column of the messages of a destination comes to, of which there is one
// at least.
var Reducers = map[*ops.Reducer]func(r *Reference, m []number) number{
	ops.Sum:       func(r *Reference, m []number) number { return r.Sum(m...) },
	ops.Mean:      func(r *Reference, m []number) number { return r.Div(r.Sum(m...), r.Constant(float64(len(m)))) },
	ops.Max:       func(r *Reference, m []number) number { return r.Max(m...) },
	ops.Min:       func(r *Reference, m []number) number { return r.Min(m...) },
	ops.Std:       func(r *Reference, m []number) number { return r.Std(m) },
	ops.LogSumExp: func(r *Reference, m []number) number { return r.LogSumExp(m) },
}

// operations are their formulas, by kind.
var operations = map[ops.Kind]func(r *Reference, n *ir.Node) table{
	ops.Unary: func(r *Reference, n *ir.Node) table {
		return r.each(n, func(_ int, x number, _ int) number { return r.unary(vec.Unary(n.Fn), float64(n.C), x) })
	},
	ops.Binary:        func(r *Reference, n *ir.Node) table { return r.pairs(n, r.binary(vec.Binary(n.Fn))) },
	ops.DotLast:       (*Reference).dot,
	ops.SumLast:       along(func(r *Reference, x []number) number { return r.Sum(x...) }),
	ops.MaxLast:       along(func(r *Reference, x []number) number { return r.Max(x...) }),
	ops.LogSumExpLast: along(func(r *Reference, x []number) number { return r.LogSumExp(x) }),
	ops.Pick:          (*Reference).pick,
	ops.Dropout: func(r *Reference, n *ir.Node) table {
		drop := r.extra[n.K].Drop
		return r.each(n, func(i int, x number, k int) number {
			if drop.Keep(drop.Row(i), k) {
				return r.Scale(x, float64(tensor.Float(drop.Scale)))
			}
			return r.Constant(0)
		})
	},
	ops.Gumbel: func(r *Reference, n *ir.Node) table {
		drop := r.extra[n.K].Drop
		return r.each(n, func(i int, x number, k int) number {
			noise := tensor.Float(math.Log(-math.Log(drop.Uniform(drop.Row(i), k))))
			return r.Sum(x, r.Constant(-float64(noise)))
		})
	},
	ops.MatMul:     (*Reference).product,
	ops.Softmax:    across(func(r *Reference, _ *ir.Node, x []number) []number { return r.Softmax(x) }),
	ops.LogSoftmax: across((*Reference).logSoftmax),
	ops.Normalise:  across((*Reference).normalise),
	ops.TopK:       across((*Reference).kept),
	ops.Sparsemax:  across((*Reference).sparsemax),
}

// along is the formula of what makes a number of each run of the last axis.
func along(f func(r *Reference, x []number) number) func(r *Reference, n *ir.Node) table {
	return func(r *Reference, n *ir.Node) table {
		return r.made[n.A].along(func(x []number) number { return f(r, x) })
	}
}

// across is the formula of what sees a column of the edges into each destination, and returns one.
func across(f func(r *Reference, n *ir.Node, x []number) []number) func(r *Reference, n *ir.Node) table {
	return func(r *Reference, n *ir.Node) table {
		x := r.made[n.A]
		y := x.each(x.shape, func(int, []number, int) number { return 0 })
		off := r.g.In().Offsets
		for v := range r.g.NumDst() {
			for k := range tensor.Size(x.shape...) {
				for i, z := range f(r, n, r.column(x, v, k)) {
					y.rows[int(off[v])+i][k] = z
				}
			}
		}
		return y
	}
}

// each is f of each element k on each edge i.
func (r *Reference) each(n *ir.Node, f func(i int, x number, k int) number) table {
	x := r.made[n.A]
	return x.each(x.shape, func(i int, row []number, k int) number { return f(i, row[k], k) })
}

func (r *Reference) dot(n *ir.Node) table {
	x, y := r.made[n.A], r.made[n.B]
	if !slices.Equal(x.shape, y.shape) {
		return r.pairs(n, r.Mul).along(func(x []number) number { return r.Sum(x...) })
	}
	d := x.shape[len(x.shape)-1]
	shape := append(slices.Clone(x.shape[:len(x.shape)-1]), 1)
	return x.each(shape, func(i int, row []number, k int) number { return r.Dot(row[k*d:][:d], y.rows[i][k*d:][:d]) })
}

func (r *Reference) product(n *ir.Node) table {
	x, w := r.made[n.A], r.vars[r.code[n.B].K].Value()
	in, cols := x.shape[len(x.shape)-1], w.RowLen()
	shape := append(slices.Clone(x.shape[:len(x.shape)-1]), w.Shape()[1:]...)
	all, column := r.Of(w.Data), make([]number, in)
	return x.each(shape, func(_ int, row []number, k int) number {
		for i := range column {
			column[i] = all[i*cols+k%cols]
		}
		return r.Dot(row[k/cols*in:][:in], column)
	})
}

func (r *Reference) pick(n *ir.Node) table {
	x, by := r.made[n.A], &r.extra[n.K]
	shape := x.shape[1:]
	if len(shape) == 0 {
		shape = []int{1}
	}
	size, cols, to := tensor.Size(shape...), r.g.In().Cols, r.g.Destinations()
	src, dst := r.g.Places()
	return x.each(shape, func(i int, row []number, k int) number {
		var kind int32
		switch {
		case !by.ByOffset:
			kind = by.Rows[i]
		case src == nil:
			kind = by.OffsetRow(cols[i], dst[to[i]])
		default:
			kind = by.OffsetRow(src[cols[i]], dst[to[i]])
		}
		return row[int(kind)*size+k]
	})
}

func (r *Reference) logSoftmax(_ *ir.Node, x []number) []number {
	out := make([]number, len(x))
	if len(x) > 0 {
		all := r.LogSumExp(x)
		for i, x := range x {
			out[i] = r.Sub(x, all)
		}
	}
	return out
}

// normalise divides by the sum, and leaves 0 where that is 0.
func (r *Reference) normalise(_ *ir.Node, x []number) []number {
	out, sum := slices.Clone(x), r.Sum(x...)
	for i, x := range x {
		if r.Result(sum).Value == 0 {
			out[i] = r.Constant(0)
		} else {
			out[i] = r.Div(x, sum)
		}
	}
	return out
}

// Order returns the places of numbers, the largest first, and of equal ones the first.
func (r *Reference) Order(x []number) []int {
	at := make([]int, len(x))
	for i := range at {
		at[i] = i
	}
	sort.SliceStable(at, func(i, j int) bool { return r.Result(x[at[i]]).Value > r.Result(x[at[j]]).Value })
	return at
}

func (r *Reference) kept(n *ir.Node, x []number) []number {
	out, most, mark := make([]number, len(x)), int(n.K), n.Mark
	for rank, i := range r.Order(x) {
		switch {
		case mark && rank < most:
			out[i] = r.Constant(1)
		case mark:
			out[i] = r.Constant(0)
		case rank < most:
			out[i] = x[i]
		default:
			out[i] = r.Constant(math.Inf(-1))
		}
	}
	return out
}

// sparsemax is max(x − τ, 0), where the sum of what is left is 1: τ is of the largest n, the most that are
// above theirs.
func (r *Reference) sparsemax(_ *ir.Node, x []number) []number {
	var most []number
	sum := 0.0
	for _, i := range r.Order(x) {
		if v := r.Result(x[i]).Value; len(most) > 0 && v <= (sum+v-1)/float64(len(most)+1) {
			break
		}
		most, sum = append(most, x[i]), sum+r.Result(x[i]).Value
	}
	out := make([]number, len(x))
	if len(x) > 0 {
		tau := r.Div(r.Sum(append(most, r.Constant(-1))...), r.Constant(float64(len(most))))
		for i, x := range x {
			out[i] = r.LeakyReLU(r.Sub(x, tau), 0)
		}
	}
	return out
}

func (r *Reference) unary(u vec.Unary, c float64, x number) number {
	switch u {
	case vec.Scale:
		return r.Scale(x, c)
	case vec.Shift:
		return r.Sum(x, r.Constant(c))
	case vec.Neg:
		return r.Scale(x, -1)
	case vec.ReLU:
		return r.LeakyReLU(x, 0)
	case vec.LeakyReLU:
		return r.LeakyReLU(x, c)
	case vec.ELU:
		return r.ELU(x, c)
	case vec.Sigmoid:
		return r.Sigmoid(x)
	case vec.Tanh:
		return r.Tanh(x)
	case vec.Softplus:
		return r.Softplus(x)
	case vec.Exp:
		return r.Exp(x)
	case vec.Log:
		return r.Log(x)
	case vec.Sqrt:
		return r.Sqrt(x)
	case vec.SiLU:
		return r.SiLU(x)
	case vec.GELU:
		return r.GELU(x)
	case vec.Sin:
		return r.Sin(x)
	case vec.Cos:
		return r.Cos(x)
	case vec.Pow:
		return r.Pow(x, c)
	case vec.Abs:
		return r.Abs(x)
	case vec.Sign:
		return r.Constant(sign(r.Result(x).Value))
	}
	panic("no such function: " + u.String())
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

func (r *Reference) binary(b vec.Binary) func(x, y number) number {
	switch b {
	case vec.Add:
		return func(x, y number) number { return r.Sum(x, y) }
	case vec.Sub:
		return r.Sub
	case vec.Mul:
		return r.Mul
	case vec.Div:
		return r.Div
	case vec.Min:
		return func(x, y number) number { return r.Min(x, y) }
	}
	return func(x, y number) number { return r.Max(x, y) }
}

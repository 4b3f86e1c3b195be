package bits

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
)

// activations are all that have a name.
var activations = []grad.Activation{
	grad.Identity, grad.ReLU, grad.ELU, grad.SiLU, grad.Sigmoid, grad.Tanh, grad.Softplus, grad.GELU, grad.GELUTanh, grad.SELU,
}

// heights are few and many rows.
var heights = []int{1, 20, 700, 6000}

// dense runs the operations of grad on matrices of every height.
func dense(b *book) {
	products(b)
	for _, n := range heights {
		pointwise(b, n)
		biases(b, n)
		norms(b, n)
		losses(b, n)
		moved(b, n)
		reduced(b, n)
	}
	vast(b)
}

// vast runs a few operations on more than 2²⁰ elements, past the sizes at which
// gradients are handed over in parts.
func vast(b *book) {
	drop := func(m *maker, x *grad.Var) *grad.Var {
		return m.tape.Dropout(x.AddBias(m.use(x.Dim(1)), grad.ELU), 0.5)
	}
	b.rows(66_000, []entry{
		{"vast/linear", func(m *maker, x *grad.Var) *grad.Var { return x.Linear(m.use(16, 16), m.use(16), grad.Identity) }},
		{"vast/end", drop},
		{"vast/square", func(m *maker, x *grad.Var) *grad.Var { return x.Tanh().MatMul(m.use(16, 16)).Tanh() }},
		{"vast/twice", func(m *maker, x *grad.Var) *grad.Var {
			return x.Linear(m.use(16, 16), m.use(16), grad.ReLU).MatMul(m.use(16, 16))
		}},
		{"vast/norm", func(m *maker, x *grad.Var) *grad.Var {
			return m.tape.BatchNorm(x, grad.Affine{Gain: m.use(16)}, nil, 1e-5)
		}},
		{"vast/sum", func(m *maker, x *grad.Var) *grad.Var {
			return x.Linear(m.use(16, 17), m.use(17), grad.ReLU).Add(m.use(17)).Sum()
		}},
	}, 16)
}

// entry is a function of a matrix, by name.
type entry struct {
	name string
	make func(m *maker, x *grad.Var) *grad.Var
}

// rows adds entries of a matrix of n rows, each of one of the widths: at the next height it is
// of the next width.
func (b *book) rows(n int, list []entry, widths ...int) {
	for i, e := range list {
		for j, cols := range widths {
			if turn(len(widths), slices.Index(heights, n), i, j) {
				b.run(fmt.Sprintf("%s/%dx%d", e.name, n, cols), func(m *maker) []*grad.Var { return one(e.make(m, m.watch(n, cols))) })
			}
		}
	}
}

// products runs products of shapes on either side of the sizes at which they go
// another way.
func products(b *book) {
	for _, s := range [][3]int{
		{1, 1, 1}, {5, 7, 3}, {33, 25, 24}, {6, 1500, 20}, {40, 600, 17}, {150, 30, 10}, {700, 64, 64}, {700, 13, 130},
		{3000, 16, 7}, {20, 5000, 9}, {1000, 8, 513}, {24, 100, 1100}, {600, 520, 70}, {9000, 4, 12},
	} {
		r, k, c := s[0], s[1], s[2]
		name := fmt.Sprintf("%dx%dx%d", r, k, c)
		b.run("matmul/"+name, func(m *maker) []*grad.Var { return one(m.watch(r, k).MatMul(m.use(k, c))) })
		b.run("matmulT/"+name, func(m *maker) []*grad.Var { return one(m.watch(r, k).MatMulT(m.use(c, k))) })
		b.run("transposed/"+name, func(m *maker) []*grad.Var { return one(m.watch(k, r).Transpose().MatMul(m.use(k, c))) })
		b.run("sparse/"+name, func(m *maker) []*grad.Var { return one(m.sparse(r, k).MatMul(m.use(k, c))) })
		b.run("sparse/drop/"+name, func(m *maker) []*grad.Var {
			return one(m.tape.Dropout(m.sparse(r, k), 0.4).MatMul(m.use(k, c)))
		})
		for _, a := range []grad.Activation{grad.Identity, grad.ReLU, grad.ELU, grad.GELU} {
			if a != grad.Identity && r*k*c > 2_000_000 {
				break
			}
			b.run(fmt.Sprintf("linear%s/%s", a, name), func(m *maker) []*grad.Var {
				return one(m.watch(r, k).Linear(m.use(k, c), m.use(c), a))
			})
		}
		b.run("linear/sparse/"+name, func(m *maker) []*grad.Var { return one(m.sparse(r, k).Linear(m.use(k, c), m.use(c), grad.ReLU)) })
	}
	for _, s := range [][4]int{{3, 5, 7, 4}, {60, 20, 16, 20}, {4, 130, 64, 130}} {
		name := fmt.Sprintf("%dx%dx%dx%d", s[0], s[1], s[2], s[3])
		b.run("batch/"+name, func(m *maker) []*grad.Var { return one(m.watch(s[0], s[1], s[2]).MatMul(m.watch(s[0], s[2], s[3]))) })
		b.run("batchT/"+name, func(m *maker) []*grad.Var { return one(m.watch(s[0], s[1], s[2]).MatMulT(m.watch(s[0], s[3], s[2]))) })
		b.run("axes/"+name, func(m *maker) []*grad.Var { return one(m.watch(s[0], s[1], s[2]).MatMul(m.use(s[2], s[3]))) })
	}
}

func pointwise(b *book, n int) {
	var list []entry
	for _, a := range activations {
		list = append(list,
			entry{"activate/" + string(a), func(_ *maker, x *grad.Var) *grad.Var { return x.Activate(a) }},
			entry{"addbias/" + string(a), func(m *maker, x *grad.Var) *grad.Var { return x.AddBias(m.use(x.Dim(-1)), a) }})
	}
	list = append(list, []entry{
		{"leaky", func(_ *maker, x *grad.Var) *grad.Var { return x.LeakyReLU(0.2) }},
		{"exp", func(_ *maker, x *grad.Var) *grad.Var {
			return x.Exp().Add(x.Abs().Shift(1).Log()).Mul(x.Square().Shift(1).Sqrt())
		}},
		{"other", func(_ *maker, x *grad.Var) *grad.Var { return x.Mish().Sub(x.LogSigmoid()).Add(x.ELUAlpha(0.3)) }},
		{"clamp", func(_ *maker, x *grad.Var) *grad.Var { return x.Clamp(-1, 0.5).Add(x.Neg().OneMinus().Scale(0.3)) }},
		{"pow", func(_ *maker, x *grad.Var) *grad.Var {
			return x.Abs().Shift(0.5).Pow(1.7).Add(x.Square().Shift(1).Reciprocal())
		}},
		{"pairs", func(m *maker, x *grad.Var) *grad.Var {
			y := m.watch(x.Shape()...)
			return x.Add(y).Mul(x.Sub(y)).Div(y.Square().Shift(1)).Max(y).Min(x.Shift(0.5))
		}},
		{"broadcast", func(m *maker, x *grad.Var) *grad.Var {
			return x.Mul(m.use(1, x.Dim(1))).Add(m.use(x.Dim(0), 1)).Sub(m.use(1)).Div(m.use(x.Dim(1)).Square().Shift(1))
		}},
		{"where", func(m *maker, x *grad.Var) *grad.Var { return grad.Where(x.ReLU().Detach(), x, m.watch(x.Shape()...)) }},
		{"dropout", func(m *maker, x *grad.Var) *grad.Var { return m.tape.Dropout(x, 0.6) }},
		{"dropouts", func(m *maker, x *grad.Var) *grad.Var { return m.tape.Dropout(m.tape.Dropout(x, 0.3).ReLU(), 0.5) }},
		{"softmax", func(_ *maker, x *grad.Var) *grad.Var { return x.Softmax() }},
		{"logsoftmax", func(_ *maker, x *grad.Var) *grad.Var { return x.LogSoftmax() }},
		{"checkpoint", func(m *maker, x *grad.Var) *grad.Var {
			w := m.use(x.Dim(1), x.Dim(1))
			return m.tape.Checkpoint(func(xs ...*grad.Var) *grad.Var { return m.tape.Dropout(xs[0].MatMul(xs[1]).Tanh(), 0.4) }, x, w)
		}},
	}...)
	b.rows(n, list, 24, 7)
	b.rows(n, list[len(list)-4:], 1)
}

// fewer are activations for a matrix of n rows: of many rows only two.
func fewer(n int) []grad.Activation {
	if n > 1000 {
		return []grad.Activation{grad.Identity, grad.ELU}
	}
	return activations[:6]
}

// biases runs ends of layers, spelt by operations.
func biases(b *book, n int) {
	var list []entry
	for _, a := range fewer(n) {
		list = append(list, entry{"end/" + string(a), func(m *maker, x *grad.Var) *grad.Var {
			return m.tape.Dropout(x.Scale(2).AddBias(m.use(x.Dim(-1)), grad.Identity).Activate(a), 0.5)
		}}, entry{"joined/" + string(a), func(m *maker, x *grad.Var) *grad.Var {
			return m.tape.Dropout(x.Scale(2).AddBias(m.use(x.Dim(-1)), a), 0.5)
		}}, entry{"onto/" + string(a), func(m *maker, x *grad.Var) *grad.Var {
			return m.watch(x.Shape()...).Add(x.MatMul(m.use(x.Dim(1), x.Dim(1)))).Activate(a)
		}})
	}
	b.rows(n, list, 64, 7)
	for _, s := range [][2]int{{8, 8}, {4, 64}, {1, 8}, {3, 5}, {1, 1}, {2, 128}} {
		b.run(fmt.Sprintf("dots/%dx%dx%d", n, s[0], s[1]), func(m *maker) []*grad.Var {
			x := m.watch(n, s[0]*s[1]).Scale(0.5).Reshape(-1, s[0], s[1])
			return []*grad.Var{x.Dot(m.use(s[0], s[1])), x.Dot(m.use(s[0], s[1]))}
		})
		b.run(fmt.Sprintf("dot/%dx%dx%d", n, s[0], s[1]), func(m *maker) []*grad.Var {
			return one(m.watch(n, s[0], s[1]).Dot(m.watch(n, s[0], s[1])))
		})
	}
}

func norms(b *book, n int) {
	halves := []int{0, n / 3, n / 3, n}
	list := []entry{
		{"layernorm", func(m *maker, x *grad.Var) *grad.Var { return x.LayerNorm(m.use(x.Dim(-1)), m.use(x.Dim(-1)), 1e-5) }},
		{"layernorm/plain", func(_ *maker, x *grad.Var) *grad.Var { return x.LayerNorm(nil, nil, 1e-5) }},
		{"batchnorm", func(m *maker, x *grad.Var) *grad.Var {
			c := x.Dim(-1)
			return m.tape.BatchNorm(x, grad.Affine{Gain: m.use(c), Bias: m.use(c)}, nil, 1e-5)
		}},
		{"batchnorm/plain", func(m *maker, x *grad.Var) *grad.Var { return m.tape.BatchNorm(x, grad.Affine{}, nil, 1e-5) }},
		{"graphnorm", func(m *maker, x *grad.Var) *grad.Var {
			c := x.Dim(-1)
			return x.GraphNorm(halves, grad.Affine{Gain: m.use(c), Bias: m.use(c), Shift: m.use(c)}, 1e-5)
		}},
		{"pairnorm", func(_ *maker, x *grad.Var) *grad.Var { return grad.PairNorm{Scale: 1.5}.Of(x, halves) }},
		{"pairnorm/each", func(_ *maker, x *grad.Var) *grad.Var { return grad.PairNorm{Each: true}.Of(x, halves) }},
		{"unit", func(_ *maker, x *grad.Var) *grad.Var { return x.L2Normalise() }},
	}
	b.rows(n, list, 24, 5)
}

func losses(b *book, n int) {
	labels := func(m *maker, x *grad.Var) []int32 {
		l := m.rows(n, x.Dim(1))
		for i := 0; i < n; i += 7 {
			l[i] = grad.NoLabel
		}
		if n == 1 {
			l[0] = 0
		}
		return l
	}
	other := func(m *maker, x *grad.Var) *grad.Var { return m.watch(x.Shape()...) }
	list := []entry{
		{"crossentropy", func(m *maker, x *grad.Var) *grad.Var { return x.CrossEntropy(labels(m, x)) }},
		{"crossentropy/smooth", func(m *maker, x *grad.Var) *grad.Var {
			w := make([]float64, x.Dim(1))
			for i := range w {
				w[i] = 0.5 + m.Float64()
			}
			return grad.CrossEntropy{Weights: w, Smoothing: 0.1, Reduction: grad.EachLoss}.Of(x, labels(m, x))
		}},
		{"nll", func(m *maker, x *grad.Var) *grad.Var { return x.LogSoftmax().NLL(labels(m, x)) }},
		{"bce", func(m *maker, x *grad.Var) *grad.Var { return x.BCE(other(m, x).Sigmoid().Detach()) }},
		{"mse", func(m *maker, x *grad.Var) *grad.Var { return x.MSE(other(m, x)) }},
		{"l1", func(m *maker, x *grad.Var) *grad.Var { return x.L1(other(m, x)) }},
		{"huber", func(m *maker, x *grad.Var) *grad.Var { return grad.Loss{}.Huber(x, other(m, x), 0.7) }},
		{"smoothl1", func(m *maker, x *grad.Var) *grad.Var { return grad.Loss{}.SmoothL1(x, other(m, x), 0.7) }},
		{"kl", func(m *maker, x *grad.Var) *grad.Var { return grad.Loss{}.KL(x.LogSoftmax(), other(m, x).Softmax()) }},
		{"ranking", func(m *maker, x *grad.Var) *grad.Var { return grad.Loss{}.Ranking(x, other(m, x), 0.3) }},
		{"hinge", func(m *maker, x *grad.Var) *grad.Var { return grad.Hinge{}.Of(x, labels(m, x)) }},
	}
	b.rows(n, list, 7, 40)
}

// moved runs what moves rows and columns.
func moved(b *book, n int) {
	b.rows(n, []entry{
		{"concat", func(m *maker, x *grad.Var) *grad.Var { return grad.Concat(x, m.watch(n, 3), x.Tanh()) }},
		{"concatrows", func(m *maker, x *grad.Var) *grad.Var { return grad.ConcatAxis(0, x, m.watch(3, 20), x.Tanh()) }},
		{"stack", func(m *maker, x *grad.Var) *grad.Var { return grad.Stack(x, m.watch(n, 20)) }},
		{"rows", func(m *maker, x *grad.Var) *grad.Var { return x.Rows(m.rows(2*n, n)) }},
		{"range", func(_ *maker, x *grad.Var) *grad.Var { return x.RowRange(n/3, n).Tanh() }},
		{"columns", func(_ *maker, x *grad.Var) *grad.Var { return x.Columns(3, 11).Mul(x.Columns(4, 12)) }},
		{"split", func(_ *maker, x *grad.Var) *grad.Var {
			parts := x.Split(5, 10, 5)
			return parts[0].Mul(parts[2]).Add(parts[1].Columns(0, 5))
		}},
		{"scatter", func(m *maker, x *grad.Var) *grad.Var { return x.ScatterAdd(m.rows(n, 1+n/2), 1+n/2) }},
		{"embedding", func(m *maker, x *grad.Var) *grad.Var { return x.Embedding(m.rows(3*n, n), 0) }},
		{"permute", func(m *maker, x *grad.Var) *grad.Var {
			order, rank := make([]int32, n), make([]int32, n)
			for i, r := range m.Perm(n) {
				order[i], rank[r] = int32(r), int32(i)
			}
			return x.Permute(order, rank)
		}},
		{"transpose", func(_ *maker, x *grad.Var) *grad.Var { return x.Transpose().Tanh() }},
		{"roll", func(m *maker, x *grad.Var) *grad.Var { return x.Roll(3).Add(x.CircularConv(m.use(5))) }},
		{"slice", func(_ *maker, x *grad.Var) *grad.Var {
			y := x.Reshape(-1, 4, 5).SplitAxis(1, 1, 3)
			return y[1].Slice(2, 1, 3).Add(y[0].Slice(2, 0, 2))
		}},
		{"expand", func(_ *maker, x *grad.Var) *grad.Var { return x.Reshape(-1, 1, 20).Expand(n, 3, 20).Tanh() }},
		{"outer", func(m *maker, x *grad.Var) *grad.Var { return x.Columns(0, 4).Outer(m.watch(n, 3)) }},
	}, 20)
}

func reduced(b *book, n int) {
	b.rows(n, []entry{
		{"sum", func(_ *maker, x *grad.Var) *grad.Var { return x.Square().Sum() }},
		{"mean", func(_ *maker, x *grad.Var) *grad.Var { return x.Square().Mean() }},
		{"sumrows", func(_ *maker, x *grad.Var) *grad.Var { return x.Square().SumAxis(0) }},
		{"sumcolumns", func(_ *maker, x *grad.Var) *grad.Var { return x.Square().SumAxis(1) }},
		{"meanheads", func(_ *maker, x *grad.Var) *grad.Var { return x.Tanh().Reshape(-1, 4, 6).MeanAxis(1) }},
		{"sumaxes", func(_ *maker, x *grad.Var) *grad.Var { return x.Tanh().Reshape(-1, 4, 6).SumAxes(0, 2) }},
		{"max", func(_ *maker, x *grad.Var) *grad.Var { return x.MaxAxis(0).Add(x.MinAxis(0)) }},
		{"maxcolumns", func(_ *maker, x *grad.Var) *grad.Var { return x.MaxAxis(1).Add(x.MinAxis(1)) }},
		{"maxout", func(_ *maker, x *grad.Var) *grad.Var { return x.Maxout(3) }},
		{"topk", func(_ *maker, x *grad.Var) *grad.Var { y, _ := x.TopK(3); return y }},
		{"cumulated", func(_ *maker, x *grad.Var) *grad.Var { return x.CumSum().Add(x.Tanh().CumProd()) }},
	}, 24)
}

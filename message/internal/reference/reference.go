package reference

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/tensor"
)

type number = rounding.Number

// Reference is a message on every edge of a graph.
type Reference struct {
	*rounding.Formula
	g      *graph.Graph
	code   []ir.Node
	vars   []*grad.Var
	extra  []ir.Attribute
	leaves map[*tensor.Float]number
	made   []table // by node
}

// table is the value of a node: a row of so many numbers on every edge.
type table struct {
	shape []int
	rows  [][]number
}

// Made says what a leaf that was computed before the message is made of; nil where it is an operand.
type Made func(r *Reference, leaf ir.Kind, x *tensor.Dense) []rounding.Number

// New evaluates what nodes say of Vars, and what else they need.
func New(g *graph.Graph, code []ir.Node, vars []*grad.Var, extra []ir.Attribute, made Made) *Reference {
	r := &Reference{rounding.NewFormula(), g, code, vars, extra, map[*tensor.Float]number{}, make([]table, len(code))}
	for i, n := range code {
		switch {
		case r.matrix(i):
		case n.Kind.IsLeaf():
			r.made[i] = r.leaf(n.Kind, vars[n.K].Value(), made)
		default:
			r.made[i] = r.value(&code[i])
		}
	}
	return r
}

// matrix reports whether a node is the matrix of a product, which is no message.
func (r *Reference) matrix(i int) bool {
	return slices.ContainsFunc(r.code, func(n ir.Node) bool { return n.Kind == ir.MatMul && int(n.B) == i })
}

// Of returns the numbers of an operand.
func (r *Reference) Of(x []tensor.Float) []number {
	out := make([]number, len(x))
	for i := range x {
		n, ok := r.leaves[&x[i]]
		if !ok {
			n = r.Constant(float64(x[i]))
			r.leaves[&x[i]] = n
		}
		out[i] = n
	}
	return out
}

// Shape is that of the message on an edge.
func (r *Reference) Shape() []int { return r.made[len(r.made)-1].shape }

// Edges returns the message on the edges, one after the other.
func (r *Reference) Edges() []number { return slices.Concat(r.made[len(r.made)-1].rows...) }

// Reduced returns what reducers make of the in-edges of each destination. Several are side by
// side on the last axis.
func (r *Reference) Reduced(by ...ir.Reducer) (out []number) {
	x := r.made[len(r.made)-1]
	n, last := tensor.Size(x.shape...), x.shape[len(x.shape)-1]
	for v := range r.g.NumDst() {
		for k := 0; k < n; k += last {
			for _, by := range by {
				for j := range last {
					out = append(out, r.reduce(by, r.column(x, v, k+j)))
				}
			}
		}
	}
	return out
}

// column returns element k of the edges into v.
func (r *Reference) column(x table, v, k int) []number {
	off := r.g.In().Offsets
	out := make([]number, 0, off[v+1]-off[v])
	for _, row := range x.rows[off[v]:off[v+1]] {
		out = append(out, row[k])
	}
	return out
}

func (r *Reference) reduce(by ir.Reducer, m []number) number {
	switch {
	case len(m) == 0:
		return r.Constant(0)
	case by == ir.Sum:
		return r.Sum(m...)
	case by == ir.Mean:
		return r.Div(r.Sum(m...), r.Constant(float64(len(m))))
	case by == ir.Max:
		return r.Max(m...)
	case by == ir.Min:
		return r.Min(m...)
	case by == ir.LogSumExp:
		return r.LogSumExp(m)
	}
	return r.Std(m)
}

func (r *Reference) value(n *ir.Node) table {
	x := r.made[n.A]
	switch n.Kind {
	case ir.Unary:
		return x.each(x.shape, func(_ int, row []number, k int) number { return r.unary(vec.Unary(n.Fn), float64(n.C), row[k]) })
	case ir.Binary:
		return r.pairs(n, r.binary(vec.Binary(n.Fn)))
	case ir.DotLast:
		if y := r.made[n.B]; slices.Equal(x.shape, y.shape) {
			d := x.shape[len(x.shape)-1]
			shape := append(slices.Clone(x.shape[:len(x.shape)-1]), 1)
			return x.each(shape, func(i int, row []number, k int) number { return r.Dot(row[k*d:][:d], y.rows[i][k*d:][:d]) })
		}
		return along(r.pairs(n, r.Mul), func(x []number) number { return r.Sum(x...) })
	case ir.SumLast:
		return along(x, func(x []number) number { return r.Sum(x...) })
	case ir.MaxLast:
		return along(x, func(x []number) number { return r.Max(x...) })
	case ir.LogSumExpLast:
		return along(x, r.LogSumExp)
	case ir.MatMul:
		return r.product(n)
	case ir.Pick:
		return r.pick(n)
	case ir.Dropout:
		drop := r.extra[n.K].Drop
		return x.each(x.shape, func(i int, row []number, k int) number {
			if drop.Keep(drop.Row(i), k) {
				return r.Scale(row[k], float64(tensor.Float(drop.Scale)))
			}
			return r.Constant(0)
		})
	case ir.Gumbel:
		drop := r.extra[n.K].Drop
		return x.each(x.shape, func(i int, row []number, k int) number {
			noise := tensor.Float(math.Log(-math.Log(drop.Uniform(drop.Row(i), k))))
			return r.Sum(row[k], r.Constant(-float64(noise)))
		})
	case ir.Softmax:
		return r.across(x, r.Softmax)
	case ir.LogSoftmax:
		return r.across(x, r.logSoftmax)
	case ir.Normalise:
		return r.across(x, r.normalise)
	case ir.TopK:
		return r.across(x, func(x []number) []number { return r.kept(x, int(n.K), n.Mark) })
	case ir.Sparsemax:
		return r.across(x, r.sparsemax)
	}
	panic(fmt.Sprint("no such expression: ", n.Kind))
}

// each makes a table of that shape from the rows of x.
func (x table) each(shape []int, f func(i int, row []number, k int) number) table {
	y := table{shape: shape, rows: make([][]number, len(x.rows))}
	for i, row := range x.rows {
		y.rows[i] = make([]number, tensor.Size(shape...))
		for k := range y.rows[i] {
			y.rows[i][k] = f(i, row, k)
		}
	}
	return y
}

func (r *Reference) leaf(kind ir.Kind, x *tensor.Dense, made Made) table {
	var all []number
	if made != nil {
		all = made(r, kind, x)
	}
	if all == nil {
		all = r.Of(x.Data)
	}
	y := table{shape: slices.Clone(x.Shape()[1:])}
	if len(y.shape) == 0 {
		y.shape = []int{1}
	}
	if kind == ir.LeafW {
		y.shape = slices.Clone(x.Shape())
	}
	dst := r.g.Destinations()
	for i, u := range r.g.In().Cols {
		row := 0
		switch kind {
		case ir.LeafU:
			row = int(u)
		case ir.LeafE:
			row = i
		case ir.LeafV:
			row = int(dst[i])
			if r.g.Bipartite() && r.g.DstRows() != nil && x.Rows() == r.g.NumSrc() {
				row = int(r.g.DstRows()[row])
			}
		}
		n := tensor.Size(y.shape...)
		y.rows = append(y.rows, all[row*n:][:n])
	}
	return y
}

// pairs applies f under broadcasting, by multi-index.
func (r *Reference) pairs(n *ir.Node, f func(x, y number) number) table {
	x, y := r.made[n.A], r.made[n.B]
	axes := max(len(x.shape), len(y.shape))
	long := func(s []int) []int {
		out := make([]int, axes)
		for i := range out {
			out[i] = 1
			if j := i - axes + len(s); j >= 0 {
				out[i] = s[j]
			}
		}
		return out
	}
	xs, ys, shape := long(x.shape), long(y.shape), make([]int, axes)
	for i := range shape {
		shape[i] = max(xs[i], ys[i])
	}
	find := func(s []int, k int) int { // the element of an operand that belongs to k
		at, stride := 0, 1
		for i := axes - 1; i >= 0; i-- {
			if s[i] > 1 {
				at += k % shape[i] * stride
			}
			k /= shape[i]
			stride *= s[i]
		}
		return at
	}
	return x.each(shape, func(i int, row []number, k int) number { return f(row[find(xs, k)], y.rows[i][find(ys, k)]) })
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

func along(x table, f func(row []number) number) table {
	shape := slices.Clone(x.shape)
	d := shape[len(shape)-1]
	shape[len(shape)-1] = 1
	return x.each(shape, func(_ int, row []number, k int) number { return f(row[k*d : k*d+d]) })
}

// across makes what f says of the edges into each destination.
func (r *Reference) across(x table, f func(x []number) []number) table {
	y := x.each(x.shape, func(int, []number, int) number { return 0 })
	off := r.g.In().Offsets
	for v := range r.g.NumDst() {
		for k := range tensor.Size(x.shape...) {
			for i, z := range f(r.column(x, v, k)) {
				y.rows[int(off[v])+i][k] = z
			}
		}
	}
	return y
}

func (r *Reference) logSoftmax(x []number) []number {
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
func (r *Reference) normalise(x []number) []number {
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

// order returns the places of numbers, the largest first, and of equal ones the first.
func (r *Reference) order(x []number) []int {
	at := make([]int, len(x))
	for i := range at {
		at[i] = i
	}
	sort.SliceStable(at, func(i, j int) bool { return r.Result(x[at[i]]).Value > r.Result(x[at[j]]).Value })
	return at
}

func (r *Reference) kept(x []number, most int, mark bool) []number {
	out := make([]number, len(x))
	for rank, i := range r.order(x) {
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
func (r *Reference) sparsemax(x []number) []number {
	var most []number
	sum := 0.0
	for _, i := range r.order(x) {
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

// Near fails the test where arrays are not what their formulas say, as near as rounding lets them be.
func Near(t testing.TB, what string, got []*tensor.Dense, want [][]rounding.Result) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d arrays, want %d", what, len(got), len(want))
	}
	for i, x := range got {
		rounding.Near(t, fmt.Sprintf("%s: array %d", what, i), x.Data, want[i])
	}
}

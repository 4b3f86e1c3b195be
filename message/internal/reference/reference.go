package reference

import (
	"fmt"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/tensor"
)

type number = rounding.Number

// Reference is a message on every edge of a graph.
type Reference struct {
	*rounding.Formula
	g      *graph.Graph
	code   []ir.Node
	vars   []*grad.Var
	extra  []ops.Attribute
	leaves map[*tensor.Float]number
	made   []table // by node
}

// table is the value of a node: a row of so many numbers on every edge.
type table struct {
	shape []int
	rows  [][]number
}

// Made says what a leaf that was computed before the message is made of; nil where it is an operand.
type Made func(r *Reference, leaf ops.Kind, x *tensor.Dense) []rounding.Number

// New evaluates what nodes say of Vars, and what else they need.
func New(g *graph.Graph, code []ir.Node, vars []*grad.Var, extra []ops.Attribute, made Made) *Reference {
	r := &Reference{rounding.NewFormula(), g, code, vars, extra, map[*tensor.Float]number{}, make([]table, len(code))}
	for i, n := range code {
		switch {
		case r.matrix(i):
		case n.Kind.IsLeaf():
			r.made[i] = r.leaf(n.Kind, vars[n.K].Value(), made)
		default:
			r.made[i] = operations[n.Kind](r, &code[i]) // nil: write the operation's in formulas.go
		}
	}
	return r
}

// matrix reports whether a node is the matrix of a product, which is no message.
func (r *Reference) matrix(i int) bool {
	return slices.ContainsFunc(r.code, func(n ir.Node) bool { return n.Kind == ops.MatMul && int(n.B) == i })
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
func (r *Reference) Reduced(by ...*ops.Reducer) (out []number) {
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

func (r *Reference) reduce(by *ops.Reducer, m []number) number {
	if len(m) == 0 {
		return r.Constant(0)
	}
	return Reducers[by](r, m) // nil: write the reducer's in formulas.go
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

func (r *Reference) leaf(kind ops.Kind, x *tensor.Dense, made Made) table {
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
	if kind == ops.LeafW {
		y.shape = slices.Clone(x.Shape())
	}
	dst := r.g.Destinations()
	for i, u := range r.g.In().Cols {
		row := 0
		switch kind {
		case ops.LeafU:
			row = int(u)
		case ops.LeafE:
			row = i
		case ops.LeafV:
			row = int(dst[i])
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

// along makes a number of each run of the last axis.
func (x table) along(f func(row []number) number) table {
	d := x.shape[len(x.shape)-1]
	shape := append(slices.Clone(x.shape[:len(x.shape)-1]), 1)
	return x.each(shape, func(_ int, row []number, k int) number { return f(row[k*d : k*d+d]) })
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

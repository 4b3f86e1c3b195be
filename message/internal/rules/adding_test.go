package rules_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/message/internal/rules"
	"github.com/edgewise-ml/edgewise/tensor"
)

// This file holds the kernel of docs/inside/adding-a-rule.md, and compares it with tiles.

// sumProducts is Σ U(x)·V(y)·U(z), of rows of one shape.
type sumProducts struct{ x, y, z int } // which of the message's arrays

func matchSumProducts(p *plan.Plan) rules.Way {
	x, rest, ok := p.Program.Message().Product(ops.LeafU)
	if !ok || !p.Program.Reduces(ops.Sum) {
		return nil
	}
	y, z, ok := rest.Product(ops.LeafV)
	if !ok || !z.Is(ops.LeafU) || !alike(x.Leaf(), y.Leaf(), z.Leaf()) {
		return nil
	}
	return sumProducts{x.Var(), y.Var(), z.Var()}
}

// alike reports whether leaves are rows of one shape.
func alike(x, y, z *ir.Leaf) bool {
	return !x.Flat && !y.Flat && !z.Flat && slices.Equal(x.Shape, y.Shape) && slices.Equal(x.Shape, z.Shape)
}

// Takes takes every call.
func (sumProducts) Takes(*exec.Call) bool { return true }

// Forward runs a call.
func (k sumProducts) Forward(c *exec.Call) *grad.Var {
	x, y, z := c.Vars[k.x], c.Vars[k.y], c.Vars[k.z]
	op := grad.Begin("UpdateAll.SumProducts", x, y, z)
	var room [tensor.MaxAxes]int
	out := op.Fresh(c.Shape(room[:], x)...)
	if !tape.Dry(op, len(out.Value().Data)) {
		sums(out.Value(), c.Graph, x.Value(), z.Value())
		tensor.Mul(out.Value(), out.Value(), y.Value())
	}
	return tape.RecordBy(op, out, tape.Note(op, sumProductsBack{op, c.Graph, x, y, z}))
}

// sums sets row v of y to Σ x_u·z_u over the sources u of v. A destination is one
// thread's, and its edges are taken in order: no bit depends on the threads.
func sums(y *tensor.Dense, g *graph.Graph, x, z *tensor.Dense) {
	par.For(g.NumDst(), rowsAtOnce, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			row := y.Row(v)
			clear(row)
			for _, u := range g.Sources(v) {
				a, b := x.Row(int(u)), z.Row(int(u))
				for j := range row {
					row[j] += a[j] * b[j]
				}
			}
		}
	})
}

const rowsAtOnce = 64 // of a thread

// sumProductsBack is the pullback of a sum of products.
type sumProductsBack struct {
	op      grad.Op
	g       *graph.Graph
	x, y, z *grad.Var
}

// Pull adds to the gradients of y, x and z.
func (n *sumProductsBack) Pull(dout *tensor.Dense) {
	if dy := n.y.Grad(); dy != nil { // dout_v · Σ_u x_u·z_u
		n.op.Scratch(len(dout.Data), func(buf []tensor.Float) {
			s := tensor.Of(buf, dout.Shape()...)
			sums(s, n.g, n.x.Value(), n.z.Value())
			tensor.Mul(s, s, dout)
			dy.Add(s)
		})
	}
	n.pullSource(n.x, n.z.Value(), dout)
	n.pullSource(n.z, n.x.Value(), dout)
}

// pullSource adds other_u · Σ_v y_v·dout_v, over the destinations v of u, to the gradient
// of a factor of sources.
func (n *sumProductsBack) pullSource(of *grad.Var, other, dout *tensor.Dense) {
	to := of.Grad()
	if to == nil {
		return
	}
	y := n.y.Value()
	par.For(n.g.NumSrc(), rowsAtOnce, func(lo, hi int) {
		for u := lo; u < hi; u++ {
			row, by := to.Row(u), other.Row(u)
			for _, v := range n.g.Targets(u) {
				a, b := y.Row(int(v)), dout.Row(int(v))
				for j := range row {
					row[j] += by[j] * a[j] * b[j]
				}
			}
		}
	})
}

// withSumProducts puts the rule before all others but that of formulaOf, for one test.
func withSumProducts(t *testing.T) {
	old := rules.Table
	rules.Table = slices.Insert(slices.Clone(old), 1, []rules.Rule{
		{Name: "sum of U(x)·V(y)·U(z): one pass over the edges", Match: matchSumProducts},
	}...)
	t.Cleanup(func() { rules.Table = old })
}

// operands are what a product reads.
type operands struct{ X, Y, Z *grad.Param }

func newOperands(g *graph.Graph, shape ...int) *operands {
	rng := rand.New(rand.NewPCG(1, uint64(g.NumEdges())))
	of := func(n int) *grad.Param {
		p := grad.NewParam(append([]int{n}, shape...)...)
		p.Value.Normal(rng, 0, 1)
		return p
	}
	return &operands{of(g.NumSrc()), of(g.NumDst()), of(g.NumSrc())}
}

// run returns Σ U(x)·V(y)·U(z) and its gradients. shared has x for z.
func (o *operands) run(g *graph.Graph, shared bool) []*tensor.Dense {
	t := grad.NewTape(1)
	x, y, z := t.Use(o.X), t.Use(o.Y), t.Use(o.Z)
	if shared {
		z = x
	}
	out := message.UpdateAll(g, message.U(x).Mul(message.V(y)).Mul(message.U(z)), message.Sum)
	all := []*tensor.Dense{out.Value()}
	for _, d := range t.Backward(out.Mul(out).Sum()) {
		all = append(all, d.Value)
	}
	return all
}

// TestAddedWay holds the kernel and tiles against the formula, forward and backward, and compares
// its bits on one thread with those on four.
func TestAddedWay(t *testing.T) {
	withSumProducts(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for name, g := range map[string]*graph.Graph{
		"some":      random.BarabasiAlbert(rng, 300, 4),
		"bipartite": graph.Must(graph.NewBipartite(3, 4, []int32{0, 2, 2, 1, 0}, []int32{0, 0, 0, 2, 3})),
		"no edges":  graph.Must(graph.New(3, nil, nil)),
	} {
		for _, shared := range []bool{false, true} {
			o := newOperands(g, 3, 5)
			got := o.run(g, shared)
			undo := par.SetThreads(4)
			compare.Arrays(t, name+" on four threads", o.run(g, shared), got, compare.Exactly)
			undo()
			of := []*grad.Param{o.X, o.Y, o.Z}
			if shared {
				of = of[:2]
			}
			want := formulaOf(of, nil, func() { o.run(g, shared) })
			reference.Near(t, name, got[:len(want)], want)
			rules.TilesOnly = true
			reference.Near(t, name+", in tiles", o.run(g, shared)[:len(want)], want)
			rules.TilesOnly = false
		}
	}
}

// TestAddedRule asks Explain which messages the rule takes.
func TestAddedRule(t *testing.T) {
	withSumProducts(t)
	g := graph.Ring(5, 1)
	block := graph.Must(graph.Block(g, []int32{2, 4}))
	o := newOperands(g, 7)
	tp := grad.NewTape(1)
	x, y, z := tp.Use(o.X), tp.Use(o.Y), tp.Use(o.Z)
	u, v, w := message.U(x), message.V(y), message.U(z)
	few, far := grad.Const(tensor.New(2, 7)), message.U(grad.Const(tensor.New(block.NumSrc(), 7)))
	for _, c := range []struct {
		what string
		g    *graph.Graph
		m    message.Msg
		r    message.Reducer
		want bool
	}{
		{"U·V·U", g, u.Mul(v).Mul(w), message.Sum, true},
		{"V·U·U", g, v.Mul(u).Mul(w), message.Sum, true},
		{"the mean", g, u.Mul(v).Mul(w), message.Mean, false},
		{"a quotient", g, u.Div(v).Mul(w), message.Sum, false},
		{"rows of two shapes", g, u.Mul(v).Mul(message.U(grad.Const(tensor.New(5, 1)))), message.Sum, false},
		{"destinations that are sources", block, far.Mul(message.V(few)).Mul(far), message.Sum, true},
		{"rows of sources", block, far.Mul(message.V(message.OnDst(block, grad.Const(tensor.New(block.NumSrc(), 7))))).Mul(far), message.Sum, true},
	} {
		if got := strings.HasPrefix(message.Explain(c.g, c.m, c.r), "rule: sum of U(x)·V(y)·U(z)"); got != c.want {
			t.Errorf("%s: the kernel runs it is %v, want %v", c.what, got, c.want)
		}
	}
}

// TestAddedGradient compares the way's gradients with differences.
func TestAddedGradient(t *testing.T) {
	withSumProducts(t)
	g := graph.Must(graph.New(4, []int32{0, 1, 1, 3, 2, 2}, []int32{1, 1, 0, 0, 3, 3}))
	o := newOperands(g, 2, 2)
	gradtest.Check(t, o, func(tp *grad.Tape) *grad.Var {
		m := message.U(tp.Use(o.X)).Mul(message.V(tp.Use(o.Y))).Mul(message.U(tp.Use(o.Z)))
		return message.UpdateAll(g, m, message.Sum).Tanh().Sum()
	})
}

// What docs/inside/adding-a-rule.md quotes is what stands here, or in the table.
func TestAddingARule(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	src := read("adding_test.go") + read("table.go")
	quoted := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read("../../../docs/inside/adding-a-rule.md"), -1)
	if len(quoted) < 6 {
		t.Fatalf("docs/inside/adding-a-rule.md has %d blocks of code", len(quoted))
	}
	for _, b := range quoted {
		if !strings.Contains(src, b[1]) {
			t.Errorf("docs/inside/adding-a-rule.md quotes what is not in adding_test.go:\n%s", b[1])
		}
	}
}

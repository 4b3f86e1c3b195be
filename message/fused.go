package message

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// fused is an expression that has a kernel of its own.
type fused struct {
	name string // for Explain
	run  func(g *graph.Graph) *grad.Var
	add  func(g *graph.Graph, b *grad.Var) *grad.Var // run of a kernel that adds a bias to each row, too; nil: there is none
}

// kernel is one that adds no bias.
func kernel(name string, run func(g *graph.Graph) *grad.Var) *fused {
	return &fused{name: name, run: run}
}

// fuse is switched off by tests that compare a kernel with the tile executor.
var fuse = true

// fusedUpdate runs the kernel for the reduction of m on g if there is one.
func fusedUpdate(g *graph.Graph, m *Msg, rs []Reducer) *grad.Var {
	if !fuse || m.empty() || len(rs) != 1 {
		return nil
	}
	f := forests.Get().(*forest)
	defer f.fell()
	if k := recognise(g, f.tree(m), rs[0]); k != nil {
		return k.run(g)
	}
	return nil
}

// fusedAdd is fusedUpdate of a sum, and a bias.
func fusedAdd(g *graph.Graph, m *Msg, b *grad.Var) *grad.Var {
	if !fuse || m.empty() {
		return nil
	}
	f := forests.Get().(*forest)
	defer f.fell()
	k := recognise(g, f.tree(m), Sum)
	switch {
	case k == nil:
		return nil
	case k.add != nil:
		return k.add(g, b)
	}
	return addBias(k.run(g), b)
}

// fusedEdges runs the kernel for m on the edges of g if there is one.
func fusedEdges(g *graph.Graph, m *Msg) *grad.Var {
	if !fuse || m.empty() {
		return nil
	}
	f := forests.Get().(*forest)
	defer f.fell()
	if k := recogniseEdges(g, f.tree(m)); k != nil {
		return k.run(g)
	}
	return nil
}

// kernelOf returns what Explain says of the kernel for m, or nothing.
func kernelOf(g *graph.Graph, m *Msg, rs []Reducer) string {
	if !fuse || m.empty() || len(rs) > 1 {
		return ""
	}
	f := forests.Get().(*forest)
	defer f.fell()
	var k *fused
	if e := f.tree(m); len(rs) == 0 {
		k = recogniseEdges(g, e)
	} else {
		k = recognise(g, e, rs[0])
	}
	if k == nil {
		return ""
	}
	return k.name
}

// recognise returns the kernel for the reduction of m on g, or nil.
func recognise(g *graph.Graph, m *expr, r Reducer) *fused {
	if r != Sum {
		return recogniseU(g, m, r)
	}
	if m.plainLeaf(leafU) && onSources(g, m.x) {
		x := m.x
		if oneToOne(g) {
			return kernel("sum of U(x) where destination i has source i alone: x itself", func(*graph.Graph) *grad.Var { return x })
		}
		return kernel("sum of U(x): one sparse-dense product", func(g *graph.Graph) *grad.Var { return sumU(g, x) })
	}
	if m.kind != binary || m.bin != simd.Mul {
		return nil
	}
	for _, pair := range [2][2]*expr{{m.a, m.b}, {m.b, m.a}} {
		x, w := pair[0], pair[1]
		if !x.plainLeaf(leafU) || !onSources(g, x.x) {
			continue
		}
		if w.plainLeaf(leafE) && w.x.Shape()[0] == g.NumEdges() && perHead(w.x, x.x) {
			x, w := x.x, w.x
			return kernel("sum of U(x) × a scalar a head: one product with a weight a head", func(g *graph.Graph) *grad.Var { return sumWeighted(g, x, w) })
		}
		if a := matchDense(g, x.x, w); a != nil {
			return kernel("dot-product attention on blocks: products of matrices with a softmax that goes along", a.run)
		}
		if a := matchAttention(g, x.x, w); a != nil {
			return &fused{
				name: "graph attention: softmax and weighted sum in one pass over each destination's edges", run: a.run, add: a.add,
			}
		}
	}
	return nil
}

// recogniseEdges returns the kernel for m on the edges of g, or nil.
func recogniseEdges(g *graph.Graph, n *expr) *fused {
	if n.kind == softmax && n.a.plainLeaf(leafE) && n.a.x.Shape()[0] == g.NumEdges() {
		x := n.a.x
		return kernel("edge softmax: one pass over each destination's edges", func(g *graph.Graph) *grad.Var { return softmaxE(g, x) })
	}
	if n.kind == dotLast && n.a.plainLeaf(leafU) && n.b.plainLeaf(leafV) && dottable(g, n.a.x, n.b.x) {
		x, y := n.a.x, n.b.x
		return kernel("U(x)·V(y): one sampled product", func(g *graph.Graph) *grad.Var { return dotUV(g, x, y) })
	}
	return nil
}

func (e *expr) plainLeaf(k kind) bool { return e.kind == k && e.rows == nil && !e.x.IsSparse() }

func onSources(g *graph.Graph, x *grad.Var) bool {
	return x.Shape()[0] == g.NumSrc() && len(x.Shape()) > 1
}

type oneToOneKey struct{}

// oneToOne reports whether each destination has the source of its own number and
// no other, as in a sweep over chains.
func oneToOne(g *graph.Graph) bool {
	if g.NumSrc() != g.NumDst() || g.NumEdges() != g.NumDst() {
		return false
	}
	return g.Derived(oneToOneKey{}, func() any {
		for v, u := range g.In().Cols {
			if int(u) != v || g.In().Offsets[v] != int64(v) {
				return false
			}
		}
		return true
	}).(bool)
}

// perHead reports whether a row of w has one element for each head of x: for
// all of it, or for each run along its last axis.
func perHead(w, x *grad.Var) bool {
	ws, xs := w.Shape()[1:], x.Shape()[1:]
	if len(ws) == 0 || len(ws) > len(xs) || ws[len(ws)-1] != 1 {
		return false
	}
	ws, xs = ws[:len(ws)-1], xs[:len(xs)-1]
	n := 1
	for _, s := range ws {
		n *= s
	}
	if n == 1 {
		return true
	}
	if len(ws) != len(xs) {
		return false
	}
	for i := range ws {
		if ws[i] != xs[i] {
			return false
		}
	}
	return true
}

// dottable reports whether x and y have rows of one shape on either side.
func dottable(g *graph.Graph, x, y *grad.Var) bool {
	xs, ys := x.Shape(), y.Shape()
	if g.Bipartite() && g.DstRows() != nil || len(xs) != len(ys) || len(xs) < 2 || xs[0] != g.NumSrc() || ys[0] != g.NumDst() {
		return false
	}
	for i := range xs[1:] {
		if xs[i+1] != ys[i+1] {
			return false
		}
	}
	return xs[len(xs)-1] > 0
}

// arrived returns the sum of rows of sources, or nil if m or the reducer is
// another. It is what [recognise] finds, found without garbage: a level of a
// sweep asks for it.
func arrived(g *graph.Graph, m *Msg, rs []Reducer) *grad.Var {
	if !fuse || len(rs) != 1 || rs[0] != Sum || len(m.nodes()) != 1 || m.nodes()[0].kind != leafU {
		return nil
	}
	switch x := m.operands()[0]; {
	case x.IsSparse() || !onSources(g, x):
		return nil
	case oneToOne(g):
		return x
	default:
		return sumU(g, x)
	}
}

func sumU(g *graph.Graph, x *grad.Var) *grad.Var {
	op := grad.Begin("UpdateAll.SumU", x)
	var dims [tensor.MaxAxes]int
	shape := append(dims[:0], x.Shape()...)
	shape[0] = g.NumDst()
	y := op.Fresh(shape...)
	if !op.Dry(0) {
		sparse.Product{A: g.In()}.Into(y.Value(), x.Value())
	}
	n := grad.Notes[sumUNotes](op)
	*n = sumUNotes{g, x}
	return op.RecordBy(y, n)
}

// sumUNotes is the pullback of a sum of rows of sources.
type sumUNotes struct {
	g *graph.Graph
	x *grad.Var
}

// Pull adds to x's gradient.
func (n *sumUNotes) Pull(dy *tensor.Dense) {
	pullProduct(n.x, sparse.Product{A: n.g.In(), Transpose: true}, dy)
}

// recogniseU returns the kernel for a reduction, other than the sum, of U alone.
func recogniseU(g *graph.Graph, m *expr, r Reducer) *fused {
	if !m.plainLeaf(leafU) || !onSources(g, m.x) {
		return nil
	}
	x := m.x
	switch r {
	case Mean:
		return kernel("mean of U(x): one sparse-dense product, divided by the in-degrees", func(g *graph.Graph) *grad.Var { return meanU(g, x) })
	case Max:
		return kernel("largest of U(x): one pass over the edges", func(g *graph.Graph) *grad.Var { return bestU(g, x, sparse.MaxDense) })
	case Min:
		return kernel("smallest of U(x): one pass over the edges", func(g *graph.Graph) *grad.Var { return bestU(g, x, sparse.MinDense) })
	}
	return nil
}

func meanU(g *graph.Graph, x *grad.Var) *grad.Var {
	op := grad.Begin("UpdateAll.MeanU", x)
	y := op.Fresh(append([]int{g.NumDst()}, x.Shape()[1:]...)...)
	if !op.Dry(0) {
		sparse.Product{A: g.In(), Mean: true}.Into(y.Value(), x.Value())
	}
	return op.Record(y, func(dy *tensor.Dense) {
		pullProduct(x, sparse.Product{A: g.In(), Transpose: true, Mean: true}, dy)
	})
}

func bestU(g *graph.Graph, x *grad.Var, best func(dst *tensor.Dense, arg []int32, a *sparse.CSR, w, x *tensor.Dense)) *grad.Var {
	op := grad.Begin("UpdateAll.BestU", x)
	y := op.Fresh(append([]int{g.NumDst()}, x.Shape()[1:]...)...)
	arg := op.Ints(len(y.Value().Data))
	if !op.Dry(0) {
		best(y.Value(), arg, g.In(), nil, x.Value())
	}
	return op.Record(y, func(dy *tensor.Dense) {
		sparse.BestGrad(sparse.BestGrads{X: x.Grad()}, arg, g.In(), nil, x.Value(), dy)
	})
}

func sumWeighted(g *graph.Graph, x, w *grad.Var) *grad.Var {
	op := grad.Begin("UpdateAll.SumWeighted", x, w)
	y := op.Fresh(append([]int{g.NumDst()}, x.Shape()[1:]...)...)
	if !op.Dry(0) {
		sparse.Product{A: g.In(), Weights: w.Value()}.Into(y.Value(), x.Value())
	}
	return op.Record(y, func(dy *tensor.Dense) {
		pullProduct(x, sparse.Product{A: g.In(), Weights: w.Value(), Transpose: true}, dy)
		if dw, fresh := w.FreshGrad(); dw != nil {
			sparse.Dots{A: g.In(), Add: !fresh}.Into(dw, x.Value(), dy)
		}
	})
}

func dotUV(g *graph.Graph, x, y *grad.Var) *grad.Var {
	op := grad.Begin("ApplyEdges.Dot", x, y)
	shape := append([]int{g.NumEdges()}, x.Shape()[1:]...)
	shape[len(shape)-1] = 1
	z := op.Fresh(shape...)
	if !op.Dry(0) {
		sparse.Dots{A: g.In()}.Into(z.Value(), x.Value(), y.Value())
	}
	return op.Record(z, func(dz *tensor.Dense) {
		pullProduct(x, sparse.Product{A: g.In(), Weights: dz, Transpose: true}, y.Value())
		pullProduct(y, sparse.Product{A: g.In(), Weights: dz}, x.Value())
	})
}

// pullProduct adds a product over the edges with x to v's gradient, if that is
// wanted.
func pullProduct(v *grad.Var, p sparse.Product, x *tensor.Dense) {
	if dv, fresh := v.FreshGrad(); dv != nil {
		p.Add = !fresh
		p.Into(dv, x)
	}
}

func softmaxE(g *graph.Graph, x *grad.Var) *grad.Var {
	op := grad.Begin("EdgeSoftmax", x)
	shape := x.Value().Shape()
	if len(shape) == 1 {
		shape = []int{shape[0], 1}
	}
	y := op.Fresh(shape...)
	if !op.Dry(0) {
		sparse.SoftmaxRows(y.Value(), g.In(), x.Value().Reshape(shape...))
	}
	return op.Record(y, func(dy *tensor.Dense) {
		if dx, fresh := x.FreshGrad(); fresh {
			sparse.SetSoftmaxRowsGrad(dx.Reshape(shape...), g.In(), y.Value(), dy)
		} else {
			sparse.SoftmaxRowsGrad(dx.Reshape(shape...), g.In(), y.Value(), dy)
		}
	})
}

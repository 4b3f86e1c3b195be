package message

import (
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/attend"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// dense is dot-product attention on a graph of blocks, where no edge is listed:
// [attend.Blocks] has the arithmetic.
type dense struct {
	spans   []graph.Span
	q, k, x *grad.Var
	bias    denseBias
	drop    *simd.Dropout // nil: none
	scale   tensor.Float

	kernel attend.Blocks     // made by run
	into   attend.BlockGrads // made by the pullback
}

// denseBias is what is added to the logits of attention on blocks: a row of x for
// each edge or, of a table, that of the edge's kind.
type denseBias struct {
	x     *grad.Var // nil: none
	kinds []int32   // of a table
	width int       // of a row
}

// matchDense returns the dense attention that the weights w of x are, or nil.
func matchDense(g *graph.Graph, x *grad.Var, w *expr) *dense {
	m := dense{spans: g.Spans(), x: x, scale: 1}
	if w.kind == dropout {
		m.drop, w = w.drop, w.a
	}
	if m.spans == nil || w.kind != softmax || g.Bipartite() && g.DstRows() != nil {
		return nil
	}
	z := w.a
	if z.kind == binary && z.bin == simd.Add {
		switch {
		case m.bias.read(z.b):
			z = z.a
		case m.bias.read(z.a):
			z = z.b
		default:
			return nil
		}
	}
	if z.kind == unary && z.un == simd.Scale {
		m.scale, z = z.c, z.a
	}
	if z.kind != dotLast || !z.a.plainLeaf(leafU) || !z.b.plainLeaf(leafV) {
		return nil
	}
	m.k, m.q = z.a.x, z.b.x
	if !m.fits(g) {
		return nil
	}
	found := m // so that looking in vain allocates nothing
	return &found
}

// fits reports whether the operands have the same heads, and g's rows. What is
// not finite would leak from a source into destinations that do not hear it.
func (m *dense) fits(g *graph.Graph) bool {
	ks, qs, xs := m.k.Shape(), m.q.Shape(), m.x.Shape()
	n := len(ks) - 1
	if n < 1 || len(xs) != n+1 || !slices.Equal(ks[1:], qs[1:]) || !slices.Equal(ks[1:n], xs[1:n]) || ks[n] == 0 || xs[n] == 0 {
		return false
	}
	if ks[n] > 512 || xs[n] > 512 || ks[0] != g.NumSrc() || xs[0] != g.NumSrc() || qs[0] != g.NumDst() {
		return false
	}
	if m.bias.x != nil && !m.bias.fits(g, ks[1:n]) {
		return false
	}
	if grad.Begin("UpdateAll.Dense", m.vars()...).Measuring() {
		return true
	}
	for _, v := range []*grad.Var{m.q, m.k, m.x} {
		if s := float64(simd.Sum(v.Value().Data)); math.IsNaN(s) || math.IsInf(s, 0) {
			return false
		}
	}
	return m.bias.bounded()
}

// vars returns the operands.
func (m *dense) vars() []*grad.Var {
	if m.bias.x == nil {
		return []*grad.Var{m.q, m.k, m.x}
	}
	return []*grad.Var{m.q, m.k, m.x, m.bias.x}
}

// run computes the attention and records it.
func (m *dense) run(g *graph.Graph) *grad.Var {
	op := grad.Begin("UpdateAll.Dense", m.vars()...)
	y := op.New(append([]int{g.NumDst()}, m.x.Shape()[1:]...)...)
	m.prepare()
	k := &m.kernel
	k.Stats = attend.BlockStats{Top: op.Floats(g.NumDst() * k.Heads), Sum: op.Floats(g.NumDst() * k.Heads)}
	room := k.Room(m.bias.x != nil && m.bias.x.Needs())
	if !op.Dry(room) {
		k.Forward(y.Value().Data)
	}
	return op.Record(y, func(dy *tensor.Dense) {
		op.Scratch(room, func(buf []tensor.Float) { m.pull(dy, buf) })
	})
}

// prepare sets the kernel, but for its statistics.
func (m *dense) prepare() {
	ks, xs := m.k.Shape(), m.x.Shape()
	d, f := ks[len(ks)-1], xs[len(xs)-1]
	m.kernel = attend.Blocks{
		Spans: m.spans, Q: m.q.Value().Data, K: m.k.Value().Data, X: m.x.Value().Data,
		Heads: m.k.Value().RowLen() / d, KeyWidth: d, ValueWidth: f, Scale: m.scale, Drop: (*tensor.Mask)(m.drop),
	}
	if b := &m.bias; b.x != nil {
		m.kernel.Bias = attend.BlockBias{X: b.x.Value().Data, Kinds: b.kinds, Width: b.width}
	}
}

// pull adds to the gradients of the operands.
func (m *dense) pull(dy *tensor.Dense, room []tensor.Float) {
	into := func(x *grad.Var) []tensor.Float {
		if x == nil || !x.Needs() {
			return nil
		}
		return x.Grad().Data
	}
	m.into = attend.BlockGrads{Out: dy.Data, Q: into(m.q), K: into(m.k), X: into(m.x), Bias: into(m.bias.x)}
	m.kernel.Backward(&m.into, room)
}

// read reports whether e is a bias, which it takes.
func (d *denseBias) read(e *expr) bool {
	switch {
	case e.plainLeaf(leafE):
		d.x, d.kinds = e.x, nil
	case e.kind == pick && e.a.plainLeaf(leafW):
		d.x, d.kinds = e.a.x, e.rows
		if d.kinds == nil { // of no edges
			d.kinds = []int32{}
		}
	default:
		return false
	}
	return true
}

// fits reports whether there is a row for each edge of g, of elements for the
// heads.
func (d *denseBias) fits(g *graph.Graph, heads []int) bool {
	row := d.x.Shape()[1:]
	d.width = tensor.Size(append([]int{1}, row...)...)
	if d.width != 1 && (len(row) != len(heads)+1 || !slices.Equal(row[:len(heads)], heads) || row[len(heads)] != 1) || len(row) > len(heads)+1 {
		return false
	}
	if d.kinds == nil {
		return d.x.Dim(0) == g.NumEdges()
	}
	n := uint(d.x.Dim(0))
	return len(d.kinds) == g.NumEdges() && !slices.ContainsFunc(d.kinds, func(k int32) bool { return uint(k) >= n })
}

// bounded reports whether no element is NaN or +∞. A −∞ says that there is no
// edge.
func (d *denseBias) bounded() bool {
	if d.x == nil {
		return true
	}
	top := float64(simd.MaxOf(d.x.Value().Data))
	return !math.IsNaN(top) && !math.IsInf(top, 1)
}

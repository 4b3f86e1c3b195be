package rules

import (
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// blocks is dot-product attention on a graph of blocks, where no edge is listed:
//
//	Σ U(x) × softmax(U(k)·V(q) [scaled] [+ a bias of edges, kinds or offsets]) [with dropout]
//
// [fused.Blocks] has the arithmetic.
type blocks struct {
	q, k, x   int
	scale     tensor.Float
	bias      int // what is added to the logits, or none:
	kinds     int // of a table, the attribute that says an edge's row, or how its offset does; or none
	biasWidth int // of a row
	drop      int // the attribute of a dropout, or none

	queries, keys, values *ir.Leaf // q, k and x
}

// mostHead is the longest row of a head that blocks have room for.
const mostHead = 512

func matchBlocks(p *plan.Plan) Way {
	x, w, ok := p.Program.Message().Product(ops.LeafU)
	if !ok || !p.Program.Reduces(ops.Sum) {
		return nil
	}
	m := blocks{x: x.Var(), scale: 1, bias: none, kinds: none, drop: none}
	if w.Is(ops.Dropout) {
		m.drop, w = w.Attribute(), w.Operand()
	}
	if !w.Is(ops.Softmax) {
		return nil
	}
	z := w.Operand()
	var bias *ir.Expr
	if a, b, ok := z.Pair(vec.Add); ok {
		switch {
		case m.takeBias(b):
			z, bias = a, &b
		case m.takeBias(a):
			z, bias = b, &a
		default:
			return nil
		}
	}
	if scale, ok := z.Function(vec.Scale); ok {
		m.scale, z = scale, z.Operand()
	}
	if !z.Is(ops.DotLast) || !z.Operand().Is(ops.LeafU) || !z.Second().Is(ops.LeafV) {
		return nil
	}
	m.k, m.q = z.Operand().Var(), z.Second().Var()
	m.keys, m.queries, m.values = z.Operand().Leaf(), z.Second().Leaf(), x.Leaf()
	if !m.fit(m.keys, m.queries, m.values) || bias != nil && !m.biasFits(*bias, m.keys) {
		return nil
	}
	return m
}

// takeBias reports whether e is a bias, which it takes: a row for each edge or, of a
// table, that of the edge's kind or offset.
func (m *blocks) takeBias(e ir.Expr) bool {
	switch {
	case e.Is(ops.LeafE):
		m.bias = e.Var()
	case e.Is(ops.Pick) && e.Operand().Is(ops.LeafW):
		m.bias, m.kinds = e.Operand().Var(), e.Attribute()
	default:
		return false
	}
	return true
}

// fit reports whether the operands have the same heads.
func (m *blocks) fit(k, q, x *ir.Leaf) bool {
	if !sameRows(k, q) || x.Flat || len(x.Shape) != len(k.Shape) || !slices.Equal(headsOf(k), headsOf(x)) {
		return false
	}
	return k.Last() > 0 && k.Last() <= mostHead && x.Last() > 0 && x.Last() <= mostHead
}

// headsOf are the axes of a leaf but for the last.
func headsOf(l *ir.Leaf) []int { return l.Shape[:len(l.Shape)-1] }

// biasFits reports whether a row of the bias has an element for each head, or one for
// all.
func (m *blocks) biasFits(e ir.Expr, k *ir.Leaf) bool {
	var row []int // without the axis of edges, or of kinds
	switch {
	case m.kinds != none:
		row = e.Operand().Leaf().Shape[1:]
	case !e.Leaf().Flat:
		row = e.Leaf().Shape
	}
	heads := headsOf(k)
	m.biasWidth = 1
	for _, n := range row {
		m.biasWidth *= n
	}
	each := len(row) == len(heads)+1 && slices.Equal(row[:len(heads)], heads) && row[len(heads)] == 1
	return each || m.biasWidth == 1 && len(row) <= len(heads)+1
}

// Takes takes graphs of blocks, if all is finite: what is not would leak from a source into destinations that do not hear it.
func (m blocks) Takes(c *exec.Call) bool {
	if c.Graph.Spans() == nil {
		return false
	}
	var room [4]*grad.Var
	vars := m.vars(c, room[:0])
	if tape.Measuring(grad.Begin("UpdateAll.Dense", vars...)) {
		return true
	}
	if !dense.Sound([][]tensor.Float{vars[0].Value().Data, vars[1].Value().Data, vars[2].Value().Data}) {
		return false
	}
	if m.bias == none { // of which −∞ says that there is no edge
		return true
	}
	top := float64(vec.MaxOf(c.Vars[m.bias].Value().Data))
	return !math.IsNaN(top) && !math.IsInf(top, 1)
}

// vars appends the operands.
func (m *blocks) vars(c *exec.Call, to []*grad.Var) []*grad.Var {
	to = append(to, c.Vars[m.q], c.Vars[m.k], c.Vars[m.x])
	if m.bias != none {
		to = append(to, c.Vars[m.bias])
	}
	return to
}

// Forward runs a call.
func (m blocks) Forward(c *exec.Call) *grad.Var {
	var room [4]*grad.Var
	op := grad.Begin("UpdateAll.Dense", m.vars(c, room[:0])...)
	n := tape.Note(op, blocksBack{op: op, q: c.Vars[m.q], k: c.Vars[m.k], x: c.Vars[m.x]})
	var shape [tensor.MaxAxes]int
	y := op.New(c.Shape(shape[:], n.x)...)
	d := n.k.Dim(-1)
	n.pass = fused.Blocks{
		Spans: c.Graph.Spans(), Q: n.q.Value().Data, K: n.k.Value().Data, X: n.x.Value().Data,
		Heads: n.k.Value().RowLen() / d, KeyWidth: d, ValueWidth: n.x.Dim(-1), Scale: m.scale,
	}
	k := &n.pass
	if m.drop != none {
		k.Drop = (*tensor.Mask)(c.Attributes[m.drop].Drop)
	}
	if m.bias != none {
		n.bias = c.Vars[m.bias]
		k.Bias = fused.BlockBias{X: n.bias.Value().Data, Width: m.biasWidth}
	}
	if m.kinds != none {
		n.tableOf(c.Graph, &c.Attributes[m.kinds])
	}
	k.Stats = fused.BlockStats{Top: op.Floats(c.Graph.NumDst() * k.Heads), Sum: op.Floats(c.Graph.NumDst() * k.Heads)}
	n.room = k.Room(n.bias != nil && n.bias.Needs())
	if !tape.Dry(op, n.room) {
		k.Forward(y.Value().Data)
	}
	return tape.RecordBy(op, y, n)
}

// tableOf says which row of a table each edge takes.
func (n *blocksBack) tableOf(g *graph.Graph, x *ops.Attribute) {
	b := &n.pass.Bias
	if x.ByOffset {
		src, dst := g.Places()
		n.offsets = fused.OffsetTable{Src: src, Dst: dst, Lo: int(x.Lo), Hi: int(x.Hi)}
		b.Offsets = &n.offsets
		return
	}
	if b.Kinds = x.Rows; b.Kinds == nil { // of no edges
		b.Kinds = []int32{}
	}
}

// blocksBack is the pullback of attention on blocks.
type blocksBack struct {
	op      grad.Op
	q, k, x *grad.Var
	bias    *grad.Var // nil: none
	pass    fused.Blocks
	offsets fused.OffsetTable // of its bias
	room    int               // scratch of backward
}

// Pull adds to the gradients of the operands.
func (n *blocksBack) Pull(dy *tensor.Dense) {
	into := func(x *grad.Var) []tensor.Float {
		if x == nil || !x.Needs() {
			return nil
		}
		return x.Grad().Data
	}
	n.op.Scratch(n.room, func(buf []tensor.Float) {
		n.pass.Backward(&fused.BlockGrads{Out: dy.Data, Q: into(n.q), K: into(n.k), X: into(n.x), Bias: into(n.bias)}, buf)
	})
}

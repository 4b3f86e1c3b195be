package rules

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// weightedBlocks is Σ U(x)·E(w), of which w has one number, on a graph of whole blocks. Its
// edges are by destination, then by source, so the weights of a block are a matrix with a
// row for each destination:
//
//	y = W·x     dx = Wᵀ·dy     dW = dy·xᵀ
//
// A block that is small or has a mask stays a list of edges, with the bits that it has where
// all are: what else is in a batch does not tell on it.
type weightedBlocks struct{ x, w int }

func matchWeightedBlocks(p *plan.Plan) Way {
	x, w, ok := p.Program.Message().Product(ops.LeafU)
	if !ok || !p.Program.Reduces(ops.Sum) || !w.Is(ops.LeafE) || !ir.Heads(w.Leaf(), x.Leaf()) {
		return nil
	}
	for _, n := range w.Leaf().Shape {
		if n != 1 {
			return nil
		}
	}
	return weightedBlocks{x.Var(), w.Var()}
}

// leastBlock is how many edges a block has at least to be a product of matrices.
const leastBlock = 1 << 12

// Takes takes graphs of blocks, if one of them is a product.
func (weightedBlocks) Takes(c *exec.Call) bool {
	return slices.ContainsFunc(c.Graph.Spans(), isProduct)
}

// isProduct reports whether a block is whole and large.
func isProduct(s graph.Span) bool { return s.Mask == graph.FullMask && s.NumEdges() >= leastBlock }

// Forward runs a call.
func (k weightedBlocks) Forward(c *exec.Call) *grad.Var {
	x, w := c.Vars[k.x], c.Vars[k.w]
	op := grad.Begin("UpdateAll.SumWeightedBlocks", x, w)
	var room [tensor.MaxAxes]int
	y := op.New(c.Shape(room[:], x)...)
	if !tape.Dry(op, 0) {
		for _, b := range blocksOf(c.Graph) {
			b.add(y.Value(), w.Value(), x.Value())
		}
	}
	return tape.RecordBy(op, y, tape.Note(op, weightedBlocksBack{c.Graph, x, w}))
}

// weightedBlocksBack is the pullback of a weighted sum on blocks.
type weightedBlocksBack struct {
	g    *graph.Graph
	x, w *grad.Var
}

// Pull adds to the gradients of x and w.
func (n *weightedBlocksBack) Pull(dy *tensor.Dense) {
	dx, dw := n.x.Grad(), n.w.Grad()
	for _, b := range blocksOf(n.g) {
		if dx != nil {
			b.addT(dx, n.w.Value(), dy)
		}
		if dw != nil {
			b.addDots(dw, dy, n.x.Value())
		}
	}
}

// weightedBlock is a block whose edges have weights.
type weightedBlock struct {
	graph.Span
	edge   int         // its first one
	listed *sparse.CSR // its edges, unless it is a product
}

type weightedBlocksKey struct{}

// blocksOf returns the blocks of g.
func blocksOf(g *graph.Graph) []weightedBlock {
	return graph.Derive(g, weightedBlocksKey{}, func() []weightedBlock {
		var all []weightedBlock
		edge := 0
		for _, s := range g.Spans() {
			b := weightedBlock{Span: s, edge: edge}
			if !isProduct(s) {
				b.listed = listed(s)
			}
			edge += s.NumEdges()
			all = append(all, b)
		}
		return all
	})
}

// listed returns the edges of a block, whose nodes are counted from its first ones.
func listed(s graph.Span) *sparse.CSR {
	a := &sparse.CSR{NumRows: s.NumDst, NumCols: s.NumSrc, Offsets: make([]int64, 1, s.NumDst+1)}
	for j := range s.NumDst {
		lo, hi, skip := s.Sources(j)
		for u := lo; u < hi; u++ {
			if u != skip {
				a.Cols = append(a.Cols, int32(u-s.Src))
			}
		}
		a.Offsets = append(a.Offsets, int64(len(a.Cols)))
	}
	return a
}

// add adds W·x to the block's rows of y.
func (b *weightedBlock) add(y, w, x *tensor.Dense) {
	y, w, x = rowsOf(y, b.Dst, b.NumDst), b.weights(w), rowsOf(x, b.Src, b.NumSrc)
	if b.listed != nil {
		sparse.Product{A: b.listed, Weights: w, Add: true}.Into(y, x)
		return
	}
	tensor.MatMul(y, w, x, 0)
}

// addT adds Wᵀ·dy to the block's rows of dx.
func (b *weightedBlock) addT(dx, w, dy *tensor.Dense) {
	dx, w, dy = rowsOf(dx, b.Src, b.NumSrc), b.weights(w), rowsOf(dy, b.Dst, b.NumDst)
	if b.listed != nil {
		sparse.Product{A: b.listed, Weights: w, Transpose: true, Add: true}.Into(dx, dy)
		return
	}
	tensor.MatMul(dx, w, dy, tensor.TransA)
}

// addDots adds dy·xᵀ to the gradients of the block's weights.
func (b *weightedBlock) addDots(dw, dy, x *tensor.Dense) {
	dw, dy, x = b.weights(dw), rowsOf(dy, b.Dst, b.NumDst), rowsOf(x, b.Src, b.NumSrc)
	if b.listed != nil {
		sparse.Dots{A: b.listed, Add: true}.Into(dw, x, dy)
		return
	}
	tensor.MatMul(dw, dy, x, tensor.TransB)
}

// weights returns those of the block: a matrix, or a column if its edges are listed.
func (b *weightedBlock) weights(w *tensor.Dense) *tensor.Dense {
	of := w.Data[b.edge : b.edge+b.NumEdges()]
	if b.listed != nil {
		return tensor.Of(of, len(of), 1)
	}
	return tensor.Of(of, b.NumDst, b.NumSrc)
}

// rowsOf returns n rows of x as a matrix.
func rowsOf(x *tensor.Dense, first, n int) *tensor.Dense {
	f := x.RowLen()
	return tensor.Of(x.Data[first*f:(first+n)*f], n, f)
}

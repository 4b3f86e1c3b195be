package layers

import (
	"cmp"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// sumsFirst reports whether sumFirst takes less time than the way of Apply. That changes the
// last bits of a row with the size of the block, so only a training does it, as [productFirst].
func (l *GATConv) sumsFirst(t *grad.Tape, g *graph.Graph, in In) bool {
	if in.Src.Needs() || in.Src.IsSparse() || l.In == 0 || l.ValueDrop > 0 || !t.Use(l.W).Needs() {
		return false
	}
	if in.Weight != nil && in.Weight.Value().RowLen() != 1 { // more than one number a head
		return false
	}
	saved := (g.NumSrc() - g.NumDst()) * (l.In + projectedElement) * l.Out
	return saved > edgeElement*g.NumEdges()*(l.In+edgeWeight)
}

// An element of a projected source, and an edge's weight of a head, take time in both passes:
// as much as so many multiply-adds, and as so many elements of the edge's row.
const (
	projectedElement = 48
	edgeWeight       = 8
)

// sumFirst is Apply for features that need no gradient, on a block of many more sources
// than destinations. A head's sum commutes with the product, and a_l·Wx is (Wᵀa_l)·x, so
// only destinations are projected:
//
//	y_v = act( W·Σ_u α_uv·x_u  [+ residual_v] + b )
func (l *GATConv) sumFirst(t *grad.Tape, g *graph.Graph, in In) Out {
	heads, dst := cmp.Or(l.Heads, 1), g.NumDst()
	w := l.stacked(t.Use(l.W))
	wDst := w
	if l.WDst != nil {
		wDst = l.stacked(t.Use(l.WDst))
	}
	rows := headRowsOf(g, in.Src, heads)
	el := compose.SplitHeads(rows.scores(scoreRows(w, t.Use(l.AttnL))), heads, 1)
	er := in.onDst(g, func(x *grad.Var) *grad.Var { return x.MatMulT(scoreRows(wDst, t.Use(l.AttnR))) })
	alpha := message.ApplyEdges(g, l.weights(t, in, message.E(el).Add(message.V(compose.SplitHeads(er, heads, 1)))))
	ends, order, rank := make([]int, heads), make([]int32, heads*dst), make([]int32, heads*dst)
	for h := range ends {
		ends[h] = (h + 1) * dst
		for v := range dst {
			order[v*heads+h], rank[h*dst+v] = int32(h*dst+v), int32(v*heads+h)
		}
	}
	y := rows.sums(alpha).MatMulGroups(w, ends).Permute(order, rank) // the heads of a destination one after the other
	return l.end(t, g, in, y.Reshape(dst, heads, l.Out), message.E(alpha))
}

// stacked returns the columns of each head below each other, Heads×In×Out.
func (l *GATConv) stacked(w *grad.Var) *grad.Var {
	heads := make([]*grad.Var, cmp.Or(l.Heads, 1))
	for h := range heads {
		heads[h] = w.Columns(h*l.Out, (h+1)*l.Out)
	}
	return grad.ConcatAxis(0, heads...).Reshape(len(heads), w.Dim(0), l.Out)
}

// scoreRows returns what features are multiplied by in a score: of each head its columns of w,
// which are stacked, times its vector, Heads×In.
func scoreRows(w, vector *grad.Var) *grad.Var {
	return w.MatMul(vector.InsertAxis(-1)).Reshape(w.Dim(0), w.Dim(1))
}

// headRows are rows of sources, dense and without a gradient, on the edges of a graph,
// where all heads read them.
type headRows struct {
	x       *grad.Var // NumSrc×F
	heads   int
	offsets []int64
	cols    []int32
	bounds  []int // of the parts of a loop over the destinations, which have about as many edges
}

// headWork is how many elements a part of such a loop has.
const headWork = 1 << 18

func headRowsOf(g *graph.Graph, x *grad.Var, heads int) *headRows {
	a := g.In()
	parts := max(1, min(a.NNZ()*heads*x.Dim(1)/headWork, 64))
	return &headRows{x, heads, a.Offsets, a.Cols, par.Split(a.Offsets, parts, nil)}
}

// sums returns, for each head, the sums of the rows of a destination's edges times their
// weights, of which an edge has one for each head: (Heads·NumDst)×F, head after head.
func (r *headRows) sums(w *grad.Var) *grad.Var {
	op := grad.Begin("GATConv.Sums", r.x, w)
	y := op.Fresh(r.heads*(len(r.offsets)-1), r.x.Dim(1))
	if !tape.Dry(op, 0) {
		r.run(headLoop{w: w.Value().Data, y: y.Value().Data})
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dw, fresh := tape.FreshGrad(w)
		r.run(headLoop{w: dw.Data, y: dy.Data, dots: true, set: fresh})
	})
}

// scores returns the inner products of each edge's row and those of w, Heads×F, one for
// each head: E×Heads.
func (r *headRows) scores(w *grad.Var) *grad.Var {
	op := grad.Begin("GATConv.Scores", r.x, w)
	z := op.Fresh(len(r.cols), r.heads)
	room := (len(r.bounds) - 1) * len(w.Value().Data)
	if !tape.Dry(op, room) {
		r.run(headLoop{w: z.Value().Data, y: w.Value().Data, dots: true, set: true, one: true})
	}
	return op.Record(z, func(dz *tensor.Dense) {
		dw := w.Grad().Data
		op.Scratch(room, func(sums []tensor.Float) {
			r.run(headLoop{w: dz.Data, y: sums, one: true})
			for i, v := range sums { // of the parts, in order
				dw[i%len(dw)] += v
			}
		})
	})
}

// run runs a loop over the destinations in parts that depend on the graph alone.
func (r *headRows) run(l headLoop) {
	if l.headRows, l.x = r, r.x.Value().Data; r.x.Dim(1) > 0 {
		par.Run(len(r.bounds)-1, &l)
	}
}

// headLoop makes y of the edges' numbers w: sums of rows. Or it makes w, inner products,
// of y.
type headLoop struct {
	*headRows
	x, w, y   []tensor.Float
	dots, set bool
	one       bool // all edges have the same rows of y, and sums are those of a part
}

// Chunk computes a part.
func (l *headLoop) Chunk(p int) {
	f := l.headRows.x.Dim(1)
	lo, hi, apart, y := l.bounds[p], l.bounds[p+1], f*(len(l.offsets)-1), l.y
	g := spmm.Gather{X: l.x, Offsets: l.offsets, Cols: l.cols, F: f, Far: true}
	if l.one {
		g.Offsets, apart = []int64{l.offsets[lo], l.offsets[hi]}, f
		lo, hi = 0, 1
		if !l.dots {
			y = y[p*l.heads*f:]
		}
	}
	if l.dots {
		d := spmm.EdgeDot{Gather: g, Y: y, Z: l.w, Heads: l.heads, Apart: apart, Set: l.set}
		d.AddRows(lo, hi)
		return
	}
	s := spmm.RowSum{Gather: g, Y: y, W: l.w, Heads: l.heads, Apart: apart, Set: true}
	s.AddRows(lo, hi)
}

package exec

import (
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// sumRows adds rows of a tile's edges, of n elements, to those of their
// destinations.
func (w *worker) sumRows(y, x []tensor.Float, t tile, n int) {
	x = x[:(t.hi-t.lo)*n]
	if n == 0 || len(x) == 0 {
		return
	}
	if t.part {
		vec.AddRows(y[t.r0*n:t.r1*n], x)
		return
	}
	spmm.Rows(n).SumRanges(y[t.r0*n:t.r1*n], x, w.graph.In().Offsets[t.r0:t.r1+1])
}

// messageGrads returns, under a plain reducer, the gradient that every message of each
// destination of a tile has.
func (w *worker) messageGrads(t tile) []tensor.Float {
	n := w.plan.Out().Width
	dy := w.pass.dOut[t.r0*n : t.r1*n]
	share := w.plan.Reducers()[0].Share
	if share == nil {
		return dy
	}
	w.messageGrad = resize(w.messageGrad, max(len(dy), cap(w.messageGrad)))
	share(w.messageGrad, dy, n, w.graph.In().Offsets[t.r0:t.r1+1])
	return w.messageGrad[:len(dy)]
}

// pullSums sets dm to the gradient of a tile's messages under a plain reducer.
func (w *worker) pullSums(t tile, dm []tensor.Float) {
	spmm.Rows(w.plan.Out().Width).SpreadRanges(dm, w.messageGrads(t), w.spans(t))
}

// spans returns where the edges of a tile's destinations begin and end.
func (w *worker) spans(t tile) []int64 {
	if !t.part {
		return w.graph.In().Offsets[t.r0 : t.r1+1]
	}
	w.span = [2]int64{int64(t.lo), int64(t.hi)}
	return w.span[:]
}

// multiplySums does the last step of a plan with a common factor, for all messages of a
// destination at once.
func (w *worker) multiplySums(r0, r1 int) {
	if w.plan.Result == plan.CommonFactor {
		_, f := w.plan.Factors()
		rows := w.pass.resultRows(r0, r1)
		w.multiplyRows(rows, rows, f)
	}
}

// pullCommonFactor is the gradient of the last step of a plan with a common factor. What
// is the same on all edges of a destination is computed once for them.
func (w *worker) pullCommonFactor(t tile) {
	x, f := w.plan.Factors()
	n, rows := w.plan.Out().Width, w.messageGrads(t)
	if w.plan.Steps[f].Needs && w.window != nil {
		spmm.Rows(n).DotRanges(w.toSum(f), rows, w.values[x][:(t.hi-t.lo)*n], w.spans(t))
	}
	if w.plan.Steps[x].Needs {
		w.scaledGrad = resize(w.scaledGrad, max(len(rows), cap(w.scaledGrad)))
		w.multiplyRows(w.scaledGrad, rows, f)
		dx, _ := w.gradOf(x)
		spmm.Rows(n).SpreadRanges(dx[:(t.hi-t.lo)*n], w.scaledGrad[:len(rows)], w.spans(t))
	}
}

// multiplyRows sets to to the products of rows with the value of a step that is the
// same on all edges. That is there for as many edges as a tile may have, so that many
// rows are done at once.
func (w *worker) multiplyRows(to, from []tensor.Float, f int) {
	for len(from) > 0 {
		k := min(len(from), len(w.values[f]))
		vec.Mul.Forward(to[:k], from[:k], w.values[f], 1, 1)
		from, to = from[k:], to[k:]
	}
}

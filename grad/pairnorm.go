package grad

import (
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// PairNorm keeps the rows of each graph of a batch apart: it takes off the mean
// of each column over a graph, c = x − mean, and scales what is left,
//
//	y = scale·c/√(eps + mean ‖c‖²)       the mean being over the rows of the graph
//	y = scale·c/(eps + ‖c‖)              if Each, for each row by itself
//
// Zhao and Akoglu 2020, "PairNorm: Tackling Oversmoothing in GNNs".
type PairNorm struct {
	Scale float64 // 0 means 1
	Each  bool
	Eps   float64 // 0 means 1e-5
}

// Of applies p to the matrix x; rows offsets[i] to offsets[i+1] are graph i.
func (p PairNorm) Of(x *Var, offsets []int) *Var {
	op := Begin("PairNorm", x)
	rows := leading(x.Value().Shape())
	checkOffsets("PairNorm", rows, offsets)
	y := op.freshLike(x)
	n := notes[pairNotes](op)
	*n = pairNotes{x, dense.PairNorm{
		X: x.val.Data, D: x.Dim(-1), Offsets: offsets, Y: y.val.Data, Divisor: op.freshFloats(rows),
		Scale: Preset(p.Scale, 1), Each: p.Each, Eps: Preset(p.Eps, 1e-5),
	}}
	if !op.dry(0) {
		n.kernel.Forward()
	}
	return op.recordBy(y, n)
}

// pairNotes is the pullback of a PairNorm.
type pairNotes struct {
	x      *Var
	kernel dense.PairNorm
}

// Pull adds to x's gradient.
func (n *pairNotes) Pull(dy *tensor.Dense) { n.kernel.Backward(n.x.Grad().Data, dy.Data) }

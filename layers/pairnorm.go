package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// PairNorm keeps the nodes of a graph apart, however many layers they went through:
// the mean of each graph is taken off and the rows are scaled to one mean length.
//
//	o = x − mean,   y = Scale·o/√(eps + mean ‖o‖²)      or, with Each,   Scale·o/(eps + ‖o‖)
//
// of Zhao and Akoglu, "PairNorm: Tackling Oversmoothing in GNNs", ICLR 2020. x is
// NumDst×F: what a convolution on g returns; so has y. A graph of one node becomes
// zero. It runs as one operation, without messages.
type PairNorm struct {
	Scale float64 `json:",omitempty"` // 0: 1
	Each  bool    `json:",omitempty"` // each row on its own, which the paper calls SI
	Eps   float64 `json:",omitempty"` // 0: 1e-5
}

// Init does nothing: there are no Params. All layers have it.
func (l *PairNorm) Init(*rand.Rand) { compose.WantOptions(l) }

// Forward returns the rows of x, normalised over each member of g.
func (l *PairNorm) Forward(_ *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	wantDst("layers.PairNorm", g, x)
	return grad.PairNorm{Scale: l.Scale, Each: l.Each, Eps: l.Eps}.Of(x, g.DstOffsets())
}

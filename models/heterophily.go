package models

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// h2Layer is a part of H2GCN: the first is a dense layer, and each after it a round. What
// all of them made stands side by side, and a dense layer at the end of the last reads it.
type h2Layer struct {
	Dense *denseLayer // of the first
	Round layers.H2GCNConv
	End   *denseLayer // of the last

	hidden int
}

func newH2GCN(d *design, s size) layer {
	l := &h2Layer{hidden: d.Hidden}
	if s.first {
		l.Dense = &denseLayer{layers.Linear{In: s.in, Out: d.Hidden}, 0, grad.ReLU}
	}
	if s.last {
		all := d.Hidden<<d.Layers - d.Hidden // a round's result is twice as wide as what it reads
		l.End = &denseLayer{layers.Linear{In: all, Out: s.out}, d.Dropout, ""}
	}
	return l
}

// Init makes the dense layers' Params; a round has none.
func (l *h2Layer) Init(rng *rand.Rand) {
	for _, dense := range []*denseLayer{l.Dense, l.End} {
		if dense != nil {
			dense.Init(rng)
		}
	}
}

func (l *h2Layer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	if l.Dense != nil {
		x = l.Dense.run(t, h, x).Y
	} else {
		wide := x.Dim(1)
		last := x.Columns((wide-l.hidden)/2, wide) // what the part before made: hidden·2^k of hidden·(2^(k+1)−1) columns
		x = grad.Concat(x, l.Round.Forward(t, h.Graph, last))
	}
	if l.End != nil {
		return l.End.run(t, h, x)
	}
	return layers.Out{Y: x}
}

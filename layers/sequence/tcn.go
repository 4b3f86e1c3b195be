package sequence

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// TCN is a temporal convolutional network: residual blocks of two causal convolutions
// each, whose dilation doubles from block to block.
//
//	z = ReLU(conv_2(ReLU(conv_1(x))))      y = ReLU(z + x)
//
// of Bai, Kolter and Koltun, "An Empirical Evaluation of Generic Convolutional and
// Recurrent Networks for Sequence Modeling", 2018; theirs has WeightNorm. Dropout is
// applied behind each convolution's ReLU, an element at a time. Where a block's width
// changes, x passes through a convolution of one tap, without a norm. Block i, from 0 on, has the dilation 2^i, so
// that n blocks of K taps hear 1 + 2·(K−1)·(2^n − 1) nodes. x is N×In, dense or, with a first
// width other than In, sparse; the result is N rows of the last width. A node alone is a chain of one.
type TCN struct {
	In         int
	Widths     []int   // of the blocks' results
	Kernel     int     // K; 0: 3
	Dropout    float64 `json:",omitempty"`
	WeightNorm bool    `json:",omitempty"` // of conv_1 and conv_2, see [Conv1D]

	First  []*Conv1D // conv_1 of each block
	Second []*Conv1D
	Skip   []*Conv1D // nil where a block keeps its width
}

// Init makes the convolutions, and their Params.
func (l *TCN) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	if len(l.Widths) == 0 {
		panic(&grad.TapeError{Op: "sequence.TCN", Why: "it has no Widths, want one for each block"})
	}
	kernel := l.Kernel
	if kernel == 0 {
		kernel = 3
	}
	l.First, l.Second, l.Skip = nil, nil, make([]*Conv1D, len(l.Widths))
	in := l.In
	for i, out := range l.Widths {
		first := &Conv1D{In: in, Out: out, Kernel: kernel, Dilation: 1 << i, Causal: true, WeightNorm: l.WeightNorm}
		second := &Conv1D{In: out, Out: out, Kernel: kernel, Dilation: 1 << i, Causal: true, WeightNorm: l.WeightNorm}
		first.Init(rng)
		second.Init(rng)
		l.First, l.Second = append(l.First, first), append(l.Second, second)
		if in != out {
			l.Skip[i] = &Conv1D{In: in, Out: out, Kernel: 1}
			l.Skip[i].Init(rng)
		}
		in = out
	}
}

// Forward returns the result at every node of the chains g.
func (l *TCN) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	if n := len(l.Widths); len(l.First) != n || len(l.Second) != n || len(l.Skip) != n || n == 0 {
		panic(&grad.TapeError{Op: "sequence.TCN", Why: fmt.Sprintf("it has no convolutions for %d Widths; was Init called?", n)})
	}
	for i := range l.Widths {
		z := t.Dropout(l.First[i].Forward(t, g, x).ReLU(), l.Dropout)
		z = t.Dropout(l.Second[i].Forward(t, g, z).ReLU(), l.Dropout)
		if l.Skip[i] != nil {
			x = l.Skip[i].Forward(t, g, x)
		}
		x = z.Add(x).ReLU()
	}
	return x
}

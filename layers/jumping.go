package layers

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Jump says how [JumpingKnowledge] makes one row of a node's rows of all layers. Its
// text form is its name.
type Jump string

// The ways to jump. The zero value lays the rows side by side.
const (
	JumpConcat Jump = ""
	JumpMax    Jump = "max"  // the largest of each column
	JumpLSTM   Jump = "lstm" // attention over the layers, by an LSTM that reads them in both directions
)

// JumpingKnowledge lets each node choose how far it looks, from the results of all
// layers of a network:
//
//	y = [x₁ ‖ … ‖ x_K],   y = max_k x_k,   or   y = Σ_k softmax_k( [→h_k ‖ ←h_k]·a + b )·x_k
//
// of Xu, Li, Tian, Sonobe, Kawarabayashi and Jegelka, "Representation Learning on Graphs
// with Jumping Knowledge Networks", ICML 2018, where →h and ←h are the states of an LSTM
// along the layers and against them. Each x_k is N×Width; y is N×(K·Width), or N×Width.
// There is no graph: each node is on its own.
type JumpingKnowledge struct {
	Mode   Jump `json:",omitempty"`
	Width  int  `json:",omitempty"` // of a layer's rows; only JumpLSTM asks
	Hidden int  `json:",omitempty"` // width of →h and of ←h; only JumpLSTM asks. PyG's is K·Width/2

	WGates [2]*grad.Param `json:"-"` // Width×4·Hidden, along the layers and against them: i, f, g, o
	UGates [2]*grad.Param `json:"-"` // Hidden×4·Hidden
	BGates [2]*grad.Param `json:"-"` // 4·Hidden
	W      *grad.Param    `json:"-"` // a, 2·Hidden×1
	B      *grad.Param    `json:"-"` // b, one element
}

// Init makes the Params: matrices by Glorot's uniform distribution, biases zero.
func (l *JumpingKnowledge) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.WGates, l.UGates, l.BGates, l.W, l.B = [2]*grad.Param{}, [2]*grad.Param{}, [2]*grad.Param{}, nil, nil
	switch l.Mode {
	case JumpConcat, JumpMax:
		return
	case JumpLSTM:
	default:
		panic(&grad.TapeError{Op: "layers.JumpingKnowledge", Why: "no way to jump is called " + string(l.Mode)})
	}
	for i := range 2 {
		l.WGates[i], l.UGates[i] = grad.Glorot(rng, l.Width, 4*l.Hidden), grad.Glorot(rng, l.Hidden, 4*l.Hidden)
		l.BGates[i] = compose.Bias(true, 4*l.Hidden)
	}
	l.W, l.B = grad.Glorot(rng, 2*l.Hidden, 1), compose.Bias(true, 1)
}

// Forward returns one row for each node from those of the layers, first to last.
func (l *JumpingKnowledge) Forward(t *grad.Tape, xs ...*grad.Var) *grad.Var {
	if len(xs) == 0 {
		panic(&grad.TapeError{Op: "layers.JumpingKnowledge", Why: "there are no layers to jump from"})
	}
	for i, x := range xs {
		if xs[0] == nil || x == nil {
			panic(&grad.TapeError{Op: "layers.JumpingKnowledge", Why: fmt.Sprintf("the rows of layer %d are nil", i)})
		}
		compose.WantMatrix("layers.JumpingKnowledge", "x", x)
		compose.WantDense("layers.JumpingKnowledge", "x", x, "it joins what layers return")
		compose.WantRows("layers.JumpingKnowledge", x, xs[0].Dim(-1), "the width of the first layer")
		if x.Dim(0) != xs[0].Dim(0) {
			compose.BadShape("layers.JumpingKnowledge", x, fmt.Sprintf("layer %d has %d rows, the first has %d", i, x.Dim(0), xs[0].Dim(0)))
		}
	}
	switch l.Mode {
	case JumpConcat:
		return grad.Concat(xs...)
	case JumpMax:
		y := xs[0]
		for _, x := range xs[1:] {
			y = y.Max(x)
		}
		return y
	}
	return l.attend(t, xs)
}

// attend is JumpLSTM.
func (l *JumpingKnowledge) attend(t *grad.Tape, xs []*grad.Var) *grad.Var {
	compose.WantParam("layers.JumpingKnowledge", l.W, true)
	compose.WantRows("layers.JumpingKnowledge", xs[0], l.Width, "Width")
	states := make([][2]*grad.Var, len(xs))
	for way := range 2 {
		h := grad.Const(tensor.New(xs[0].Dim(0), l.Hidden))
		c := h
		for i := range xs {
			k := i
			if way == 1 {
				k = len(xs) - 1 - i
			}
			z := compose.Affine(t, xs[k], l.WGates[way], l.BGates[way]).Add(h.MatMul(t.Use(l.UGates[way])))
			gates := z.Split(l.Hidden, l.Hidden, l.Hidden, l.Hidden)
			c = gates[1].Sigmoid().Mul(c).Add(gates[0].Sigmoid().Mul(gates[2].Tanh()))
			h = gates[3].Sigmoid().Mul(c.Tanh())
			states[k][way] = h
		}
	}
	var scores []*grad.Var
	for _, s := range states {
		scores = append(scores, compose.Affine(t, grad.Concat(s[0], s[1]), l.W, l.B))
	}
	alpha := grad.Concat(scores...).Softmax() // N×K
	var y *grad.Var
	for k, x := range xs {
		part := x.Mul(alpha.Columns(k, k+1))
		if y == nil {
			y = part
		} else {
			y = y.Add(part)
		}
	}
	return y
}

package convert

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
)

// stack binds a torch.nn.RNN, LSTM or GRU of several layers or of both directions.
func (n *names) stack(l *sequence.Stack) {
	n.inited(firstOf(l))
	for k, c := range l.Layers {
		n.recurrent(c, fmt.Sprint("_l", k))
		if len(l.Back) > 0 {
			n.recurrent(l.Back[k], fmt.Sprint("_l", k, "_reverse"))
		}
	}
}

// firstOf returns the first matrix of a Stack, nil before its Init.
func firstOf(l *sequence.Stack) *grad.Param {
	for _, c := range l.Layers {
		for _, p := range grad.Params(c) {
			return p
		}
	}
	return nil
}

// recurrent binds a cell, whose names end in suffix. Both have the gates in one order.
// What is a cell of its own there (LSTMCell) has names without an ending.
func (n *names) recurrent(c sequence.Cell, suffix string) {
	if n.has("weight_ih") {
		suffix = ""
	}
	switch l := c.(type) {
	case *sequence.RNN:
		n.refuse(l.Leak != 0 || l.LearnLeak, "Leak")
		n.refuse(l.Residual, "Residual")
		n.refuse(l.LayerNorm, "LayerNorm")
		n.gates(suffix, l.W, l.U)
		n.biases(suffix, l.B, nil)
	case *sequence.LSTM:
		n.refuse(l.Forget != "", "other Forget gate")
		n.refuse(l.Peephole != "", "Peephole")
		n.refuse(l.LayerNorm, "LayerNorm")
		n.gates(suffix, l.W, l.U)
		n.biases(suffix, l.B, nil)
	case *sequence.GRU:
		n.refuse(l.ResetBefore, "ResetBefore")
		n.refuse(l.UpdateAdmits, "UpdateAdmits")
		n.refuse(l.Minimal, "Minimal")
		n.refuse(l.LayerNorm, "LayerNorm")
		n.gates(suffix, l.W, l.U)
		n.biases(suffix, l.B, l.BN)
	default:
		n.refuse(true, fmt.Sprintf("cell like a %T", c))
	}
}

// gates binds the matrices of the gates.
func (n *names) gates(suffix string, w, u *grad.Param) {
	if n.inited(w) {
		n.matrix("weight_ih"+suffix, w)
		n.matrix("weight_hh"+suffix, u)
	}
}

// biases binds the two biases of the gates: b is their sum, but for what state has of the
// last gate's second one, which a GRU resets.
func (n *names) biases(suffix string, b, state *grad.Param) {
	if b == nil {
		return
	}
	width, kept := len(b.Value.Data), 0
	if state != nil {
		kept = len(state.Value.Data)
	}
	n.same("bias_ih"+suffix, b)
	f := field{key: "bias_hh" + suffix, shape: []int{width}, places: []place{added(flat(b, 0, width-kept, 0))}}
	if state != nil {
		f.places = append(f.places, flat(state, 0, kept, width-kept))
	}
	n.add(f)
}

// jumping binds a JumpingKnowledge, whose LSTM of both directions PyG and DGL call alike.
func (n *names) jumping(l *layers.JumpingKnowledge) {
	for i, suffix := range []string{"_l0", "_l0_reverse"} {
		if l.WGates[i] != nil {
			n.in("lstm", func(n *names) {
				n.gates(suffix, l.WGates[i], l.UGates[i])
				n.biases(suffix, l.BGates[i], nil)
			})
		}
	}
	n.linear("att", l.W, l.B)
}

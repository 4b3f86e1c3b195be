package convert

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
)

// torch binds the layers of torch.nn.
func (n *names) torch(l any) bool {
	switch l := l.(type) {
	case *layers.Linear:
		if n.inited(l.W) {
			n.matrix("weight", l.W)
			n.vector("bias", l.B)
		}
	case *layers.MLP:
		n.net("", l)
	case *layers.LayerNorm:
		n.same("weight", l.Gain)
		n.same("bias", l.B)
	case *layers.BatchNorm:
		if !n.inited(l.Mean) {
			break
		}
		if n.framework == PyG && !n.has("running_mean") { // PyG's own, around PyTorch's
			n.in("module", func(n *names) { n.batchNorm(l) })
			break
		}
		n.batchNorm(l)
	case *sequence.Conv1D:
		n.conv1D(l)
	case *sequence.RNN, *sequence.LSTM, *sequence.GRU:
		n.recurrent(l.(sequence.Cell), "_l0")
	case *sequence.Stack:
		n.stack(l)
	case *attention.MultiHead:
		n.multiHead(l)
	case *attention.EncoderBlock:
		n.block(l.Self, nil, l.Feed, l.Norm1, l.Norm2)
	case *attention.DecoderBlock:
		n.block(l.Self, l.Cross, l.Feed, l.Norm1, l.Norm2, l.Norm3)
	case *attention.Encoder:
		for i, b := range l.Blocks {
			n.in(fmt.Sprint("layers.", i), func(n *names) { n.torch(b) })
		}
		n.finalNorm(l.Norm)
	case *attention.Decoder:
		for i, b := range l.Blocks {
			n.in(fmt.Sprint("layers.", i), func(n *names) { n.torch(b) })
		}
		n.finalNorm(l.Norm)
	default:
		return false
	}
	return true
}

// batchNorm binds a torch.nn.BatchNorm1d, whose counter is not read.
func (n *names) batchNorm(l *layers.BatchNorm) {
	n.same("weight", l.Gain)
	n.same("bias", l.B)
	n.same("running_mean", l.Mean)
	n.same("running_var", l.Variance)
	n.add(field{key: "num_batches_tracked", optional: true, any: true})
}

// conv1D binds a torch.nn.Conv1d, whose weight is out×in×K; ours is In×(K·Out).
func (n *names) conv1D(l *sequence.Conv1D) {
	if !n.inited(l.W) {
		return
	}
	k := l.Kernel
	n.add(field{key: "weight", shape: []int{l.Out, l.In, k}, places: []place{{param: l.W, shape: []int{l.Out, l.In, k},
		here: view{0, []int{1, k * l.Out, l.Out}}, there: view{0, []int{l.In * k, k, 1}}}}})
	n.same("bias", l.B)
}

// multiHead binds a torch.nn.MultiheadAttention. The three projections are one matrix there
// where queries, keys and values are of one width.
func (n *names) multiHead(l *attention.MultiHead) {
	n.refuse(l.Rotary, "Rotary")
	if !n.inited(l.WQuery) {
		return
	}
	if m := l.Model; l.WKey.Value.Dim(0) == m && l.WValue.Value.Dim(0) == m {
		n.maps("in_proj_weight", l.WQuery, l.WKey, l.WValue)
	} else {
		n.matrix("q_proj_weight", l.WQuery)
		n.matrix("k_proj_weight", l.WKey)
		n.matrix("v_proj_weight", l.WValue)
	}
	n.vectors("in_proj_bias", l.BQuery, l.BKey, l.BValue)
	n.linear("out_proj", l.WOut, l.BOut)
}

// block binds a layer of torch.nn.Transformer.
func (n *names) block(self, cross *attention.MultiHead, feed *layers.MLP, norms ...*layers.LayerNorm) {
	if self == nil || feed == nil || len(feed.Layers) != 2 {
		n.inited(nil)
		return
	}
	n.in("self_attn", func(n *names) { n.multiHead(self) })
	if cross != nil {
		n.in("multihead_attn", func(n *names) { n.multiHead(cross) })
	}
	n.linear("linear1", feed.Layers[0].W, feed.Layers[0].B)
	n.linear("linear2", feed.Layers[1].W, feed.Layers[1].B)
	for i, norm := range norms {
		n.in(fmt.Sprint("norm", i+1), func(n *names) { n.torch(norm) })
	}
}

// finalNorm binds the norm after the last block, if there is one.
func (n *names) finalNorm(l *layers.LayerNorm) {
	if l != nil {
		n.in("norm", func(n *names) { n.torch(l) })
	}
}

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

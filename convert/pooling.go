package convert

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/pool"
)

// pygPooling binds PyG's readouts and pooling layers.
func (n *names) pygPooling(l any) bool {
	switch l := l.(type) {
	case *pool.TopK:
		key := "select.weight"
		if n.has("weight") { // before version 2.4
			key = "weight"
		}
		if n.inited(l.P) {
			n.same(key, l.P, 1, l.In)
		}
	case *pool.SAG:
		n.pygSAG(l)
	default:
		return n.pooling(l)
	}
	return true
}

// pooling binds the readouts that PyG and DGL have.
func (n *names) pooling(l any) bool {
	switch l := l.(type) {
	case *pool.Attention:
		n.poolAttention(l)
	case *pool.Set2Set:
		if len(l.LSTMs) == 0 {
			n.inited(nil)
		}
		for i, lstm := range l.LSTMs {
			n.in("lstm", func(n *names) { n.recurrent(lstm, fmt.Sprint("_l", i)) })
		}
	case *pool.Sort:
	default:
		return false
	}
	return true
}

// poolAttention binds PyG's AttentionalAggregation, which says mlp where the network is of
// PyG's class MLP, and DGL's GlobalAttentionPooling.
func (n *names) poolAttention(l *pool.Attention) {
	gate, net := "gate_nn", "nn"
	switch {
	case n.framework == DGL:
		net = "feat_nn"
	default:
		if n.has("gate_mlp.lins.0.weight") {
			gate = "gate_mlp"
		}
		if n.has("mlp.lins.0.weight") {
			net = "mlp"
		}
	}
	n.net(gate, &l.Gate)
	if len(l.Net.Widths) > 0 {
		n.net(net, &l.Net)
	}
}

// pygSAG binds PyG's SAGPooling with GNN=GCNConv. It divides the score by the length of a
// number of its own, of which the sign is left: that goes into the convolution here.
func (n *names) pygSAG(l *pool.SAG) {
	if l.GCN == nil || l.GCN.B == nil {
		n.refuse(l.GCN != nil, "layer without a bias")
		n.inited(nil)
		return
	}
	turn := func(p place) place { return p }
	if n.sign("select.weight") {
		turn = negated
	}
	signed := func(key string, p *grad.Param, shape ...int) {
		n.add(field{key: key, shape: shape, places: []place{turn(flat(p, 0, len(p.Value.Data), 0))}})
	}
	signed("gnn.lin.weight", l.GCN.W, 1, l.In) // In×1 here, which is the same order
	signed("gnn.bias", l.GCN.B, 1)
}

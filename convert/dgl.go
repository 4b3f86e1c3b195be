package convert

import (
	"github.com/edgewise-ml/edgewise/layers"
)

// dglConv binds DGL's convolutions.
func (n *names) dglConv(l any) bool {
	switch l := l.(type) {
	case *layers.GATConv:
		n.dglGAT(l)
	case *layers.GATv2Conv:
		n.dglGATv2(l)
	case *layers.DotGATConv:
		if n.inited(l.W) && l.WDst == nil {
			n.matrix("fc.weight", l.W)
		} else {
			n.matrix("fc_src.weight", l.W)
			n.matrix("fc_dst.weight", l.WDst)
		}
	case *layers.GCNConv: // GraphConv, whose matrix is in×out
		if n.inited(l.W) {
			n.same("weight", l.W)
			n.same("bias", l.B)
		}
	case *layers.SAGEConv:
		n.dglSAGE(l)
	case *layers.GINConv:
		n.net("apply_func", &l.Net)
		n.epsilon(l.Epsilon, &l.Eps)
	case *layers.GINEConv:
		n.refuse(l.EdgeIn > 0, "matrix for the edges' features: their width is that of x")
		n.net("apply_func", &l.Net)
		n.epsilon(l.Epsilon, &l.Eps)
	case *layers.SGConv:
		n.only("fc.weight", "fc.bias", l.W, l.B)
	case *layers.TAGConv:
		n.only("lin.weight", "lin.bias", l.W, l.B)
	case *layers.ChebConv:
		n.only("linear.weight", "linear.bias", l.W, l.B)
	case *layers.GCN2Conv:
		n.same("weight1", l.W)
		n.same("weight2", l.WFirst)
		n.same("bias", l.B)
	case *layers.AGNNConv:
		n.same("beta", l.B)
	case *layers.JumpingKnowledge:
		n.jumping(l)
	case *layers.APPNP, *layers.PairNorm, *layers.DropEdge:
	default:
		return false
	}
	return true
}

// dglGAT binds DGL's GATConv, whose bias is that of its linear residual if it has one.
func (n *names) dglGAT(l *layers.GATConv) {
	if !n.inited(l.W) {
		return
	}
	n.refuse(l.WEdge != nil, "features of edges")
	if l.WDst == nil {
		n.matrix("fc.weight", l.W)
	} else {
		n.matrix("fc_src.weight", l.W)
		n.matrix("fc_dst.weight", l.WDst)
	}
	n.heads("attn_l", l.AttnL)
	n.heads("attn_r", l.AttnR)
	n.matrix("res_fc.weight", l.WRes)
	if l.WRes != nil {
		n.same("res_fc.bias", l.B)
	} else {
		n.same("bias", l.B)
	}
}

// dglGATv2 binds DGL's GATv2Conv, which has no bias but those of its linear maps.
func (n *names) dglGATv2(l *layers.GATv2Conv) {
	if !n.inited(l.W) {
		return
	}
	n.refuse(l.WEdge != nil, "features of edges")
	n.refuse(l.B != nil && l.WRes == nil, "bias of the sum: set NoBias")
	n.linear("fc_src", l.W, l.BSrc)
	wDst, bDst := l.WDst, l.BDst
	if l.Shared {
		wDst, bDst = l.W, l.BSrc
	}
	n.linear("fc_dst", wDst, bDst)
	n.heads("attn", l.Attn)
	n.linear("res_fc", l.WRes, l.B)
}

// dglSAGE binds DGL's SAGEConv, whose bias is that of the node's own matrix.
func (n *names) dglSAGE(l *layers.SAGEConv) {
	if !n.inited(l.W) {
		return
	}
	n.refuse(l.NoRoot, "NoRoot")
	n.matrix("fc_neigh.weight", l.W)
	if l.WRoot == nil {
		n.same("bias", l.B)
	} else {
		n.linear("fc_self", l.WRoot, l.B)
	}
	n.linear("fc_pool", l.WPool, l.BPool)
	if l.WGates != nil {
		n.in("lstm", func(n *names) {
			n.gates("_l0", l.WGates, l.UGates)
			n.biases("_l0", l.BGates, nil)
		})
	}
}

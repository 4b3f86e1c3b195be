package convert

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/relational"
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

// dglEdges binds DGL's layers that read features or kinds of edges, or a network for each.
func (n *names) dglEdges(l any) bool {
	switch l := l.(type) {
	case *layers.EdgeConv:
		n.dglEdgeConv(l)
	case *layers.NNConv:
		n.theta("edge_func", l)
		n.matrix("res_fc.weight", l.WRes)
		n.same("bias", l.B)
	case *layers.MoNetConv: // GMMConv
		if n.inited(l.W) {
			n.matrix("fc.weight", l.W)
			n.same("mu", l.Mu)
			n.same("inv_sigma", l.R)
			n.matrix("res_fc.weight", l.WRes)
			n.same("bias", l.B)
		}
	case *layers.RGCNConv: // RelGraphConv
		if l.Blocks > 0 && l.W != nil { // their elements have one axis
			n.same("linear_r.W", l.W, l.Relations, len(l.W.Value.Data)/l.Relations)
		} else {
			n.kinds("linear_r.W", l)
		}
		n.same("linear_r.coeff", l.Mix)
		n.same("loop_weight", l.WRoot)
		n.same("h_bias", l.B)
		if l.Norm != nil {
			n.in("layer_norm_weight", func(n *names) { n.torch(l.Norm) })
		}
	case *layers.GatedGraphConv:
		n.dglGated(l)
	case *layers.PNAConv:
		n.dglPNA(l)
	default:
		return false
	}
	return true
}

// dglEdgeConv binds DGL's EdgeConv, Θ(x_v − x_u) + Φ·x_v with a bias each: here one matrix,
// Φ above −Θ, and the sum of both.
func (n *names) dglEdgeConv(l *layers.EdgeConv) {
	if len(l.Net.Layers) == 0 {
		n.inited(nil)
		return
	}
	n.refuse(len(l.Net.Layers) > 1, "network of several layers")
	first := l.Net.Layers[0]
	in, out := first.W.Value.Dim(0)/2, first.W.Value.Dim(1)
	n.refuse(first.B == nil, "layer without a bias")
	n.add(field{key: "phi.weight", shape: []int{out, in}, places: []place{turned(first.W, 0, in, 0, in)}})
	n.add(field{key: "theta.weight", shape: []int{out, in}, places: []place{negated(turned(first.W, in, 2*in, 0, in))}})
	n.same("phi.bias", first.B)
	n.add(field{key: "theta.bias", shape: []int{out}, places: []place{added(flat(first.B, 0, out, 0))}})
	if l.BatchNorm {
		n.in("bn", func(n *names) { n.batchNorm(l.Norm) })
	}
}

// dglGated binds DGL's GatedGraphConv, which has a Linear for each kind of edge.
func (n *names) dglGated(l *layers.GatedGraphConv) {
	if !n.inited(l.W) {
		return
	}
	n.refuse(l.PerStep && l.Steps > 1, "matrix for each step: unset PerStep")
	n.refuse(l.B == nil, "layer without a bias")
	out := l.Out
	for k := range l.W.Value.Dim(0) {
		n.add(field{key: fmt.Sprintf("linears.%d.weight", k), shape: []int{out, out}, places: []place{{param: l.W, shape: []int{out, out},
			here: view{k * out * out, []int{1, out}}, there: view{0, []int{out, 1}}}}})
		if l.B != nil {
			n.add(field{key: fmt.Sprintf("linears.%d.bias", k), shape: []int{out}, places: []place{flat(l.B, k*out, out, 0)}})
		}
	}
	n.gatedCell("gru", l)
}

// dglPNA binds DGL's PNAConv, whose messages read the source first.
func (n *names) dglPNA(l *layers.PNAConv) {
	if l.Mix == nil || len(l.Norms) != len(l.Post) {
		n.refuse(l.Mix != nil, "layer without BatchNorm")
		n.inited(nil)
		return
	}
	n.refuse(l.Encoder != nil, "EncodeEdges")
	for i := range l.Post {
		n.in(fmt.Sprint("towers.", i), func(n *names) {
			pre, post := l.Pre[i].Layers, l.Post[i].Layers
			n.refuse(len(pre)+len(post) != 2, "networks of several layers")
			read := pre[0].W.Value.Dim(0)
			n.add(field{key: "M.weight", shape: []int{pre[0].W.Value.Dim(1), read}, places: swapped(pre[0].W, (read-l.EdgeIn)/2)})
			n.same("M.bias", pre[0].B)
			n.linear("U", post[0].W, post[0].B)
			n.in("batchnorm", func(n *names) { n.batchNorm(l.Norms[i]) })
		})
	}
	n.linear("mixing_layer.0", l.Mix.W, l.Mix.B)
}

// swapped is a matrix as it is transposed there, whose first in rows come after the next.
func swapped(p *grad.Param, in int) []place {
	rows := p.Value.Dim(0)
	places := []place{turned(p, 0, in, in, rows), turned(p, in, 2*in, 0, rows)}
	if rows > 2*in {
		places = append(places, turned(p, 2*in, rows, 2*in, rows))
	}
	return places
}

// dglRelational binds DGL's layers on graphs with several types of nodes.
func (n *names) dglRelational(l any) bool {
	hgt, ok := l.(*relational.HGTConv)
	if ok {
		n.dglHGT(hgt)
	}
	return ok
}

// dglHGT binds DGL's HGTConv, whose arrays have an axis for the types of nodes, by their
// names, or for the relations, in the order of Rels. A head has arrays of its own.
func (n *names) dglHGT(l *relational.HGTConv) {
	if l.Key == nil {
		n.inited(nil)
		return
	}
	types := slices.Sorted(maps.Keys(l.In))
	n.refuse(!l.NoBias || !l.NoActivation, "biases and no GELU: set NoBias and NoActivation")
	for _, name := range types {
		n.refuse(l.Skip[name] == nil, "type without the residual: let In be Out")
	}
	if n.err != nil {
		return
	}
	for key, of := range map[string]map[string]*layers.Linear{"linear_k": l.Key, "linear_q": l.Query, "linear_v": l.Value, "linear_a": l.Mix} {
		f := field{key: key + ".W", shape: []int{len(types), l.Out, l.Out}}
		for i, name := range types {
			f.places = append(f.places, flat(of[name].W, 0, l.Out*l.Out, i*l.Out*l.Out))
		}
		n.add(f)
	}
	skip := field{key: "skip", shape: []int{len(types)}}
	for i, name := range types {
		skip.places = append(skip.places, flat(l.Skip[name], 0, 1, i))
	}
	n.add(skip)
	heads := cmp.Or(l.Heads, 1)
	for h := range heads {
		n.hgtHead(l, h, heads)
	}
}

// hgtHead binds what a head of DGL's HGTConv has of each relation.
func (n *names) hgtHead(l *relational.HGTConv, h, heads int) {
	d, rels := l.Out/heads, len(l.Rels)
	for key, of := range map[string]map[string]*grad.Param{"relation_att": l.WKey, "relation_msg": l.WValue} {
		f := field{key: fmt.Sprintf("%s.%d.W", key, h), shape: []int{rels, d, d}}
		for e, r := range l.Rels {
			f.places = append(f.places, place{param: of[r.String()], shape: []int{d, d}, here: view{h * d, []int{heads * d, 1}}, there: view{e * d * d, []int{d, 1}}})
		}
		n.add(f)
	}
	prior := field{key: fmt.Sprint("relation_pri.", h), shape: []int{rels}}
	for e, r := range l.Rels {
		prior.places = append(prior.places, flat(l.Prior[r.String()], h, 1, e))
	}
	n.add(prior)
}

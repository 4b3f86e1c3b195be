package convert

import (
	"cmp"
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// GraphConv is PyG's GraphConv, of Morris and others, which here is a SAGEConv that sums:
// convert.GraphConv{Layer: l} in place of l where the class there is GraphConv and not SAGEConv.
type GraphConv struct{ Layer *layers.SAGEConv }

// pygAttention binds PyG's layers with attention.
func (n *names) pygAttention(l any) bool {
	switch l := l.(type) {
	case *layers.GATConv:
		n.pygGAT(l)
	case *layers.GATv2Conv:
		if !n.inited(l.W) {
			break
		}
		n.linear("lin_l", l.W, l.BSrc)
		wDst, bDst := l.WDst, l.BDst
		if l.Shared {
			wDst, bDst = l.W, l.BSrc
		}
		n.linear("lin_r", wDst, bDst)
		n.heads("att", l.Attn)
		n.matrix("lin_edge.weight", l.WEdge)
		n.matrix("res.weight", l.WRes)
		n.same("bias", l.B)
	case *layers.SuperGATConv:
		if n.inited(l.W) {
			n.matrix("lin.weight", l.W)
			n.heads("att_l", l.AttnL)
			n.heads("att_r", l.AttnR)
			n.same("bias", l.B)
		}
	case *layers.TransformerConv:
		n.pygTransformer(l)
	case *layers.AGNNConv:
		n.same("beta", l.B)
	case *layers.GPSConv:
		n.pygGPS(l)
	default:
		return false
	}
	return true
}

// heads binds a vector for each head, which there has an axis of one before it.
func (n *names) heads(key string, p *grad.Param) {
	if p != nil {
		n.same(key, p, 1, p.Value.Dim(0), p.Value.Dim(1))
	}
}

// pygGAT binds PyG's GATConv, which had lin_src in place of lin before version 2.5, and
// lin_dst beside it of the same matrix.
func (n *names) pygGAT(l *layers.GATConv) {
	if !n.inited(l.W) {
		return
	}
	switch {
	case l.WDst != nil:
		n.matrix("lin_src.weight", l.W)
		n.matrix("lin_dst.weight", l.WDst)
	case n.has("lin_src.weight"):
		n.matrix("lin_src.weight", l.W)
		if n.has("lin_dst.weight") {
			n.matrix("lin_dst.weight", l.W)
		}
	default:
		n.matrix("lin.weight", l.W)
	}
	n.heads("att_src", l.AttnL)
	n.heads("att_dst", l.AttnR)
	n.matrix("lin_edge.weight", l.WEdge)
	n.heads("att_edge", l.AttnEdge)
	n.matrix("res.weight", l.WRes)
	n.same("bias", l.B)
}

// pygTransformer binds PyG's TransformerConv, which has a root's matrix even where it is
// not read.
func (n *names) pygTransformer(l *layers.TransformerConv) {
	if !n.inited(l.WValue) {
		return
	}
	n.linear("lin_query", l.WQuery, l.BQuery)
	n.linear("lin_key", l.WKey, l.BKey)
	n.linear("lin_value", l.WValue, l.BValue)
	n.matrix("lin_edge.weight", l.WEdge)
	if l.WGate != nil {
		n.same("lin_beta.weight", l.WGate, 1, len(l.WGate.Value.Data))
	}
	if !l.NoRoot {
		n.linear("lin_skip", l.WRoot, l.B)
		return
	}
	width := l.Out
	if !l.Average {
		width *= cmp.Or(l.Heads, 1)
	}
	n.unread("lin_skip.weight", width, l.WQuery.Value.Dim(0))
	if !l.NoBias {
		n.unread("lin_skip.bias", width)
	}
}

// pygGPS binds PyG's GPSConv around a GINConv, or a GINEConv, with attn_type multihead.
func (n *names) pygGPS(l *layers.GPSConv) {
	if l.Net == nil || len(l.Net.Layers) != 2 || len(l.BatchNorms)+len(l.LayerNorms) != 3 {
		n.inited(nil)
		return
	}
	n.in("conv", func(n *names) {
		if l.GINE != nil {
			n.pygConv(l.GINE)
		} else {
			n.pygConv(l.GIN)
		}
	})
	n.maps("attn.in_proj_weight", l.Query.W, l.Key.W, l.Value.W)
	n.vectors("attn.in_proj_bias", l.Query.B, l.Key.B, l.Value.B)
	n.linear("attn.out_proj", l.Merge.W, l.Merge.B)
	n.linear("mlp.0", l.Net.Layers[0].W, l.Net.Layers[0].B)
	n.linear("mlp.3", l.Net.Layers[1].W, l.Net.Layers[1].B) // a ReLU and a Dropout stand between
	for i := range 3 {
		n.in(fmt.Sprint("norm", i+1), func(n *names) {
			if l.LayerNorm {
				n.torch(l.LayerNorms[i])
			} else {
				n.torch(l.BatchNorms[i])
			}
		})
	}
}

// pygConv binds PyG's convolutions.
func (n *names) pygConv(l any) bool {
	switch l := l.(type) {
	case *layers.GCNConv:
		n.only("lin.weight", "bias", l.W, l.B)
	case *layers.SGConv:
		n.only("lin.weight", "lin.bias", l.W, l.B)
	case *layers.ChebConv:
		n.hops(l.W, l.In, l.B)
	case *layers.TAGConv:
		n.hops(l.W, l.In, l.B)
	case *layers.ARMAConv:
		n.pygARMA(l)
	case *layers.GCN2Conv:
		n.same("weight1", l.W)
		n.same("weight2", l.WFirst)
		n.refuse(l.B != nil, "bias; set NoBias")
	case *layers.SAGEConv:
		n.pygSAGE(l)
	case GraphConv:
		n.refuse(l.Layer.WPool != nil || l.Layer.Normalise || l.Layer.NoRoot, "such layer: GraphConv has no Project, Normalise or NoRoot")
		if n.inited(l.Layer.W) {
			n.linear("lin_rel", l.Layer.W, l.Layer.B)
			n.matrix("lin_root.weight", l.Layer.WRoot)
		}
	case *layers.GINConv:
		n.net("nn", &l.Net)
		n.epsilon(l.Epsilon, &l.Eps)
	case *layers.GINEConv:
		n.net("nn", &l.Net)
		n.epsilon(l.Epsilon, &l.Eps)
		n.linear("lin", l.WEdge, l.BEdge)
	case *layers.APPNP, *layers.LightGCN, *layers.PairNorm, *layers.DropEdge:
	case *layers.GraphNorm:
		n.same("weight", l.Gain)
		n.same("bias", l.B)
		n.same("mean_scale", l.Shift)
	case *layers.JumpingKnowledge:
		n.jumping(l)
	default:
		return false
	}
	return true
}

// only binds a layer of one linear map.
func (n *names) only(weight, bias string, w, b *grad.Param) {
	if n.inited(w) {
		n.matrix(weight, w)
		n.vector(bias, b)
	}
}

// hops binds matrices of a layer of its own each, which are one below the other here.
func (n *names) hops(w *grad.Param, in int, b *grad.Param) {
	if !n.inited(w) {
		return
	}
	for k := range w.Value.Dim(0) / in {
		n.add(field{key: fmt.Sprintf("lins.%d.weight", k), shape: []int{w.Value.Dim(1), in}, places: []place{turned(w, k*in, (k+1)*in, 0, in)}})
	}
	n.vector("bias", b)
}

// pygSAGE binds PyG's SAGEConv, whose bias is that of the neighbours' matrix.
func (n *names) pygSAGE(l *layers.SAGEConv) {
	if !n.inited(l.W) {
		return
	}
	n.refuse(l.Aggregate == layers.AggregateGCN, "AggregateGCN")
	n.linear("lin_l", l.W, l.B)
	n.matrix("lin_r.weight", l.WRoot)
	n.linear("lin", l.WPool, l.BPool)
	n.refuse(l.WGates != nil, "LSTM that ends at the last in-edge of a node: it reads zeros on, up to the largest in-degree")
}

// pygARMA binds PyG's ARMAConv, whose matrices have an axis for the stacks; ours has these
// side by side. Of one layer it has a matrix that is not read.
func (n *names) pygARMA(l *layers.ARMAConv) {
	if len(l.W) == 0 {
		n.inited(nil)
		return
	}
	stacks, out := cmp.Or(l.Stacks, 1), l.Out
	columns := func(p *grad.Param, at int) place { // stacks×in×out there
		in := p.Value.Dim(0)
		return place{param: p, shape: []int{stacks, in, out}, here: view{0, []int{out, stacks * out, 1}}, there: view{at, []int{in * out, out, 1}}}
	}
	each := func(key string, all []*grad.Param, axes ...int) {
		f := field{key: key, shape: append([]int{max(1, len(all)), stacks}, axes...)}
		for i, p := range all {
			f.places = append(f.places, columns(p, i*len(p.Value.Data)))
		}
		n.add(f)
	}
	n.add(field{key: "init_weight", shape: []int{stacks, l.In, out}, places: []place{columns(l.W[0], 0)}})
	each("weight", l.W[1:], out, out)
	each("root_weight", l.V, l.In, out)
	if len(l.B) > 0 {
		f := field{key: "bias", shape: []int{len(l.B), stacks, 1, out}}
		for i, p := range l.B {
			f.places = append(f.places, flat(p, 0, stacks*out, i*stacks*out))
		}
		n.add(f)
	}
}

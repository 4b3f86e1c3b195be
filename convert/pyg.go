package convert

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/relational"
	"github.com/edgewise-ml/edgewise/tensor"
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

// pygEdges binds PyG's layers that read features or kinds of edges, or a network for each.
func (n *names) pygEdges(l any) bool {
	switch l := l.(type) {
	case *layers.EdgeConv:
		n.refuse(l.BatchNorm, "BatchNorm of its own: it belongs to the network there")
		n.net("nn", &l.Net)
	case *layers.NNConv:
		n.theta("nn", l)
		n.refuse(l.Residual == layers.ResidualIdentity && l.WRes == nil, "root without weights: set ResidualLinear")
		n.matrix("lin.weight", l.WRes)
		n.same("bias", l.B)
	case *layers.MoNetConv:
		n.pygMoNet(l)
	case *layers.ResGatedConv:
		n.pygResGated(l)
	case *layers.RGCNConv:
		n.refuse(l.LayerNorm, "LayerNorm")
		n.kinds("weight", l)
		n.same("comp", l.Mix)
		n.same("root", l.WRoot)
		n.same("bias", l.B)
	case *layers.GatedGraphConv:
		if n.inited(l.W) {
			n.refuse(!l.PerStep && l.Steps > 1, "matrix that the steps share: set PerStep")
			n.refuse(l.Kinds > 1, "Kinds of edges")
			n.same("weight", l.W)
			n.gatedCell("rnn", l)
		}
	case *layers.PNAConv:
		n.pygPNA(l)
	default:
		return false
	}
	return true
}

// gatedCell binds the GRU of a GatedGraphConv, a cell of its own whose biases are two here too.
func (n *names) gatedCell(name string, l *layers.GatedGraphConv) {
	n.matrix(name+".weight_ih", l.WGates)
	n.matrix(name+".weight_hh", l.UGates)
	n.same(name+".bias_ih", l.BGates)
	n.same(name+".bias_hh", l.BState)
}

// theta binds the network of a NNConv: a torch.nn.Sequential whose last Linear is W, or
// that alone.
func (n *names) theta(name string, l *layers.NNConv) {
	if !n.inited(l.W) {
		return
	}
	last := name
	if n.has(name+".0.weight") || l.Net != nil {
		last = name + ".0"
	}
	if l.Net != nil {
		for i, part := range l.Net.Layers {
			n.linear(fmt.Sprint(name, ".", 2*i), part.W, part.B)
		}
		last = fmt.Sprint(name, ".", 2*len(l.Net.Layers))
	}
	n.linear(last, l.W, l.BTheta)
}

// pygMoNet binds PyG's GMMConv, which has σ where this library has r = 1/√(σ² + 10⁻¹⁵).
func (n *names) pygMoNet(l *layers.MoNetConv) {
	if !n.inited(l.W) {
		return
	}
	n.refuse(l.Residual == layers.ResidualIdentity && l.WRes == nil, "root without weights: set ResidualLinear")
	n.same("g", l.W)
	n.same("mu", l.Mu)
	sigma := flat(l.R, 0, len(l.R.Value.Data), 0)
	sigma.turn = func(v tensor.Float) tensor.Float { return tensor.Float(1 / math.Sqrt(float64(v)*float64(v)+1e-15)) }
	sigma.back = func(v tensor.Float) tensor.Float { return tensor.Float(1 / math.Abs(float64(v))) }
	n.add(field{key: "sigma", shape: l.R.Value.Shape(), places: []place{sigma}})
	n.matrix("root.weight", l.WRes)
	n.same("bias", l.B)
}

// pygResGated binds PyG's ResGatedGraphConv. Each of its three maps reads the node's and
// the edge's features beside each other; what two of them make of the edge's is added up.
func (n *names) pygResGated(l *layers.ResGatedConv) {
	if !n.inited(l.WKey) {
		return
	}
	both := func(name string, w, edge *grad.Param, again bool) {
		in, width := w.Value.Dim(0), w.Value.Dim(0)+l.EdgeIn
		f := field{key: name + ".weight", shape: []int{l.Out, width}, places: []place{turned(w, 0, in, 0, width)}}
		if edge != nil {
			p := turned(edge, 0, l.EdgeIn, in, width)
			p.extra = again
			f.places = append(f.places, p)
		}
		n.add(f)
	}
	both("lin_key", l.WKey, l.WEdge, false)
	both("lin_query", l.WQuery, l.WEdge, true)
	both("lin_value", l.WValue, l.WEdgeValue, false)
	n.same("lin_key.bias", l.BKey)
	n.add(field{key: "lin_query.bias", shape: []int{l.Out}, places: []place{added(flat(l.BKey, 0, l.Out, 0))}})
	n.same("lin_value.bias", l.BValue)
	n.matrix("lin_skip.weight", l.WRoot)
	n.same("bias", l.B)
}

// kinds binds the relations' matrices, which have the same order here. Blocks have an
// axis of their own there.
func (n *names) kinds(key string, l *layers.RGCNConv) {
	if !n.inited(l.W) {
		return
	}
	if l.Blocks > 0 {
		n.same(key, l.W, l.Relations, l.Blocks, l.In/l.Blocks, l.Out/l.Blocks)
		return
	}
	n.same(key, l.W)
}

// pygPNA binds PyG's PNAConv, which keeps the mean degrees beside the weights.
func (n *names) pygPNA(l *layers.PNAConv) {
	if l.Mix == nil {
		n.inited(nil)
		return
	}
	n.refuse(l.BatchNorm, "BatchNorm of its towers")
	n.number("aggr_module.avg_deg_lin", &l.MeanDegree)
	n.number("aggr_module.avg_deg_log", &l.Delta)
	if l.Encoder != nil {
		n.linear("edge_encoder", l.Encoder.W, l.Encoder.B)
	}
	for i := range l.Post {
		for name, net := range map[string]*layers.MLP{"pre_nns": l.Pre[i], "post_nns": l.Post[i]} {
			for k, part := range net.Layers { // a ReLU stands between two
				n.linear(fmt.Sprintf("%s.%d.%d", name, i, 2*k), part.W, part.B)
			}
		}
	}
	n.linear("lin", l.Mix.W, l.Mix.B)
}

// pygRelational binds PyG's layers on graphs with several types of nodes.
func (n *names) pygRelational(l any) bool {
	switch l := l.(type) {
	case *relational.HGTConv:
		n.pygHGT(l)
	case *relational.HANConv:
		n.pygHAN(l)
	default:
		return false
	}
	return true
}

// relation is what PyG calls a relation in the names of arrays.
func relation(r hetero.Rel) string { return strings.Join([]string{r.Src, r.Name, r.Dst}, "__") }

// pygHGT binds PyG's HGTConv. Rels stand in the order of its metadata: a head after the
// other, it has a matrix for each.
func (n *names) pygHGT(l *relational.HGTConv) {
	if l.Key == nil {
		n.inited(nil)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(l.In)) {
		k, q, v := l.Key[name], l.Query[name], l.Value[name]
		n.maps("kqv_lin.lins."+name+".weight", k.W, q.W, v.W)
		n.vectors("kqv_lin.lins."+name+".bias", k.B, q.B, v.B)
		n.linear("out_lin.lins."+name, l.Mix[name].W, l.Mix[name].B)
		if skip := l.Skip[name]; skip != nil {
			n.same("skip."+name, skip)
		} else {
			n.unread("skip."+name, 1)
		}
	}
	heads, rels := cmp.Or(l.Heads, 1), len(l.Rels)
	d := l.Out / heads
	for key, of := range map[string]map[string]*grad.Param{"k_rel.weight": l.WKey, "v_rel.weight": l.WValue} {
		f := field{key: key, shape: []int{heads * rels, d, d}}
		for e, r := range l.Rels { // a relation's: heads×d×d
			f.places = append(f.places, place{param: of[r.String()], shape: []int{heads, d, d},
				here: view{0, []int{d, heads * d, 1}}, there: view{e * d * d, []int{rels * d * d, d, 1}}})
		}
		n.add(f)
	}
	for _, r := range l.Rels {
		n.same("p_rel."+relation(r), l.Prior[r.String()], 1, heads)
	}
}

// pygHAN binds PyG's HANConv.
func (n *names) pygHAN(l *relational.HANConv) {
	if l.Semantic == nil {
		n.inited(nil)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(l.In)) {
		n.linear("proj."+name, l.Project[name].W, l.Project[name].B)
	}
	for _, r := range l.Rels {
		n.heads("lin_src."+relation(r), l.AttnL[r.String()])
		n.heads("lin_dst."+relation(r), l.AttnR[r.String()])
	}
	n.linear("k_lin", l.Semantic.W, l.Semantic.B)
	n.same("q", l.Question, 1, l.Out)
}

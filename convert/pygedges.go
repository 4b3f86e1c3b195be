package convert

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

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

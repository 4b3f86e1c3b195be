package convert

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

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

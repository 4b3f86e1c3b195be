package convert

import (
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
)

// pygLinks binds what learns from links alone in PyG, without labels.
func (n *names) pygLinks(l any) bool {
	switch l := l.(type) {
	case *layers.InnerProduct:
	case *layers.DGI: // DeepGraphInfomax, whose encoder stands beside it
		if n.inited(l.W) {
			n.same("weight", l.W)
		}
	case *layers.VGAE: // whose encoder has the names of PyG's example
		if l.First == nil {
			n.inited(nil)
			break
		}
		for name, conv := range map[string]*layers.GCNConv{"conv1": l.First, "conv_mu": l.Mu, "conv_logstd": l.LogStd} {
			n.in("encoder."+name, func(n *names) { n.pygConv(conv) })
		}
	case *layers.SkipGram: // Node2Vec, which has one table for nodes and for contexts
		n.refuse(l.C != l.Z, "table of contexts: let C be Z, one Param")
		if n.inited(l.Z) {
			n.same("embedding.weight", l.Z)
		}
	default:
		return false
	}
	return true
}

// dglLinks binds what learns from links alone in DGL.
func (n *names) dglLinks(l any) bool {
	switch l := l.(type) {
	case *layers.InnerProduct:
	case *layers.SkipGram: // DeepWalk
		if n.inited(l.Z) {
			n.same("node_embed.weight", l.Z)
			n.same("context_embed.weight", l.C)
		}
	case *knowledge.TransE:
		n.transE(l)
	default:
		return false
	}
	return true
}

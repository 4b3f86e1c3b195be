package convert

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
)

// Knowledge is a scorer of facts with the rows of its entities, which PyG keeps in one
// module: [knowledge.TransE], DistMult, ComplEx or RotatE. Real and imaginary parts, tables of
// their own there, are the halves of a row here. DGL's TransE has no entities: there the
// scorer stands among the Modules alone.
type Knowledge struct {
	Scorer   knowledge.Scorer
	Entities *grad.Param // a row for each
}

// pygKnowledge binds PyG's scorers of facts.
func (n *names) pygKnowledge(l any) bool {
	complex := false // rows have an imaginary half
	switch l := l.(type) {
	case Knowledge:
		switch l.Scorer.(type) {
		case *knowledge.ComplEx, *knowledge.RotatE:
			complex = true
		}
		n.table("node_emb", l.Entities, complex)
		return n.pygKnowledge(l.Scorer)
	case *knowledge.TransE:
		n.transE(l)
	case *knowledge.DistMult:
		n.table("rel_emb", l.R, false)
	case *knowledge.ComplEx:
		n.table("rel_emb", l.R, true)
	case *knowledge.RotatE:
		n.refuse(!l.Euclidean, "sum of lengths: set Euclidean")
		n.table("rel_emb", l.Phase, false)
	default:
		return false
	}
	return true
}

// transE binds a TransE of PyG or DGL, with p = 1.
func (n *names) transE(l *knowledge.TransE) {
	n.refuse(l.Squared, "Squared")
	n.table("rel_emb", l.R, false)
}

// table binds a torch.nn.Embedding, or two: of real parts, which stand in the first half of a
// row here, and of imaginary ones.
func (n *names) table(name string, p *grad.Param, complex bool) {
	if !n.inited(p) {
		return
	}
	if !complex {
		n.same(name+".weight", p)
		return
	}
	rows, width := p.Value.Dim(0), p.Value.Dim(1)
	for i, part := range []string{"", "_im"} {
		n.add(field{key: fmt.Sprint(name, part, ".weight"), shape: []int{rows, width / 2}, places: []place{{param: p, shape: []int{rows, width / 2},
			here: view{i * width / 2, []int{width, 1}}, there: view{0, []int{width / 2, 1}}}}})
	}
}

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

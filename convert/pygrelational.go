package convert

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/relational"
)

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
func relation(r graph.Rel) string { return strings.Join([]string{r.Src, r.Name, r.Dst}, "__") }

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

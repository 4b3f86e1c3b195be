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

package convert_test

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/tensor"
)

func (s *stage) pygPooling() map[string]module {
	x, batch := s.input("x"), graph.Batch(graph.Complete(3), graph.Complete(2))
	set := initialised(&pool.Set2Set{In: 4, Steps: 3, Layers: 2})
	attend := initialised(&pool.Attention{Gate: layers.MLP{Widths: []int{4, 5, 1}}, Net: layers.MLP{Widths: []int{4, 3}}})
	mlp := initialised(&pool.Attention{Gate: layers.MLP{Widths: []int{4, 5, 1}, BatchNorm: true}, Net: layers.MLP{Widths: []int{4, 3}}})
	top, sag := initialised(&pool.TopK{In: 4, Ratio: 0.6}), initialised(&pool.SAG{In: 4, Ratio: 0.6})
	return map[string]module{
		"set2set":     {set, func() *grad.Var { return set.Forward(s.tape, batch, x) }},
		"attpool":     {attend, func() *grad.Var { return attend.Forward(s.tape, batch, x) }},
		"attpool_mlp": {mlp, func() *grad.Var { return mlp.Forward(s.tape, batch, x) }},
		"topk":        {top, func() *grad.Var { return top.Forward(s.tape, s.graph(), x).Y }},
		"sag":         {sag, func() *grad.Var { return sag.Forward(s.tape, s.looped(), x).Y }},
	}
}

// pygLinks are what learns from links: encoders, tables, and scorers of facts with their
// entities. PyG's TransE divides the rows of entities by the sums of their moduli.
func (s *stage) pygLinks() map[string]module {
	g, looped, x := s.graph(), s.looped(), s.input("x")
	vgae, dgi := initialised(&layers.VGAE{In: 4, Hidden: 5, Out: 3}), initialised(&layers.DGI{Width: 4})
	encoder := initialised(&layers.GCNConv{In: 4, Out: 4})
	walk := initialised(&layers.SkipGram{Nodes: 5, Width: 4})
	walk.C = walk.Z
	scorer := func(l knowledge.Scorer, width int, as func(x *grad.Var) *grad.Var) module {
		all := convert.Knowledge{Scorer: initialised(l), Entities: grad.NewParam(5, width)}
		return module{all, func() *grad.Var { return l.Forward(s.tape, g, as(s.tape.Use(all.Entities))) }}
	}
	asIs := func(x *grad.Var) *grad.Var { return x }
	ones := tensor.New(4, 1)
	ones.Fill(1)
	return map[string]module{
		"vgae": {vgae, func() *grad.Var {
			h := vgae.First.Forward(s.tape, looped, x)
			return grad.Concat(vgae.Mu.Forward(s.tape, looped, h), vgae.LogStd.Forward(s.tape, looped, h))
		}},
		"dgi": {convert.Modules{"": dgi, "encoder": encoder}, func() *grad.Var {
			encode := func(x *grad.Var) *grad.Var { return encoder.Forward(s.tape, looped, x) }
			return dgi.Loss(s.tape, encode(x), encode(s.flipped())).Scale(2) // the sum there, the mean here
		}},
		"node2vec": {walk, func() *grad.Var { return s.tape.Use(walk.Z) }},
		"transe":   scorer(&knowledge.TransE{Relations: 3, Width: 4}, 4, func(x *grad.Var) *grad.Var { return x.Div(x.Abs().MatMul(grad.Const(ones))) }),
		"distmult": scorer(&knowledge.DistMult{Relations: 3, Width: 4}, 4, asIs),
		"complex":  scorer(&knowledge.ComplEx{Relations: 3, Width: 4}, 4, asIs),
		"rotate":   scorer(&knowledge.RotatE{Relations: 3, Width: 4, Margin: 1, Euclidean: true}, 4, asIs),
	}
}

// What computes something else in PyG is refused, and says what to set.
func TestOtherFormulaOfPyG(t *testing.T) {
	for want, l := range map[string]any{
		"PyG's has no sum of lengths: set Euclidean":                    initialised(&knowledge.RotatE{Relations: 1, Width: 2}),
		"PyG's has no Squared":                                          initialised(&knowledge.TransE{Relations: 1, Width: 2, Squared: true}),
		"PyG's has no table of contexts: let C be Z, one Param":         initialised(&layers.SkipGram{Nodes: 2, Width: 2}),
		"it has no Params; was its Init called?":                        convert.Knowledge{Scorer: &knowledge.DistMult{}, Entities: grad.NewParam(2, 2)},
		"PyG has no layer like a convert.Knowledge that is known":       convert.Knowledge{Entities: grad.NewParam(2, 2)},
		`"a", a *pool.SAG: it has no Params; was its Init called?`:      &pool.SAG{In: 2},
		`"a", a *pool.Set2Set: it has no Params; was its Init called?`:  &pool.Set2Set{In: 2},
		`"a", a *layers.VGAE: it has no Params; was its Init called?`:   &layers.VGAE{In: 2},
		`"a", a *pool.Attention: it has no Params; was its Init called`: &pool.Attention{},
	} {
		if _, err := (convert.Modules{"a": l}).State(convert.PyG); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error about %s", err, want)
		}
	}
}

package layers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// explain says how the sum of values under a layer's attention runs.
func explain(l layer, g *graph.Graph, in layers.In, heads int) string {
	ft := grad.Const(tensor.New(g.NumSrc(), heads, 2))
	alpha := l.Apply(grad.NewTape(1), g, in).Attention
	return message.Explain(g, message.U(ft).Mul(alpha), message.Sum)
}

// The whole of GAT runs by one rule, whatever its options; a Transformer with
// features of edges, whose attention is stored, as a weighted sum.
func TestRule(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		heads, want := 1, ""
		switch l := v.layer.(type) {
		case *layers.GATConv:
			heads, want = max(1, l.Heads), "rule: graph attention"
		case *layers.TransformerConv:
			if heads = max(1, l.Heads); l.EdgeIn > 0 {
				want = "rule: sum of U(x) × a scalar a head"
			}
		}
		if want == "" {
			return
		}
		g := v.graph()
		if how := explain(v.layer, g, v.model(g).in(nil), heads); !strings.HasPrefix(how, want) {
			t.Errorf("runs as %s, want %s", how, want)
		}
	})
}

// sums is what a layer's sum over in-edges must have run as, in words of
// [grad.Tape.Operations]: the rule made for it, or the tiles where there is none.
func (v variant) sums() string {
	if v.runs != "" {
		return v.runs
	}
	const tiles, weighted, plain = "UpdateAll", "UpdateAll.SumWeighted", "UpdateAll.SumU"
	aggregate := func(by layers.Aggregator) string {
		switch {
		case by == layers.AggregateLSTM:
			return "ApplyEdges" // of the messages, which the LSTM reads in order
		case by == layers.AggregateMax && v.weight:
			return tiles
		case by == layers.AggregateMax:
			return "UpdateAll.BestU"
		case v.weight:
			return weighted
		case by == layers.AggregateMean:
			return "UpdateAll.MeanU"
		}
		return plain
	}
	switch l := v.layer.(type) {
	case *layers.GATConv:
		return "UpdateAll.Attention"
	case *layers.TransformerConv:
		if l.EdgeIn > 0 {
			return weighted
		}
		if l.Heads == fused.ListedHeads && l.Out == fused.ListedHeads {
			return "UpdateAll.DotProducts"
		}
	case *layers.GCNConv:
		if !v.weight && slices.Contains([]layers.Norm{layers.NormLeft, layers.NormRight, layers.NormWeightedLeft, layers.NormWeightedRight, layers.NormNone}, l.Norm) {
			return plain
		}
		return weighted
	case *layers.SGConv, *layers.APPNP:
		return weighted
	case *layers.SAGEConv:
		return aggregate(or(l.Aggregate, layers.AggregateMean))
	case *layers.GINConv:
		return aggregate(or(l.Aggregate, layers.AggregateSum))
	}
	return tiles // GATv2Conv, DotGATConv and TransformerConv
}

// or returns x, or a preset where it is empty.
func or(x, preset layers.Aggregator) layers.Aggregator {
	if x == "" {
		return preset
	}
	return x
}

// Every layer has run by the rule that is made for it, under every option.
func TestRulesRan(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		g, tape := v.graph(), grad.NewTape(1)
		v.model(g).apply(tape, g)
		ran := func(op string) bool { // a sum that added a bias is by that rule, too
			name, _, _ := strings.Cut(op, "+")
			return name == v.sums()
		}
		if ops := tape.Operations(); !slices.ContainsFunc(ops, ran) {
			t.Errorf("no %s among %s", v.sums(), ops)
		}
	})
}

// Attention by scalar products on a graph of blocks runs as products of
// matrices, on which the sparse path agrees.
func TestDenseAttention(t *testing.T) {
	g := graph.Complete(8)
	for _, l := range []layer{&layers.DotGATConv{In: 3, Out: 2, Heads: 2}, &layers.TransformerConv{In: 3, Out: 2, Heads: 2, NoRoot: true}} {
		v := variant{layer: l, in: 3}
		m := v.model(g)
		if how := explain(l, g, m.in(nil), 2); !strings.HasPrefix(how, "rule: dot-product attention on blocks") {
			t.Errorf("%T runs as %s", l, how)
		}
		listed := graph.Must(graph.New(8, g.In().Cols, g.Destinations()))
		tape := grad.NewTape(1)
		m.apply(tape, g)
		if ops := tape.Operations(); !slices.Contains(ops, "UpdateAll.Dense") {
			t.Errorf("%T: no UpdateAll.Dense among %s", l, ops)
		}
		got, want := m.apply(nil, g).Value(), m.apply(nil, listed).Value()
		for i, w := range want.Data {
			if d := got.Data[i] - w; d > 1e-5 || d < -1e-5 {
				t.Errorf("%T: element %d is %v, on listed edges %v", l, i, got.Data[i], w)
			}
		}
	}
}

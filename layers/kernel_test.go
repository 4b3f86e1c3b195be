package layers_test

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
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

// The whole of GAT runs as one kernel, whatever its options; a Transformer with
// features of edges, whose attention is stored, as a weighted sum.
func TestKernel(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		heads, want := 1, ""
		switch l := v.layer.(type) {
		case *layers.GATConv:
			heads, want = max(1, l.Heads), "kernel: graph attention"
		case *layers.TransformerConv:
			if heads = max(1, l.Heads); l.EdgeIn > 0 {
				want = "kernel: sum of U(x) × a scalar a head"
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

// Attention by scalar products on a graph of blocks runs as products of
// matrices, on which the sparse path agrees.
func TestDenseAttention(t *testing.T) {
	g := graph.Complete(8)
	for _, l := range []layer{&layers.DotGATConv{In: 3, Out: 2, Heads: 2}, &layers.TransformerConv{In: 3, Out: 2, Heads: 2, NoRoot: true}} {
		v := variant{layer: l, in: 3}
		m := v.model(g)
		if how := explain(l, g, m.in(nil), 2); !strings.HasPrefix(how, "kernel: dot-product attention on blocks") {
			t.Errorf("%T runs as %s", l, how)
		}
		listed := graph.Must(graph.New(8, g.In().Cols, g.Destinations()))
		got, want := m.apply(nil, g).Value(), m.apply(nil, listed).Value()
		for i, w := range want.Data {
			if d := got.Data[i] - w; d > 1e-5 || d < -1e-5 {
				t.Errorf("%T: element %d is %v, on listed edges %v", l, i, got.Data[i], w)
			}
		}
	}
}

package layers_test

import (
	"cmp"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sparse"
)

// portable returns l and its inputs such that parts of g give what g gives: a
// normalised layer takes the whole graph's weights along. hops is how far it
// looks.
func portable(l layer, g *graph.Graph, in layers.In) (layer, layers.In, int) {
	switch l := l.(type) {
	case *layers.GCNConv:
		c := *l
		c.Norm = layers.NormNone
		in.Weight = l.Norm.Weights(g, in.Weight)
		return &c, in, 1
	case *layers.SGConv:
		c := *l
		c.Norm = layers.NormNone
		in.Weight = l.Norm.Weights(g, in.Weight)
		return &c, in, max(l.K, 2-l.K)
	case *layers.APPNP:
		c := *l
		c.Norm = layers.NormNone
		in.Weight = l.Norm.Weights(g, in.Weight)
		if l.K == 0 {
			return &c, in, 10
		}
		return &c, in, l.K
	}
	return portableSpread(l, g, in)
}

// portableSpread is portable of the layers that learn more than SGConv.
func portableSpread(l layer, g *graph.Graph, in layers.In) (layer, layers.In, int) {
	switch l := l.(type) {
	case *layers.ChebConv:
		c := *l
		c.Norm, in.Weight = layers.NormNone, l.Norm.Weights(g, in.Weight)
		return &c, in, max(1, cmp.Or(l.K, 3)-1)
	case *layers.TAGConv:
		c := *l
		c.Norm, in.Weight = layers.NormNone, l.Norm.Weights(g, in.Weight)
		return &c, in, cmp.Or(l.K, 2)
	case *layers.ARMAConv:
		c := *l
		c.Norm, in.Weight = layers.NormNone, l.Norm.Weights(g, in.Weight)
		return &c, in, cmp.Or(l.Steps, 1)
	case *layers.LightGCN:
		c := *l
		c.Norm, in.Weight = layers.NormNone, l.Norm.Weights(g, in.Weight)
		return &c, in, cmp.Or(l.K, 3)
	case *layers.GCN2Conv:
		c := *l
		c.Norm, in.Weight = layers.NormNone, l.Norm.Weights(g, in.Weight)
		return &c, in, 1
	case *layers.GatedGraphConv:
		return l, in, max(1, l.Steps)
	case *layers.RGCNConv:
		return l, in, 1
	}
	return l, in, 1
}

// cut returns what of in belongs to a part of the graph.
func cut(in layers.In, part *graph.Graph) layers.In {
	few := layers.In{Src: in.Src.Rows(part.From().Src)}
	if in.Edge != nil {
		few.Edge = in.Edge.Rows(part.From().Edges)
	}
	if in.Weight != nil {
		few.Weight = in.Weight.Rows(part.From().Edges)
	}
	return few
}

// A layer on a block, or a view of some destinations, or of several hops on the
// neighbourhood, is the layer on the whole graph at the seeds.
func TestBlock(t *testing.T) {
	seeds, all := []int32{6, 0, 2, 7, 4}, []int32{6, 0, 2, 7, 4, 1, 3, 5}
	each(t, func(t *testing.T, v variant) {
		if v.inDst > 0 || v.whole {
			return
		}
		g := v.graph()
		m := v.model(g)
		want := m.apply(nil, g)
		l, in, hops := portable(m.L, g, m.in(nil))
		parts := map[string]*graph.Graph{"Neighbourhood": graph.Must(graph.Neighbourhood(g, seeds, hops))}
		if hops == 1 {
			parts["Block"], parts["Dst"] = graph.Must(graph.Block(g, seeds)), graph.Must(graph.Dst(g, seeds))
			parts["Block of all"], parts["Dst of all"] = graph.Must(graph.Block(g, all)), graph.Must(graph.Dst(g, all))
		}
		for name, part := range parts {
			got := l.Apply(nil, part, cut(in, part)).Y
			n := min(got.Dim(0), len(all))
			if name == "Neighbourhood" {
				n = len(seeds)
			}
			golden.Compare(t, name, got.RowRange(0, n).Value(), want.Rows(all[:n]).Value(), 0)
		}
	})
}

// Sparse features give what the same features give as a dense array, on views
// too.
func TestSparse(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		if v.inDst > 0 || v.dense {
			return
		}
		g := v.graph()
		m := v.model(g)
		a := &sparse.CSR{NumRows: g.NumSrc(), NumCols: v.in, Offsets: []int64{0}}
		for i := range g.NumSrc() {
			m.Src.Value.Row(i)[i%v.in] = 0
			for j, x := range m.Src.Value.Row(i) {
				if x != 0 {
					a.Cols, a.Values = append(a.Cols, int32(j)), append(a.Values, x)
				}
			}
			a.Offsets = append(a.Offsets, int64(len(a.Cols)))
		}
		l, in, hops := portable(m.L, g, m.in(nil))
		for _, part := range []*graph.Graph{g, graph.Must(graph.Dst(g, []int32{3, 0}))} {
			if part != g && hops > 1 {
				continue
			}
			few := in
			if part != g {
				few = cut(in, part)
			}
			want := l.Apply(nil, part, few).Y.Value()
			few.Src = grad.Const(a)
			golden.Compare(t, "y", l.Apply(nil, part, few).Y.Value(), want, 0)
		}
	})
}

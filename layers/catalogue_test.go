package layers_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The self-supervision of a SuperGATConv is the cross-entropy of its products, in loops.
func TestSuperGATLoss(t *testing.T) {
	g, negatives := odd(), graph.Must(graph.New(8, []int32{7, 1, 4}, []int32{0, 7, 4}))
	for _, scaled := range []bool{false, true} {
		v := variant{layer: &layers.SuperGATConv{In: 3, Out: 2, Heads: 3, ScaledDot: scaled}, in: 3}
		m := v.model(g)
		l, x := m.L.(*layers.SuperGATConv), affine(values(m.Src), m.L.(*layers.SuperGATConv).W, nil)
		want, scale := 0.0, 1.0/3
		if scaled {
			scale /= math.Sqrt(2)
		}
		for i, pairs := range []*graph.Graph{g, negatives} {
			for e, d := range pairs.Destinations() {
				z := (1 - 2*float64(i)) * scale * dot(x[pairs.In().Cols[e]], x[d])
				want += math.Log1p(math.Exp(-z)) / float64(g.NumEdges()+negatives.NumEdges())
			}
		}
		loss := func(tp *grad.Tape) *grad.Var { return l.Loss(tp, g, negatives, tp.Use(m.Src)) }
		if got := float64(loss(nil).Value().Data[0]); !(math.Abs(got-want) <= 1e-5*want) {
			t.Errorf("scaled %v: the loss is %v, want %v", scaled, got, want)
		}
		if gradtest.Sharp {
			gradtest.Check(t, &struct{ W, X *grad.Param }{l.W, m.Src}, loss)
		}
	}
}

// An EdgeConv whose network needs all edges at once, for its norm, or has an activation
// that a message has not, is the network on pairs of rows.
func TestEdgeConvOnEdges(t *testing.T) {
	g := odd()
	for _, l := range []*layers.EdgeConv{
		{Net: layers.MLP{Widths: []int{6, 4, 2}, BatchNorm: true}},
		{Net: layers.MLP{Widths: []int{6, 4, 2}, Activation: grad.SELU}, Aggregate: layers.AggregateSum},
		{Net: layers.MLP{Widths: []int{6, 4, 2}}, BatchNorm: true, Aggregate: layers.AggregateMean},
	} {
		m := variant{layer: l, in: 3}.model(g)
		for _, p := range grad.Params(l) {
			if p.Frozen { // running statistics: a variance is positive
				p.Value.Fill(1)
			}
		}
		for _, training := range []bool{false, true} {
			run := func(f func(tp *grad.Tape) *grad.Var) *tensor.Dense {
				if !training {
					return f(nil).Value()
				}
				return f(grad.NewTape(1)).Value()
			}
			want := run(func(tp *grad.Tape) *grad.Var {
				x := tp.Use(m.Src)
				own, other := message.ApplyEdges(g, message.V(x)), message.ApplyEdges(g, message.U(x))
				y := l.Net.Forward(tp, grad.Concat(own, other.Sub(own)))
				if l.BatchNorm {
					y = l.Norm.Forward(tp, y)
				}
				r := map[layers.Aggregator]message.Reducer{"": message.Max, "sum": message.Sum, "mean": message.Mean}[l.Aggregate]
				return message.UpdateAll(g, message.E(y), r)
			})
			golden.Compare(t, "y", run(func(tp *grad.Tape) *grad.Var { return m.apply(tp, g) }), want, 0)
		}
	}
}

// What a layer of the catalogue cannot do, it says.
func TestCatalogueMisuse(t *testing.T) {
	x := grad.Const(tensor.New(8, 4))
	three := graph.Must(graph.WithKinds(odd(), []int32{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0}))
	for _, tt := range []struct {
		want string
		l    layer
		g    *graph.Graph
	}{
		{"edges have no kinds", &layers.RGCNConv{In: 4, Out: 2, Relations: 3}, odd()},
		{"an edge has kind 2, and Relations is 2", &layers.RGCNConv{In: 4, Out: 2, Relations: 2}, three},
		{"no aggregator called max", &layers.RGCNConv{In: 4, Out: 2, Relations: 3, Aggregate: layers.AggregateMax}, three},
		{"Bases and Blocks", &layers.RGCNConv{In: 4, Out: 2, Relations: 3, Bases: 1, Blocks: 1}, three},
		{"cut into 3 Blocks", &layers.RGCNConv{In: 4, Out: 3, Relations: 3, Blocks: 3}, three},
		{"edges have no kinds", &layers.GatedGraphConv{In: 4, Out: 4, Kinds: 2}, odd()},
		{"and Kinds is 2", &layers.GatedGraphConv{In: 4, Out: 4, Kinds: 2}, three},
		{"In may not be larger", &layers.GatedGraphConv{In: 4, Out: 3}, odd()},
	} {
		err := misused(func() {
			tt.l.Init(rand.New(rand.NewPCG(1, 1)))
			tt.l.Apply(nil, tt.g, layers.In{Src: x})
		})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want a TapeError about %q", err, tt.want)
		}
	}
}

// A GPSConv attends within each member of a batch, whatever graph it was derived from
// before, and its norms are batch norms unless it is told otherwise.
func TestGPSConvMembers(t *testing.T) {
	g := odd()
	l := &layers.GPSConv{Width: 2}
	m := variant{layer: l, in: 2}.model(g)
	for _, p := range grad.Params(l) {
		if p.Frozen {
			p.Value.Fill(1)
		}
	}
	if len(l.BatchNorms) != 3 || len(l.LayerNorms) != 0 {
		t.Fatalf("%d batch norms and %d layer norms", len(l.BatchNorms), len(l.LayerNorms))
	}
	two := graph.Batch(graph.Must(graph.New(3, nil, nil)), graph.Must(graph.New(5, nil, nil)))
	one := graph.Must(graph.New(8, nil, nil))
	x := grad.Const(m.Src.Value)
	apart, joined := l.Forward(nil, two, x).Value(), l.Forward(nil, one, x).Value()
	for i, part := range []*grad.Var{x.RowRange(0, 3), x.RowRange(3, 8)} {
		alone := l.Forward(nil, graph.Must(graph.New(part.Dim(0), nil, nil)), part)
		golden.Compare(t, "member", grad.Const(apart).RowRange(3*i, 3*i+part.Dim(0)).Value(), alone.Value(), 0)
	}
	if apart.Data[0] == joined.Data[0] {
		t.Error("members attend to each other")
	}
	for _, offsets := range [][]int{{0, 3, 8}, {0, 5, 8}, {0, 8, 8}, {0, 0, 8}} { // which share what is derived of one
		split := l.Forward(nil, graph.Must(graph.WithMembers(one, offsets)), x)
		for i, lo := range offsets[:2] {
			part := x.RowRange(lo, offsets[i+1])
			alone := l.Forward(nil, graph.Must(graph.New(part.Dim(0), nil, nil)), part)
			golden.Compare(t, fmt.Sprint("members at ", offsets), split.RowRange(lo, offsets[i+1]).Value(), alone.Value(), 0)
		}
	}
	if err := misused(func() { (&layers.GPSConv{Width: 4, Heads: 3}).Init(nil) }); err == nil || !strings.Contains(err.Error(), "into 3 Heads") {
		t.Errorf("got %v, want an error about the heads", err)
	}
	refuses(t, "layers.GPSConv", "bipartite", func() { l.Forward(nil, graph.CompleteBipartite(8, 2), x) })
	const side = 46341 // whose square is the first beyond 2³¹−1
	refuses(t, "layers.GPSConv", "2147488281 pairs", func() { l.Forward(nil, graph.Must(graph.New(side, nil, nil)), grad.Const(tensor.New(side, 2))) })
	tp := grad.NewTape(1)
	tp.Backward(weigh(m.apply(tp, g)))
	if moved := l.BatchNorms[2].Mean.Value.Data; moved[0] == 1 {
		t.Error("the running statistics did not move in training")
	}
}

// What the comments say of memory: no step of training holds the message of each edge, or
// of an NNConv its matrix.
func TestMessagesAreNotStored(t *testing.T) {
	const nodes, edges, width = 100, 20000, 64
	rng := rand.New(rand.NewPCG(1, 1))
	g := random.Uniform(rng, nodes, edges)
	for _, tt := range []struct {
		l    layer
		in   int
		edge int
		row  int // elements of what is not stored for an edge
	}{
		{&layers.EdgeConv{Net: layers.MLP{Widths: []int{8, width, 4}}}, 4, 0, width},
		{&layers.GINEConv{Net: layers.MLP{Widths: []int{width, 4}}, EdgeIn: 2}, width, 2, width},
		{&layers.NNConv{In: 8, Out: 8, EdgeIn: 2}, 8, 2, 64},
		{&layers.MoNetConv{In: 4, Out: 16, EdgeIn: 2, Kernels: 4}, 4, 2, 64},
		{&layers.ResGatedConv{In: 4, Out: width, EdgeIn: 2}, 4, 2, width},
		{&layers.PNAConv{In: width, Out: 4, Delta: 1, EdgeIn: 2}, width, 2, width},
	} {
		tt.l.Init(rng)
		x, e := tensor.New(nodes, tt.in), tensor.New(edges, max(1, tt.edge))
		x.Normal(rng, 0, 1)
		e.Normal(rng, 0, 1)
		tp := grad.NewTape(1)
		in := layers.In{Src: tp.Watch(x)}
		if tt.edge > 0 {
			in.Edge = tp.Watch(e)
		}
		tp.Backward(weigh(tt.l.Apply(tp, g, in).Y))
		all := edges * tt.row * int(reflect.TypeFor[tensor.Float]().Size())
		if peak := tp.Stats().Peak; peak >= all {
			t.Errorf("%T: %d bytes at most at a time; a row for each edge is %d", tt.l, peak, all)
		}
	}
}

package layers_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// In float32 the step of a difference is so long that it walks over the kinks of
// LeakyReLU; there the golden gradients stand for this check.
func TestGradients(t *testing.T) {
	if !gradtest.Sharp {
		t.Skip("needs -tags f64")
	}
	each(t, func(t *testing.T, v variant) {
		g := v.graph()
		m := v.model(g)
		gradtest.Check(t, m, func(tp *grad.Tape) *grad.Var { return weigh(m.apply(tp, g)) })
	})
}

// Dropout must do something, or the check above checks nothing.
func TestDropout(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		g := v.graph()
		m := v.model(g)
		same := slices.Equal(m.apply(grad.NewTape(1), g).Value().Data, m.apply(nil, g).Value().Data)
		if same == v.drops {
			t.Errorf("training equals evaluation: %v, want %v", same, !v.drops)
		}
	})
}

// rows returns the given rows of p's value; of nil, nil.
func rows(p *grad.Param, at []int32) *grad.Var {
	if p == nil {
		return nil
	}
	return grad.Const(p.Value).Rows(at)
}

// New numbers for the nodes and another order of the edges change nothing.
func TestPermutation(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	each(t, func(t *testing.T, v variant) {
		if v.inDst > 0 || v.order {
			return
		}
		g := v.graph()
		m := v.model(g)
		number := make([]int32, g.NumNodes()) // the new number of each node
		old := make([]int32, g.NumNodes())
		for i, p := range rng.Perm(len(number)) {
			number[i], old[p] = int32(p), int32(i)
		}
		var src, dst, edges []int32
		for _, e := range rng.Perm(g.NumEdges()) {
			edges = append(edges, int32(e))
			src, dst = append(src, number[g.In().Cols[e]]), append(dst, number[g.Destinations()[e]])
		}
		h := graph.Must(graph.New(g.NumNodes(), src, dst))
		if v.kinds > 0 {
			kinds := make([]int32, len(edges))
			for i, e := range edges {
				kinds[i] = g.Kinds()[e]
			}
			h = graph.Must(graph.WithKinds(h, kinds))
		}
		in := layers.In{Src: rows(m.Src, old), Edge: rows(m.Edge, edges), Weight: rows(m.Wght, edges)}
		if in.Edge != nil {
			in.Edge = message.OnEdges(h, in.Edge)
		}
		if in.Weight != nil {
			in.Weight = message.OnEdges(h, in.Weight)
		}
		got := m.L.Apply(nil, h, in).Y.Rows(number)
		golden.Compare(t, "y", got.Value(), m.apply(nil, g).Value(), 0)
	})
}

// A batch gives the bits that its members give on their own.
func TestBatch(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		g := v.graph()
		b := graph.Batch(g, g)
		m := v.model(g)
		twice := func(p *grad.Param) *grad.Var {
			if p == nil {
				return nil
			}
			data := append(slices.Clone(p.Value.Data), p.Value.Data...)
			return grad.Const(tensor.Of(data, 2*p.Value.Rows(), p.Value.RowLen()))
		}
		got := m.L.Apply(nil, b, layers.In{Src: twice(m.Src), Dst: twice(m.Dst), Edge: twice(m.Edge), Weight: twice(m.Wght)}).Y.Value()
		want := m.apply(nil, g).Value()
		if !slices.Equal(got.Data, append(slices.Clone(want.Data), want.Data...)) {
			t.Error("the batch differs from its members")
		}
	})
}

// Graphs of no nodes, and of nodes without edges, train.
func TestEmpty(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		for _, n := range []int{0, 3} {
			g := graph.Must(graph.New(n, nil, nil))
			if v.inDst > 0 {
				g = graph.Must(graph.NewBipartite(n, n, nil, nil))
			}
			g = v.kinded(g)
			m := v.model(g)
			tp := grad.NewTape(1)
			y := m.apply(tp, g)
			if y.Dim(0) != n {
				t.Errorf("%d rows for %d nodes", y.Dim(0), n)
			}
			for i, gr := range tp.Backward(weigh(y)) {
				for _, d := range gr.Value.Data {
					if d != d {
						t.Errorf("gradient %d is NaN", i)
					}
				}
			}
		}
	})
}

// No bit of a result or a gradient depends on the number of threads.
func TestThreads(t *testing.T) {
	whole := random.PowerLaw(rand.New(rand.NewPCG(4, 4)), 1000, 12000, 0.75) // of which some node hears a whole chunk
	small := random.PowerLaw(rand.New(rand.NewPCG(4, 4)), 200, 1600, 0.75)   // of pairs 40,000
	sides := graph.Must(graph.NewBipartite(1000, 1000, whole.In().Cols, whole.Destinations()))
	number, tapes := 0, map[int]*grad.Tape{1: grad.NewTape(1), 5: grad.NewTape(1)}
	each(t, func(t *testing.T, v variant) {
		every := 2
		switch {
		case sparing.Raced:
			every = 7 // the detector is slow
		case sparing.Full():
			every = 1
		}
		if number++; number%every != 0 {
			return // what layers are made of has tests of its own
		}
		g := whole
		if v.inDst > 0 {
			g = sides
		}
		if v.whole {
			g = small
		}
		g = v.kinded(g)
		m := v.model(g)
		var want []*tensor.Dense
		for _, n := range []int{1, 5} {
			undo, tp := par.SetThreads(n), tapes[n]
			tp.Reset()
			y := m.apply(tp, g)
			got := []*tensor.Dense{y.Value()}
			for _, d := range tp.Backward(weigh(y)) {
				got = append(got, d.Value)
			}
			undo()
			if want == nil {
				want = got
			}
			for i := range got {
				if !slices.Equal(got[i].Data, want[i].Data) {
					t.Errorf("array %d differs with %d threads", i, n)
				}
			}
		}
	})
}

// One model serves four goroutines at once.
func TestConcurrent(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		g := v.graph()
		m := v.model(g)
		want := m.apply(nil, g).Value()
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				tp := grad.NewEval()
				for range 2 {
					tp.Reset()
					if !slices.Equal(m.apply(tp, g).Value().Data, want.Data) {
						t.Error("a goroutine got another result")
					}
				}
			})
		}
		wg.Wait()
	})
}

// Wrong inputs say what is wrong.
func TestMisuse(t *testing.T) {
	x, e := grad.Const(tensor.New(8, 3)), grad.Const(tensor.New(13, 2))
	bags := grad.Const(&sparse.CSR{NumRows: 8, NumCols: 3, Offsets: make([]int64, 9)})
	sides, five := oddSides(), grad.Const(tensor.New(5, 3))
	for _, tt := range []struct {
		want string
		l    layer
		g    *graph.Graph
		in   layers.In
	}{
		{"In.Edge is given", &layers.GATConv{In: 3, Out: 2}, odd(), layers.In{Src: x, Edge: e}},
		{"In.Edge is needed", &layers.GATv2Conv{In: 3, Out: 2, EdgeIn: 2}, odd(), layers.In{Src: x}},
		{"In.Dst is needed", &layers.GATConv{In: 3, Out: 2}, sides, layers.In{Src: five}},
		{"SymmetricWeights", &layers.GCNConv{In: 3, Out: 2}, sides, layers.In{Src: five}},
		{"layers.GATConv: cannot take shape [8 3]: x has 3 columns, In is 4", &layers.GATConv{In: 4, Out: 2}, odd(), layers.In{Src: x}},
		{"In.Edge is given", &layers.SAGEConv{In: 3, Out: 2}, odd(), layers.In{Src: x, Edge: e}},
		{"In.Edge is needed", &layers.TransformerConv{In: 3, Out: 2, EdgeIn: 2}, odd(), layers.In{Src: x}},
		{"In.Dst is needed", &layers.GINConv{Net: layers.MLP{Widths: []int{3, 2}}}, sides, layers.In{Src: five}},
		{"2 hops leave the bipartite graph", &layers.SGConv{In: 3, Out: 2}, sides, layers.In{Src: five}},
		{"10 hops leave the bipartite graph", &layers.APPNP{}, sides, layers.In{Src: five}},
		{"x is sparse; use ResidualLinear", &layers.GATConv{In: 3, Out: 3, Residual: layers.ResidualIdentity}, odd(), layers.In{Src: bags}},
		{"x is sparse; give it", &layers.APPNP{}, odd(), layers.In{Src: bags}},
		{"x is sparse; set Project", &layers.SAGEConv{In: 3, Out: 2, Aggregate: layers.AggregateMax}, odd(), layers.In{Src: bags}},
		{"x is sparse; aggregate by", &layers.GINConv{Net: layers.MLP{Widths: []int{3, 2}}, Aggregate: layers.AggregateMax}, odd(), layers.In{Src: bags}},
	} {
		tt.l.Init(rand.New(rand.NewPCG(1, 1)))
		err := tensor.Try(func() { tt.l.Apply(nil, tt.g, tt.in) })
		var shape *tensor.ShapeError
		if !errors.As(err, &shape) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want a ShapeError about %q", err, tt.want)
		}
	}
}

// misused returns the *grad.TapeError that f panics with, or nil.
func misused(f func()) (err *grad.TapeError) {
	defer func() { err, _ = recover().(*grad.TapeError) }()
	f()
	return nil
}

// A layer that was not initialised says so, and does not pass its inputs on.
func TestWithoutInit(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		switch v.layer.(type) {
		case *layers.APPNP, *layers.LightGCN, *layers.H2GCNConv:
			return // they have no Params
		}
		g := v.graph()
		initialised := v.model(g)
		for _, fresh := range variants() {
			if fresh.name != v.name {
				continue
			}
			if err := misused(func() { fresh.layer.Apply(nil, g, initialised.in(nil)) }); err == nil || !strings.Contains(err.Error(), "Init called") {
				t.Errorf("got %v, want a TapeError about Init", err)
			}
		}
	})
	x := grad.Const(tensor.New(2, 3))
	if err := misused(func() { (&layers.MLP{Widths: []int{3, 2}}).Forward(nil, x) }); err == nil {
		t.Error("an MLP without layers returns its input")
	}
	if err := misused(func() { (&layers.MLP{Widths: []int{3}}).Init(nil) }); err == nil {
		t.Error("an MLP of one width was initialised")
	}
}

// A name that is none of those there are says so.
func TestUnknownName(t *testing.T) {
	x := grad.Const(tensor.New(8, 3))
	for want, l := range map[string]layer{
		"Norm is \"upside-down\"":     &layers.GCNConv{In: 3, Out: 2, Norm: "upside-down"},
		"no aggregator called median": &layers.SAGEConv{In: 3, Out: 2, Aggregate: "median"},
		"Residual is \"direct\"":      &layers.GATConv{In: 3, Out: 2, Residual: "direct"},
		"layers.SGConv: K is -1":      &layers.SGConv{In: 3, Out: 2, K: -1},
		"layers.APPNP: K is -2":       &layers.APPNP{K: -2},
		"no aggregator called lstm":   &layers.GINConv{Net: layers.MLP{Widths: []int{3, 2}}, Aggregate: layers.AggregateLSTM},
	} {
		func() {
			defer func() {
				err, ok := recover().(*grad.TapeError)
				if !ok || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want a TapeError about %q", err, want)
				}
			}()
			l.Init(rand.New(rand.NewPCG(1, 1)))
			l.Apply(nil, odd(), layers.In{Src: x})
		}()
	}
}

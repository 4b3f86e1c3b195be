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
	"github.com/edgewise-ml/edgewise/internal/golden"
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
		if v.inDst > 0 {
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

// A layer on a block, or a view of some destinations, is the layer on the whole
// graph at the seeds. A GCNConv takes the whole graph's normalisation along.
func TestBlock(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		if v.inDst > 0 {
			return
		}
		g := v.graph()
		m := v.model(g)
		in, l := m.in(nil), m.L
		want := l.Apply(nil, g, in).Y
		if gcn, ok := l.(*layers.GCNConv); ok {
			if gcn.Norm != layers.NormSymmetric {
				return
			}
			c := *gcn
			c.Norm = layers.NormNone
			l, in.Weight = &c, layers.SymmetricWeights(g, in.Weight)
		}
		seeds := []int32{6, 0, 2, 7, 4}
		for name, cut := range map[string]func([]int32) (*graph.Graph, error){"Block": g.Block, "Dst": g.Dst} {
			part := graph.Must(cut(seeds))
			few := layers.In{Src: in.Src.Rows(part.From().Src)}
			if in.Edge != nil {
				few.Edge = in.Edge.Rows(part.From().Edges)
			}
			if in.Weight != nil {
				few.Weight = in.Weight.Rows(part.From().Edges)
			}
			golden.Compare(t, name, l.Apply(nil, part, few).Y.Value(), want.Rows(seeds).Value(), 0)
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

// An isolated node gets the bias, and nothing else.
func TestIsolated(t *testing.T) {
	for _, l := range []layer{&layers.GATConv{In: 3, Out: 2, Heads: 2}, &layers.GATv2Conv{In: 3, Out: 2, Heads: 2}, &layers.GCNConv{In: 3, Out: 4}} {
		v := variant{layer: l, in: 3}
		m := v.model(odd())
		var b []tensor.Float
		for name, p := range grad.Params(l) {
			if name == "B" {
				b = p.Value.Data
			}
		}
		if y := m.apply(nil, odd()).Value(); !slices.Equal(y.Row(7), b) {
			t.Errorf("%T: the isolated node gets %v, want the bias %v", l, y.Row(7), b)
		}
	}
}

// One model serves eight goroutines at once.
func TestConcurrent(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		g := v.graph()
		m := v.model(g)
		want := m.apply(nil, g).Value()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				tp := grad.NewEval()
				for range 3 {
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

// The whole of GAT runs as one kernel, whatever its options.
func TestKernel(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		l, ok := v.layer.(*layers.GATConv)
		if !ok {
			return
		}
		g := v.graph()
		m := v.model(g)
		ft := grad.Const(tensor.New(g.NumSrc(), max(1, l.Heads), l.Out))
		alpha := l.Apply(grad.NewTape(1), g, m.in(nil)).Attention
		if how := message.Explain(g, message.U(ft).Mul(alpha), message.Sum); !strings.HasPrefix(how, "kernel:") {
			t.Errorf("runs as %s", how)
		}
	})
}

// Sparse features give what the same features give as a dense array.
func TestSparse(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		if v.inDst > 0 || v.name == "GAT identity" || v.name == "GATv2 shared" {
			return
		}
		whole := v.graph()
		for _, g := range []*graph.Graph{whole, graph.Must(whole.Dst([]int32{3, 0}))} {
			if _, gcn := v.layer.(*layers.GCNConv); gcn && g.Bipartite() {
				continue
			}
			m := v.model(g)
			in := m.in(nil)
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
			want := v.layer.Apply(nil, g, in).Y.Value()
			in.Src = grad.Const(a)
			golden.Compare(t, "y", v.layer.Apply(nil, g, in).Y.Value(), want, 0)
		}
	})
}

// Wrong inputs say what is wrong.
func TestMisuse(t *testing.T) {
	x, e := grad.Const(tensor.New(8, 3)), grad.Const(tensor.New(13, 2))
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
		{"grad.MatMul", &layers.GATConv{In: 4, Out: 2}, odd(), layers.In{Src: x}},
	} {
		tt.l.Init(rand.New(rand.NewPCG(1, 1)))
		err := tensor.Try(func() { tt.l.Apply(nil, tt.g, tt.in) })
		var shape *tensor.ShapeError
		if !errors.As(err, &shape) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want a ShapeError about %q", err, tt.want)
		}
	}
}

// Linear is xW + b of a matrix and of an array of more axes.
func TestLinear(t *testing.T) {
	l := &layers.Linear{In: 3, Out: 2}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	l.B.Value.Fill(0.5)
	x := grad.NewParam(2, 2, 3)
	x.Value.Normal(rand.New(rand.NewPCG(2, 1)), 0, 1)
	y := l.Forward(nil, grad.Const(x.Value)).Value()
	for i, row := range affine(values(x), l.W, l.B) {
		for j, want := range row {
			if got := float64(y.Data[i*2+j]); got-want > 1e-5 || want-got > 1e-5 {
				t.Errorf("row %d, column %d is %v, want %v", i, j, got, want)
			}
		}
	}
	gradtest.Check(t, []any{l, x}, func(tp *grad.Tape) *grad.Var { return weigh(l.Forward(tp, tp.Use(x))) })
}

package pool_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/tensor"
)

const width = 3

// scene is graphs of 4, 0, 1 and 3 nodes side by side.
func scene() *graph.Graph {
	return graph.Batch(
		graph.Must(graph.New(4, []int32{0, 1, 1, 2, 3, 3, 2}, []int32{1, 0, 2, 1, 2, 3, 3})),
		graph.Must(graph.New(0, nil, nil)),
		graph.Must(graph.New(1, nil, nil)),
		graph.Must(graph.New(3, []int32{0, 2}, []int32{2, 0})))
}

// model is a layer and what it reads as Params.
type model struct {
	L any
	X *grad.Param
}

func newModel(l interface{ Init(*rand.Rand) }, g *graph.Graph) *model {
	rng := rand.New(rand.NewPCG(1, 2))
	l.Init(rng)
	m := &model{l, grad.NewParam(g.NumNodes(), width)}
	for _, p := range grad.Params(m) {
		p.Value.Uniform(rng, -1, 1)
	}
	return m
}

// dot returns a row times a column of w.
func dot(x []tensor.Float, w *tensor.Dense, col int) (s float64) {
	for k, v := range x {
		s += float64(v) * float64(w.Row(k)[col])
	}
	return s
}

func TestAttentionOracle(t *testing.T) {
	g := scene()
	l := &pool.Attention{Gate: layers.MLP{Widths: []int{width, 1}}, Net: layers.MLP{Widths: []int{width, 2}}}
	m := newModel(l, g)
	tape := grad.NewEval()
	y, weights := l.Forward(tape, g, tape.Use(m.X)).Value(), l.Weights(tape, g, tape.Use(m.X)).Value()
	at := g.NodeOffsets()
	for i := range len(at) - 1 {
		total, want := 0.0, make([]float64, 2)
		score := func(v int) float64 {
			return math.Exp(dot(m.X.Value.Row(v), l.Gate.Layers[0].W.Value, 0) + float64(l.Gate.Layers[0].B.Value.Data[0]))
		}
		for v := at[i]; v < at[i+1]; v++ {
			total += score(v)
		}
		for v := at[i]; v < at[i+1]; v++ {
			compare.Number(t, "weight", weights.Row(v)[0], score(v)/total, compare.Off(1e-5, 0))
			for c := range want {
				want[c] += score(v) / total * (dot(m.X.Value.Row(v), l.Net.Layers[0].W.Value, c) + float64(l.Net.Layers[0].B.Value.Data[c]))
			}
		}
		for c, w := range want {
			compare.Number(t, fmt.Sprintf("graph %d", i), y.Row(i)[c], w, compare.Off(1e-5, 0))
		}
	}
}

func TestSort(t *testing.T) {
	g := scene()
	x := tensor.Of([]tensor.Float{1, 0, 5, 2, 0, 7, 3, 0, 5, 4, 0, 9, 5, 0, 1, 6, 0, 2, 7, 0, -1, 8, 0, 3}, 8, width)
	y := (&pool.Sort{K: 3}).Forward(nil, g, grad.Const(x)).Value()
	for i, want := range [][]int{{3, 1, 0}, {}, {4}, {7, 5, 6}} { // of equal ones the lower number
		for k := range 3 {
			row := make([]tensor.Float, width)
			if k < len(want) {
				row = x.Row(want[k])
			}
			if got := y.Row(i)[k*width : (k+1)*width]; !slices.Equal(got, row) {
				t.Errorf("graph %d, place %d: %v, want %v", i, k, got, row)
			}
		}
	}
}

// wantKept checks what is kept against the scores.
func wantKept(t *testing.T, g *graph.Graph, k pool.Kept, x *tensor.Dense, score func(v int) float64, ratio float64) {
	t.Helper()
	at, kept := g.NodeOffsets(), k.Graph.NodeOffsets()
	for i := range len(at) - 1 {
		nodes := k.Nodes[kept[i]:kept[i+1]]
		if want := int(math.Ceil(ratio * float64(at[i+1]-at[i]))); len(nodes) != want {
			t.Errorf("graph %d: %d nodes are kept, want %d", i, len(nodes), want)
		}
		for v := at[i]; v < at[i+1]; v++ {
			compare.Number(t, "score", k.Score.Value().Row(v)[0], score(v), compare.Off(1e-5, 0))
			if slices.Contains(nodes, int32(v)) {
				continue
			}
			for _, u := range nodes {
				if score(int(u)) < score(v) {
					t.Errorf("node %d is kept, and %d scores better", u, v)
				}
			}
		}
	}
	for i, v := range k.Nodes {
		for c := range width {
			compare.Number(t, "kept", k.Y.Value().Row(i)[c], score(int(v))*float64(x.Row(int(v))[c]), compare.Off(1e-5, 0))
		}
	}
	edges := 0
	for e, u := range g.In().Cols {
		if slices.Contains(k.Nodes, u) && slices.Contains(k.Nodes, g.Destinations()[e]) {
			edges++
		}
	}
	if k.Graph.NumEdges() != edges {
		t.Errorf("%d edges are kept, want %d", k.Graph.NumEdges(), edges)
	}
	for e, u := range k.Graph.In().Cols {
		if from := k.Graph.From(); g.In().Cols[from.Edges[e]] != k.Nodes[u] {
			t.Errorf("edge %d is not from where it was", e)
		}
	}
}

func TestTopKOracle(t *testing.T) {
	for _, ratio := range []float64{0, 0.7, 1} {
		g, l := scene(), &pool.TopK{In: width, Ratio: ratio}
		m := newModel(l, g)
		length := 0.0
		for _, p := range l.P.Value.Data {
			length += float64(p) * float64(p)
		}
		score := func(v int) float64 { return math.Tanh(dot(m.X.Value.Row(v), l.P.Value, 0) / math.Sqrt(length)) }
		tape := grad.NewEval()
		wantKept(t, g, l.Forward(tape, g, tape.Use(m.X)), m.X.Value, score, grad.Preset(ratio, 0.5))
	}
}

func TestSAGOracle(t *testing.T) {
	g, l := scene(), &pool.SAG{In: width}
	m := newModel(l, g)
	score := func(v int) float64 {
		s := float64(l.GCN.B.Value.Data[0])
		for _, u := range g.Sources(v) {
			s += dot(m.X.Value.Row(int(u)), l.GCN.W.Value, 0) / math.Sqrt(float64(g.InDegree(v)*g.OutDegree(int(u))))
		}
		return math.Tanh(s)
	}
	tape := grad.NewEval()
	wantKept(t, g, l.Forward(tape, g, tape.Use(m.X)), m.X.Value, score, 0.5)
}

func TestDiffOracle(t *testing.T) {
	const clusters = 2
	g, l := scene(), &pool.Diff{In: width, Clusters: clusters}
	m := newModel(l, g)
	tape := grad.NewEval()
	c := l.Forward(tape, g, tape.Use(m.X))
	s, x, at := c.Share.Value(), m.X.Value, g.NodeOffsets()
	link, entropy := 0.0, 0.0
	adjacent := func(u, v int) float64 {
		for _, w := range g.Sources(v) {
			if int(w) == u {
				return 1
			}
		}
		return 0
	}
	for i := range len(at) - 1 {
		for a := range clusters {
			for f := range width {
				want := 0.0
				for v := at[i]; v < at[i+1]; v++ {
					want += float64(s.Row(v)[a]) * float64(x.Row(v)[f])
				}
				compare.Number(t, "y", c.Y.Value().Row(i*clusters + a)[f], want, compare.Off(1e-5, 0))
			}
		}
		for u := at[i]; u < at[i+1]; u++ {
			for v := at[i]; v < at[i+1]; v++ {
				both := 0.0
				for a := range clusters {
					both += float64(s.Row(u)[a]) * float64(s.Row(v)[a])
				}
				link += math.Pow(adjacent(u, v)-both, 2)
			}
			for _, p := range s.Row(u) {
				entropy -= float64(p) * math.Log(float64(p)) / float64(g.NumNodes())
			}
		}
	}
	compare.Number(t, "link", c.Link.Value().Data[0], link, compare.Off(1e-5, 0))
	compare.Number(t, "entropy", c.Entropy.Value().Data[0], entropy, compare.Off(1e-5, 0))
	for e, from := range c.Graph.In().Cols {
		to, want := int(c.Graph.Destinations()[e]), 0.0
		i := to / clusters
		for u := at[i]; u < at[i+1]; u++ {
			for v := at[i]; v < at[i+1]; v++ {
				want += float64(s.Row(u)[int(from)%clusters]) * adjacent(u, v) * float64(s.Row(v)[to%clusters])
			}
		}
		compare.Number(t, "weight", c.Weight.Value().Row(e)[0], want, compare.Off(1e-5, 0))
	}
	if got := c.Graph.NodeOffsets(); !slices.Equal(got, []int{0, 2, 4, 6, 8}) {
		t.Errorf("members %v", got)
	}
}

// TestGradients checks every Param and x, in float64.
func TestGradients(t *testing.T) {
	if !gradtest.Sharp {
		t.Skip("float32")
	}
	g := scene()
	att := &pool.Attention{Gate: layers.MLP{Widths: []int{width, 4, 1}}, Net: layers.MLP{Widths: []int{width, 2}}}
	set := &pool.Set2Set{In: width, Steps: 2, Layers: 2}
	srt, top, sag, diff := &pool.Sort{K: 2}, &pool.TopK{In: width}, &pool.SAG{In: width}, &pool.Diff{In: width, Clusters: 2}
	for _, c := range []struct {
		l   interface{ Init(*rand.Rand) }
		run func(t *grad.Tape, x *grad.Var) *grad.Var
	}{
		{att, func(t *grad.Tape, x *grad.Var) *grad.Var { return att.Forward(t, g, x) }},
		{set, func(t *grad.Tape, x *grad.Var) *grad.Var { return set.Forward(t, g, x) }},
		{srt, func(t *grad.Tape, x *grad.Var) *grad.Var { return srt.Forward(t, g, x) }},
		{top, func(t *grad.Tape, x *grad.Var) *grad.Var { return top.Forward(t, g, x).Y }},
		{sag, func(t *grad.Tape, x *grad.Var) *grad.Var { return sag.Forward(t, g, x).Y }},
		{diff, func(t *grad.Tape, x *grad.Var) *grad.Var {
			c := diff.Forward(t, g, x)
			return c.Y.Square().Sum().Add(c.Weight.Square().Sum()).Add(c.Link).Add(c.Entropy)
		}},
	} {
		m := newModel(c.l, g)
		t.Run(fmt.Sprintf("%T", c.l), func(t *testing.T) {
			gradtest.Check(t, m, func(t *grad.Tape) *grad.Var {
				return c.run(t, t.Use(m.X)).Square().Sum()
			})
		})
	}
}

// TestOneByOne reads each graph of a batch on its own.
func TestOneByOne(t *testing.T) {
	g := scene()
	for _, l := range []reader{&pool.Attention{Gate: layers.MLP{Widths: []int{width, 1}}}, &pool.Set2Set{In: width}, &pool.Sort{K: 2}} {
		m := newModel(l, g)
		tape := grad.NewEval()
		x := tape.Use(m.X)
		y := l.Forward(tape, g, x).Value()
		for i, one := range graph.Unbatch(g) {
			at := g.NodeOffsets()
			alone := l.Forward(tape, one, x.RowRange(at[i], at[i+1])).Value()
			for c, v := range y.Row(i) {
				compare.Number(t, fmt.Sprintf("%T, graph %d", l, i), alone.Row(0)[c], float64(v), compare.Off(1e-5, 0))
			}
		}
	}
}

func TestWrong(t *testing.T) {
	g := scene()
	x := grad.Const(tensor.New(8, width))
	for want, f := range map[string]func(){
		"want a row for each":         func() { (&pool.Sort{K: 1}).Forward(nil, g, grad.Const(tensor.New(7, width))) },
		"the graph is bipartite":      func() { (&pool.Sort{K: 1}).Forward(nil, graph.CompleteBipartite(2, 2), x) },
		"the graph is nil":            func() { (&pool.Attention{}).Forward(nil, nil, x) },
		"pool.TopK: it has no weigh":  func() { (&pool.TopK{In: width}).Forward(nil, g, x) },
		"pool.SAG: it has no Params":  func() { (&pool.SAG{In: width}).Forward(nil, g, x) },
		"pool.Diff: it has no Params": func() { (&pool.Diff{In: width}).Forward(nil, g, x) },
		"In is 2":                     func() { (&pool.Set2Set{In: 2}).Forward(nil, g, x) },
		"Ratio is 2": func() {
			l := &pool.TopK{In: width, Ratio: 2}
			l.Init(rand.New(rand.NewPCG(1, 2)))
			l.Forward(grad.NewEval(), g, x)
		},
	} {
		var got string
		func() {
			defer func() { got = fmt.Sprint(recover()) }()
			f()
		}()
		if !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A share of the nodes that is a whole number but for rounding is that number: 0.07·100 is 7.000000000000001.
func TestTopKOfWholeShares(t *testing.T) {
	for _, c := range []struct {
		ratio   float64
		n, want int
	}{{0.07, 100, 7}, {0.28, 25, 7}, {0.5, 3, 2}, {0.1, 11, 2}} {
		g := graph.Must(graph.New(c.n, nil, nil))
		l := &pool.TopK{In: width, Ratio: c.ratio}
		m := newModel(l, g)
		if got := len(l.Forward(nil, g, grad.Const(m.X.Value)).Nodes); got != c.want {
			t.Errorf("of %d nodes the share %v is %d, want %d", c.n, c.ratio, got, c.want)
		}
	}
}

package layers_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// GraphNorm and PairNorm are PyG's, on a batch with an empty graph and on one graph.
func TestGraphNormsPyG(t *testing.T) {
	type norm interface {
		Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
	}
	names := map[string]string{"weight": "Gain", "bias": "B", "mean_scale": "Shift"}
	run := func(t *testing.T, s *scene, l norm) {
		var members []*graph.Graph
		for _, n := range s.Config["batch_num_nodes"].([]any) {
			members = append(members, graph.Must(graph.New(int(n.(float64)), nil, nil)))
		}
		g := graph.Batch(members...)
		if !config(s.Case, "uses_batch", true) {
			g = graph.Must(graph.New(g.NumNodes(), nil, nil))
		}
		params := map[string]*grad.Param{}
		for name, p := range grad.Params(l) {
			params[name] = p
		}
		for key, name := range names {
			if p := params[name]; p != nil {
				copy(p.Value.Data, s.Tensor(t, "params", key).Data)
			}
		}
		tp := grad.NewTape(1)
		x := tp.Watch(s.Tensor(t, "inputs", "x"))
		y := l.Forward(tp, g, x)
		golden.Compare(t, "y", y.Value(), s.Tensor(t, "outputs", "y"), s.Float32Error.Outputs)
		grads := tp.Backward(y.Mul(grad.Const(s.Tensor(t, "cotangents", "y"))).Sum())
		for key := range s.Grads {
			got := grads.Of(x)
			if key != "x" {
				got = grads.Param(params[names[key]])
			}
			golden.Compare(t, "gradient of "+key, got, s.Tensor(t, "grads", key), s.Float32Error.Grads)
		}
	}
	cases(t, "pyg/graphnorm*.json", 2, func(t *testing.T, s *scene) {
		l := &layers.GraphNorm{Width: number(s, "in_channels")}
		l.Init(nil)
		run(t, s, l)
	})
	cases(t, "pyg/pairnorm*.json", 3, func(t *testing.T, s *scene) {
		run(t, s, &layers.PairNorm{Scale: config(s.Case, "scale", 0.0), Each: config(s.Case, "scale_individually", false)})
	})
}

// jumps is JumpLSTM of one node, in loops.
func jumps(l *layers.JumpingKnowledge, xs matrix) []float64 {
	scores := make([]float64, len(xs))
	for way := range 2 {
		h, c := make([]float64, l.Hidden), make([]float64, l.Hidden)
		for i := range xs {
			k := i
			if way == 1 {
				k = len(xs) - 1 - i
			}
			z := sum(affine(xs[k:k+1], l.WGates[way], l.BGates[way]), 1, affine(matrix{h}, l.UGates[way], nil))[0]
			for j := range c {
				c[j] = sigmoid(z[l.Hidden+j])*c[j] + sigmoid(z[j])*math.Tanh(z[2*l.Hidden+j])
				h[j] = sigmoid(z[3*l.Hidden+j]) * math.Tanh(c[j])
				scores[k] += h[j] * float64(l.W.Value.Data[way*l.Hidden+j])
			}
		}
	}
	y, total := make([]float64, l.Width), 0.0
	for _, s := range scores {
		total += math.Exp(s)
	}
	for k, s := range scores {
		for j := range y {
			y[j] += math.Exp(s) / total * xs[k][j]
		}
	}
	return y
}

// JumpingKnowledge is its formulas, and its gradients are theirs.
func TestJumpingKnowledge(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, l := range []*layers.JumpingKnowledge{{}, {Mode: layers.JumpMax}, {Mode: layers.JumpLSTM, Width: 3, Hidden: 2}} {
		l.Init(rng)
		m := &struct {
			L  *layers.JumpingKnowledge
			Xs [3]*grad.Param
		}{L: l}
		for i := range m.Xs {
			m.Xs[i] = grad.NewParam(4, 3)
		}
		for _, p := range grad.Params(m) {
			p.Value.Normal(rng, 0, 1)
		}
		run := func(tp *grad.Tape) *grad.Var { return l.Forward(tp, tp.Use(m.Xs[0]), tp.Use(m.Xs[1]), tp.Use(m.Xs[2])) }
		y := run(nil).Value()
		for i := range 4 {
			var want []float64
			a, b, c := values(m.Xs[0])[i], values(m.Xs[1])[i], values(m.Xs[2])[i]
			switch l.Mode {
			case layers.JumpConcat:
				want = slices.Concat(a, b, c)
			case layers.JumpMax:
				for j := range a {
					want = append(want, max(a[j], b[j], c[j]))
				}
			default:
				want = jumps(l, matrix{a, b, c})
			}
			compare.Near(t, fmt.Sprintf("%q: row %d", l.Mode, i), y.Row(i), want, compare.Off(2e-5, 0))
		}
		if gradtest.Sharp {
			gradtest.Check(t, m, func(tp *grad.Tape) *grad.Var { return weigh(run(tp)) })
		}
		text, err := json.Marshal(l)
		if err != nil || strings.Contains(string(text), "Gates") {
			t.Errorf("the JSON is %s, %v", text, err)
		}
	}
}

// DropEdge takes out about its fraction, another one each step, the same one again from
// the same seed, and carries what the edges have.
func TestDropEdge(t *testing.T) {
	whole := graph.Undirected(random.Uniform(rand.New(rand.NewPCG(1, 1)), 500, 4000))
	l := &layers.DropEdge{P: 0.3}
	numbers := tensor.New(whole.NumEdges(), 1)
	for e := range numbers.Data {
		numbers.Data[e] = tensor.Float(e)
	}
	in := layers.In{Edge: grad.Const(numbers), Weight: grad.Const(numbers)}
	tp := grad.NewTape(7)
	left, few := l.Apply(tp, whole, in)
	if share := float64(left.NumEdges()) / float64(whole.NumEdges()); math.Abs(share-0.7) > 0.03 {
		t.Errorf("a share of %v is left, want 0.7", share)
	}
	for e, v := range left.Destinations() {
		was := int(few.Edge.Value().Data[e])
		if whole.In().Cols[was] != left.In().Cols[e] || whole.Destinations()[was] != v || few.Weight.Value().Data[e] != few.Edge.Value().Data[e] {
			t.Fatalf("edge %d came with the row of edge %d", e, was)
		}
	}
	if again := l.Graph(grad.NewTape(7), whole); !slices.Equal(again.In().Cols, left.In().Cols) {
		t.Error("the same seed drops other edges")
	}
	tp.Reset()
	if next := l.Graph(tp, whole); slices.Equal(next.In().Cols, left.In().Cols) {
		t.Error("the next step drops the same edges")
	}
	if l.Graph(grad.NewEval(), whole) != whole || (&layers.DropEdge{}).Graph(tp, whole) != whole {
		t.Error("edges are dropped where none should be")
	}
	if both := (&layers.DropEdge{P: 0.5, Together: true}).Graph(tp, whole); !both.Symmetric() || both.NumEdges() == whole.NumEdges() {
		t.Errorf("%v: an edge was dropped without its reverse, or none", both)
	}
}

// The loss of an InnerProduct and the divergence of a VGAE are their formulas.
func TestVGAE(t *testing.T) {
	g, negatives := odd(), graph.Must(graph.New(8, []int32{7, 1}, []int32{0, 7}))
	l, d := &layers.VGAE{In: 3, Hidden: 4, Out: 2}, &layers.InnerProduct{}
	m := &struct {
		L *layers.VGAE
		X *grad.Param
	}{l, grad.NewParam(8, 3)}
	rng := rand.New(rand.NewPCG(1, 1))
	l.Init(rng)
	for _, p := range grad.Params(m) {
		p.Value.Normal(rng, 0, 0.5)
	}
	x := &model{Src: m.X}
	h := gcnOracle(l.First, g, x)
	hidden := grad.NewParam(8, 4)
	for i, row := range h {
		for j, v := range row {
			hidden.Value.Row(i)[j] = tensor.Float(v)
		}
	}
	mu, log := gcnOracle(l.Mu, g, &model{Src: hidden}), gcnOracle(l.LogStd, g, &model{Src: hidden})
	want := 0.0
	for i := range mu {
		for j := range mu[i] {
			want -= (1 + 2*log[i][j] - mu[i][j]*mu[i][j] - math.Exp(2*log[i][j])) / 2 / 8
		}
	}
	z, divergence := l.Encode(nil, g, grad.Const(m.X.Value))
	if got := float64(divergence.Value().Data[0]); !(math.Abs(got-want) < 1e-5) {
		t.Errorf("the divergence is %v, want %v", got, want)
	}
	loss := 0.0
	for i, pairs := range []*graph.Graph{g, negatives} {
		for e, v := range pairs.Destinations() {
			p := (1 - 2*float64(i)) * dot(mu[pairs.In().Cols[e]], mu[v])
			loss += math.Log1p(math.Exp(-p)) / float64(pairs.NumEdges())
		}
	}
	if got := float64(d.Loss(nil, g, negatives, z).Value().Data[0]); !(math.Abs(got-loss) < 1e-5) {
		t.Errorf("the loss is %v, want %v", got, loss)
	}
	drawn := l.Forward(grad.NewTape(3), g, grad.Const(m.X.Value)).Value().Data
	if slices.Equal(drawn, z.Value().Data) || !slices.Equal(drawn, l.Forward(grad.NewTape(3), g, grad.Const(m.X.Value)).Value().Data) {
		t.Error("a draw is μ, or another from the same seed")
	}
	if gradtest.Sharp {
		gradtest.Check(t, m, func(tp *grad.Tape) *grad.Var {
			z, kl := l.Encode(tp, g, tp.Use(m.X))
			return d.Loss(tp, g, negatives, z).Add(kl.Scale(1.0 / 8))
		})
	}
}

// What these layers cannot do, they say.
func TestAidsMisuse(t *testing.T) {
	x, five := grad.Const(tensor.New(8, 3)), grad.Const(tensor.New(5, 3))
	norm := &layers.GraphNorm{Width: 3}
	norm.Init(nil)
	for want, f := range map[string]func(){
		"x has 5 rows":                   func() { norm.Forward(nil, odd(), five) },
		"layers.PairNorm: cannot take":   func() { (&layers.PairNorm{}).Forward(nil, odd(), five) },
		"no Params; was Init called?":    func() { (&layers.GraphNorm{Width: 3}).Forward(nil, odd(), x) },
		"no way to jump is called sum":   func() { (&layers.JumpingKnowledge{Mode: "sum"}).Init(nil) },
		"no layers to jump from":         func() { (&layers.JumpingKnowledge{}).Forward(nil) },
		"layer 1 has 5 rows":             func() { (&layers.JumpingKnowledge{}).Forward(nil, x, five) },
		"VGAE: it has no Params":         func() { (&layers.VGAE{In: 3}).Forward(nil, odd(), x) },
		"InnerProduct: cannot take":      func() { (&layers.InnerProduct{}).Forward(nil, odd(), five) },
		"layers.GraphNorm: the graph is": func() { norm.Forward(nil, nil, x) },
	} {
		var said error
		func() {
			defer func() { said, _ = recover().(error) }()
			f()
		}()
		if said == nil || !strings.Contains(said.Error(), want) {
			t.Errorf("got %v, want an error about %q", said, want)
		}
	}
}

// What a VGAE draws has the deviation σ. All nodes have one here.
func TestVGAEDeviation(t *testing.T) {
	for _, sigma := range []float64{0.25, 3} {
		const nodes, out = 1000, 4
		l := &layers.VGAE{In: 1, Hidden: 2, Out: out}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		l.LogStd.W.Value.Zero()
		l.LogStd.B.Value.Fill(tensor.Float(math.Log(sigma)))
		g, x := graph.WithSelfLoops(graph.Must(graph.New(nodes, nil, nil))), grad.Const(tensor.New(nodes, 1))
		mu, z := l.Forward(nil, g, x).Value(), l.Forward(grad.NewTape(1), g, x).Value()
		sum, square := 0.0, 0.0
		for i, v := range z.Data {
			d := float64(v - mu.Data[i])
			sum, square = sum+d, square+d*d
		}
		const n = nodes * out
		mean, std := sum/n, math.Sqrt(square/n)
		// Of n normal numbers the mean strays by σ/√n, the deviation by σ/√2n.
		if math.Abs(mean) > 5*sigma/math.Sqrt(n) || math.Abs(std-sigma) > 5*sigma/math.Sqrt(2*n) {
			t.Errorf("σ is %v, and what was drawn has the mean %v and the deviation %v", sigma, mean, std)
		}
	}
}

package message_test

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// These tests compare the functions of docs/primitives.md with layers, where
// there is one, and else with loops. Of all of them the gradients are checked.

// agree fails the test unless two computations have the same result.
func agree(t *testing.T, what string, got, want *grad.Var) {
	t.Helper()
	near(t, what, []*tensor.Dense{got.Value()}, []*tensor.Dense{want.Value()})
}

// weights are Params, made before a computation and used in it in turn.
type weights struct{ All []*grad.Param }

func (w *weights) use(t *grad.Tape) []*grad.Var {
	out := make([]*grad.Var, len(w.All))
	for i, p := range w.All {
		out[i] = t.Use(p)
	}
	return out
}

// checked checks the gradients of f and returns its value.
func checked(t *testing.T, w *weights, f func(x []*grad.Var) *grad.Var) *grad.Var {
	t.Helper()
	gradtest.Check(t, w, func(tp *grad.Tape) *grad.Var { return weigh(f(w.use(tp))) })
	return f(w.use(nil))
}

func TestConvolutionsAreLayers(t *testing.T) {
	g := odd()
	x := param(1, 8, 3)
	w, b := param(2, 3, 4), param(3, 4)
	y := checked(t, &weights{[]*grad.Param{x, w, b}}, func(p []*grad.Var) *grad.Var { return gcn(g, p[0], p[1], p[2]) })
	agree(t, "gcn", y, (&layers.GCNConv{In: 3, Out: 4, W: w, B: b}).Forward(nil, g, grad.Const(x.Value)))

	al, ar := param(4, 2, 2), param(5, 2, 2)
	y = checked(t, &weights{[]*grad.Param{x, w, al, ar}}, func(p []*grad.Var) *grad.Var { return gat(g, p[0], p[1], p[2], p[3]) })
	one := &layers.GATConv{In: 3, Out: 2, Heads: 2, NoBias: true, W: w, AttnL: al, AttnR: ar}
	agree(t, "gat", y.Reshape(8, 4), one.Forward(nil, g, grad.Const(x.Value)))

	wd := param(6, 3, 4)
	y = checked(t, &weights{[]*grad.Param{x, w, wd, al}}, func(p []*grad.Var) *grad.Var { return gatv2(g, p[0], p[1], p[2], p[3]) })
	two := &layers.GATv2Conv{In: 3, Out: 2, Heads: 2, NoBias: true, NoProjBias: true, W: w, WDst: wd, Attn: al}
	agree(t, "gatv2", y.Reshape(8, 4), two.Forward(nil, g, grad.Const(x.Value)))
}

// eachEdge calls f with every edge of g and its ends.
func eachEdge(g *graph.Graph, f func(e, u, v int)) {
	for e, v := range g.Destinations() {
		f(e, int(g.In().Cols[e]), int(v))
	}
}

func TestSAGEAndGIN(t *testing.T) {
	g := odd()
	x, self, w, b := param(1, 8, 3), param(2, 3, 4), param(3, 3, 4), param(4, 4)
	mean, sum := tensor.New(8, 3), tensor.New(8, 3)
	eachEdge(g, func(_, u, v int) {
		for j, a := range x.Value.Row(u) {
			sum.Row(v)[j] += a
			mean.Row(v)[j] += a / tensor.Float(g.InDegree(v))
		}
	})
	p := &weights{[]*grad.Param{x, self, w, b}}
	y := checked(t, p, func(p []*grad.Var) *grad.Var { return sage(g, p[0], p[1], p[2], p[3]) })
	c := p.use(nil)
	agree(t, "sage", y, c[0].MatMul(c[1]).Add(grad.Const(mean).MatMul(c[2])).Add(c[3]))
	block := graph.Must(g.Block([]int32{2, 0, 7}))
	agree(t, "sage of a block", sage(block, c[0].Rows(block.From().Src), c[1], c[2], c[3]), y.Rows([]int32{2, 0, 7}))

	p = &weights{[]*grad.Param{x, param(5, 1), w, param(6, 4, 2)}}
	y = checked(t, p, func(p []*grad.Var) *grad.Var { return gin(g, p[0], p[1], p[2], p[3]) })
	c = p.use(nil)
	h := c[0].Scale(1 + float64(p.All[1].Value.Data[0])).Add(grad.Const(sum))
	agree(t, "gin", y, h.MatMul(c[2]).ReLU().MatMul(c[3]))
}

func TestGated(t *testing.T) {
	g := odd()
	p := &weights{[]*grad.Param{param(1, 8, 3), param(2, 13, 2), param(3, 3, 4*2)}}
	checked(t, p, func(p []*grad.Var) *grad.Var {
		y, e := gated(g, p[0], p[1], p[2])
		return y.Add(e.SumAxis(0))
	})
	y, edges := gated(g, p.use(nil)[0], p.use(nil)[1], p.use(nil)[2])
	all := p.use(nil)[0].MatMul(p.use(nil)[2]).Value() // of each node a, b, c, d
	out, logits := tensor.New(8, 2), tensor.New(13, 2)
	sum := tensor.New(8, 2)
	logit := func(e, u, v, j int) float64 {
		return float64(all.Row(u)[4+j] + all.Row(v)[6+j] + p.All[1].Value.Row(e)[j])
	}
	for j := range 2 {
		eachEdge(g, func(e, u, v int) {
			logits.Row(e)[j] = tensor.Float(logit(e, u, v, j))
			sum.Row(v)[j] += tensor.Float(sigmoid(logit(e, u, v, j)))
		})
		for v := range 8 {
			out.Row(v)[j] = all.Row(v)[j]
		}
		eachEdge(g, func(e, u, v int) {
			out.Row(v)[j] += tensor.Float(sigmoid(logit(e, u, v, j))) / sum.Row(v)[j] * all.Row(u)[2+j]
		})
	}
	near(t, "gated", []*tensor.Dense{y.Value(), edges.Value()}, []*tensor.Dense{out, logits})
}

func TestMoNet(t *testing.T) {
	g, sigma := odd(), param(4, 2, 3)
	for i, s := range sigma.Value.Data { // widths are not close to zero
		sigma.Value.Data[i] = 1 + s*s
	}
	p := &weights{[]*grad.Param{param(1, 8, 3), param(2, 13, 3), param(3, 2, 3), sigma, param(5, 3, 8)}}
	y := checked(t, p, func(p []*grad.Var) *grad.Var { return monet(g, p[0], p[1], p[2], p[3], p[4]) })
	xw := p.use(nil)[0].MatMul(p.use(nil)[4]).Value() // 8×(2·4)
	out := tensor.New(8, 4)
	eachEdge(g, func(e, u, v int) {
		for k := range 2 {
			far := 0.0
			for j, a := range p.All[1].Value.Row(e) {
				far += math.Pow(float64((a-p.All[2].Value.Row(k)[j])/sigma.Value.Row(k)[j]), 2)
			}
			for j := range 4 {
				out.Row(v)[j] += tensor.Float(math.Exp(-far/2)) * xw.Row(u)[4*k+j]
			}
		}
	})
	near(t, "monet", []*tensor.Dense{y.Value()}, []*tensor.Dense{out})
}

func TestSelfAttention(t *testing.T) {
	p := &weights{[]*grad.Param{param(1, 5, 3), param(2, 3, 3*2*2)}}
	g := graph.Causal(5)
	y := checked(t, p, func(p []*grad.Var) *grad.Var { return selfAttention(g, p[0], p[1], 2) })
	all := p.use(nil)[0].MatMul(p.use(nil)[1]).Value() // a row: queries, keys and values of two heads of two
	out := tensor.New(5, 4)
	for v := range 5 {
		for h := range 2 {
			q, logit := all.Row(v)[2*h:], make([]float64, v+1)
			for u := range logit {
				k := all.Row(u)[4+2*h:]
				logit[u] = float64(q[0]*k[0]+q[1]*k[1]) / math.Sqrt2
			}
			for u, a := range softmax(logit) {
				for j := range 2 {
					out.Row(v)[2*h+j] += tensor.Float(a) * all.Row(u)[8+2*h+j]
				}
			}
		}
	}
	near(t, "selfAttention", []*tensor.Dense{y.Value()}, []*tensor.Dense{out})
}

// TestHopfieldRecalls stores two patterns and finds them from states that are
// wrong in one place.
func TestHopfieldRecalls(t *testing.T) {
	const n = 16
	g, p := graph.CompleteNoLoops(n), tensor.New(n, 2)
	for i := range n {
		p.Row(i)[0], p.Row(i)[1] = tensor.Float(1-2*(i%2)), tensor.Float(1-2*(i/8))
	}
	w := message.ApplyEdges(g, message.UDotV(grad.Const(p), grad.Const(p))).Scale(1.0 / n)
	for k := range 2 {
		for wrong := range n {
			s, pattern := tensor.New(n, 1), tensor.New(n, 1)
			for i := range n {
				s.Data[i], pattern.Data[i] = p.Row(i)[k], p.Row(i)[k]
			}
			s.Data[wrong] *= -1
			agree(t, "recalled", hopfield(g, grad.Const(s), w), grad.Const(pattern))
		}
	}
	still := column(1, -1)
	agree(t, "without a field", hopfield(graph.CompleteNoLoops(2), still, column(0, 0)), still)
}

func TestRecurrentAreLayers(t *testing.T) {
	g := graph.Chains(3, 1, 4)
	x, w, u, b := param(1, 8, 3), param(2, 3, 8), param(3, 2, 8), param(4, 8)
	y := checked(t, &weights{[]*grad.Param{x, w, u, b}}, func(p []*grad.Var) *grad.Var { return lstm(g, p[0], p[1], p[2], p[3]) })
	agree(t, "lstm", y, (&sequence.LSTM{In: 3, Hidden: 2, W: w, U: u, B: b}).Forward(nil, g, grad.Const(x.Value)))

	trees := graph.Must(graph.Trees([]int32{2, 2, 5, 5, -1, 4}, []int32{-1, 0}))
	uf, u3 := param(5, 2, 2), param(6, 2, 6)
	y = checked(t, &weights{[]*grad.Param{x, w, b, u3, uf}}, func(p []*grad.Var) *grad.Var { return treeLSTM(trees, p[0], p[1], p[2], p[3], p[4]) })
	part := func(p *grad.Param, lo, hi int) *grad.Param {
		v := grad.Const(p.Value).Columns(lo, hi).Value()
		return &grad.Param{Value: v}
	}
	l := &sequence.TreeLSTM{In: 3, Hidden: 2, W: part(w, 0, 6), WF: part(w, 6, 8), B: part(b, 0, 6), BF: part(b, 6, 8), U: u3, UF: uf}
	agree(t, "treeLSTM", y, l.Forward(nil, trees, grad.Const(x.Value)))
}

func TestRNN(t *testing.T) {
	p := &weights{[]*grad.Param{param(1, 5, 3), param(2, 3, 2), param(3, 2, 2), param(4, 2)}}
	y := checked(t, p, func(p []*grad.Var) *grad.Var { return rnn(graph.Chains(3, 2), p[0], p[1], p[2], p[3]) })
	out := tensor.New(5, 2)
	for i := range 5 {
		for j := range 2 {
			z := float64(p.All[3].Value.Data[j])
			for k, a := range p.All[0].Value.Row(i) {
				z += float64(a * p.All[1].Value.Row(k)[j])
			}
			for k := 0; k < 2 && i != 0 && i != 3; k++ {
				z += float64(out.Row(i - 1)[k] * p.All[2].Value.Row(k)[j])
			}
			out.Row(i)[j] = tensor.Float(tanh(z))
		}
	}
	near(t, "rnn", []*tensor.Dense{y.Value()}, []*tensor.Dense{out})
}

// TestHearsNobody checks what docs/primitives.md says of nodes without messages.
func TestHearsNobody(t *testing.T) {
	g := graph.Must(graph.New(1, nil, nil))
	x, none := column(3), grad.Const(tensor.New(0, 1))
	one, b := vars([]int{1, 1}, 1), vars([]int{1}, 10)
	y, _ := gated(g, x, none, vars([]int{1, 4}, 2, 1, 1, 1))
	alone := graph.Chains(1)
	for what, c := range map[string]struct {
		y *grad.Var
		x float64
	}{
		"gcn: b":                   {gcn(g, x, one, b), 10},
		"sage: x·W₀ + b":           {sage(g, x, one, one, b), 13},
		"gin: (1+ε)·x":             {gin(g, x, vars([]int{1}, 1), one, one), 6},
		"rgcn: W₀·x":               {rgcn(graph.Must(g.WithKinds(nil)), x, one, one, none), 3},
		"gat: zero":                {gat(g, x, one, one, one), 0},
		"gatv2: zero":              {gatv2(g, x, one, one, one), 0},
		"gated: x·A":               {y, 6},
		"monet: zero":              {monet(g, x, none, one, one, one), 0},
		"pna: zero":                {pna(g, x, vars([]int{12, 1}, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 1), 0},
		"edgeConv: zero":           {edgeConv(g, x, one, one, one), 0},
		"selfAttention: zero":      {selfAttention(g, x, vars([]int{1, 3}, 1, 1, 1), 1), 0},
		"hop: u":                   {hop(graph.CompleteBipartite(0, 1), none, none, x), 3},
		"hopfield: as it is":       {hopfield(g, column(-1), none), -1},
		"rnn: from zero":           {rnn(alone, column(0.5), one, one, vars([]int{1}, 0)), tanh(0.5)},
		"lstm: no cell before":     {lstm(alone, column(0), vars([]int{1, 4}, 0, 0, 0, 0), vars([]int{1, 4}, 1, 1, 1, 1), vars([]int{4}, 99, 99, 1, 99)), tanh(tanh(1))},
		"treeLSTM: child of zeros": {treeLSTM(alone, column(0), vars([]int{1, 4}, 0, 0, 0, 0), vars([]int{4}, 99, 1, 99, 99), vars([]int{1, 3}, 1, 1, 1), one), tanh(tanh(1))},
	} {
		agree(t, what, c.y.Reshape(1, 1), column(c.x))
	}
}

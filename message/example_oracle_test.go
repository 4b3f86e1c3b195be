package message_test

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// These tests compare the functions of docs/library/primitives.md with loops. Of all of them the
// gradients are checked.

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

func TestGCNByLoops(t *testing.T) {
	g := odd()
	p := &weights{[]*grad.Param{param(1, 8, 3), param(2, 3, 4), param(3, 4)}}
	y := checked(t, p, func(p []*grad.Var) *grad.Var { return gcn(g, p[0], p[1], p[2]) })
	c := p.use(nil)
	xw, out := c[0].MatMul(c[1]).Value(), tensor.New(8, 4)
	for v := range 8 {
		copy(out.Row(v), p.All[2].Value.Data)
	}
	eachEdge(g, func(_, u, v int) {
		if g.InDegree(u) > 0 {
			addTo(out.Row(v), 1/math.Sqrt(float64(g.InDegree(u)*g.InDegree(v))), xw.Row(u))
		}
	})
	compare.Arrays(t, "gcn", []*tensor.Dense{y.Value()}, []*tensor.Dense{out}, rounded)
}

// addTo adds c times x to y.
func addTo(y []tensor.Float, c float64, x []tensor.Float) {
	for j, v := range x {
		y[j] += tensor.Float(c) * v
	}
}

// attends is attention over the in-edges by loops: for each head the mean of the rows of s, N×(H·D),
// weighted by the softmax of the logits of edges.
func attends(g *graph.Graph, s *tensor.Dense, heads int, logit func(u, v, h int) float64) *tensor.Dense {
	d := s.RowLen() / heads
	out := tensor.New(g.NumDst(), heads*d)
	for h := range heads {
		for v := range g.NumDst() {
			var from []int32
			var logits []float64
			for _, u := range g.Sources(v) {
				from, logits = append(from, u), append(logits, logit(int(u), v, h))
			}
			for i, a := range softmax(logits) {
				addTo(out.Row(v)[h*d:], a, s.Row(int(from[i]))[h*d:(h+1)*d])
			}
		}
	}
	return out
}

func leaky(x float64) float64 { return max(x, 0.2*x) }

func TestGATByLoops(t *testing.T) {
	g := odd()
	p := &weights{[]*grad.Param{param(1, 8, 3), param(2, 3, 4), param(4, 2, 2), param(5, 2, 2)}}
	y := checked(t, p, func(p []*grad.Var) *grad.Var { return gat(g, p[0], p[1], p[2], p[3]) })
	ft := p.use(nil)[0].MatMul(p.use(nil)[1]).Value()
	half := func(v, h int, a *grad.Param) float64 {
		return float64(ft.Row(v)[2*h]*a.Value.Row(h)[0] + ft.Row(v)[2*h+1]*a.Value.Row(h)[1])
	}
	out := attends(g, ft, 2, func(u, v, h int) float64 { return leaky(half(u, h, p.All[2]) + half(v, h, p.All[3])) })
	compare.Arrays(t, "gat", []*tensor.Dense{y.Reshape(8, 4).Value()}, []*tensor.Dense{out}, rounded)
}

func TestGATv2ByLoops(t *testing.T) {
	g := odd()
	p := &weights{[]*grad.Param{param(1, 8, 3), param(2, 3, 4), param(6, 3, 4), param(4, 2, 2)}}
	y := checked(t, p, func(p []*grad.Var) *grad.Var { return gatv2(g, p[0], p[1], p[2], p[3]) })
	s, d := p.use(nil)[0].MatMul(p.use(nil)[1]).Value(), p.use(nil)[0].MatMul(p.use(nil)[2]).Value()
	out := attends(g, s, 2, func(u, v, h int) (score float64) {
		for j, a := range p.All[3].Value.Row(h) {
			score += float64(a) * leaky(float64(s.Row(u)[2*h+j]+d.Row(v)[2*h+j]))
		}
		return score
	})
	compare.Arrays(t, "gatv2", []*tensor.Dense{y.Reshape(8, 4).Value()}, []*tensor.Dense{out}, rounded)
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
	compare.Array(t, "sage", y.Value(), c[0].MatMul(c[1]).Add(grad.Const(mean).MatMul(c[2])).Add(c[3]).Value(), rounded)
	block := graph.Must(graph.Block(g, []int32{2, 0, 7}))
	compare.Array(t, "sage of a block", sage(block, c[0].Rows(block.From().Src), c[1], c[2], c[3]).Value(), y.Rows([]int32{2, 0, 7}).Value(), rounded)

	p = &weights{[]*grad.Param{x, param(5, 1), w, param(6, 4, 2)}}
	y = checked(t, p, func(p []*grad.Var) *grad.Var { return gin(g, p[0], p[1], p[2], p[3]) })
	c = p.use(nil)
	h := c[0].Scale(1 + float64(p.All[1].Value.Data[0])).Add(grad.Const(sum))
	compare.Array(t, "gin", y.Value(), h.MatMul(c[2]).ReLU().MatMul(c[3]).Value(), rounded)
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
	compare.Arrays(t, "gated", []*tensor.Dense{y.Value(), edges.Value()}, []*tensor.Dense{out, logits}, rounded)
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
	compare.Arrays(t, "monet", []*tensor.Dense{y.Value()}, []*tensor.Dense{out}, rounded)
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
	compare.Arrays(t, "selfAttention", []*tensor.Dense{y.Value()}, []*tensor.Dense{out}, rounded)
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
			compare.Array(t, "recalled", hopfield(g, grad.Const(s), w).Value(), grad.Const(pattern).Value(), rounded)
		}
	}
	still := column(1, -1)
	compare.Array(t, "without a field", hopfield(graph.CompleteNoLoops(2), still, column(0, 0)).Value(), still.Value(), rounded)
}

// TestLSTMsByLoops has an LSTM on chains and one on trees, which is that of a chain where each node
// has one child, but for the order of the gates.
func TestLSTMsByLoops(t *testing.T) {
	p := &weights{[]*grad.Param{param(1, 8, 3), param(2, 3, 8), param(3, 2, 8), param(4, 8)}}
	y := checked(t, p, func(p []*grad.Var) *grad.Var { return lstm(graph.Chains(3, 1, 4), p[0], p[1], p[2], p[3]) })
	x, w, u, b := p.All[0].Value, p.All[1].Value, p.All[2].Value, p.All[3].Value
	h, c := tensor.New(8, 2), tensor.New(8, 2)
	// gate returns column j of what goes into the gates of v, with the states of some nodes.
	gate := func(v int, heard []int, j int) float64 {
		z := float64(b.Data[j])
		for k, a := range x.Row(v) {
			z += float64(a * w.Row(k)[j])
		}
		for _, from := range heard {
			for k, a := range h.Row(from) {
				z += float64(a * u.Row(k)[j])
			}
		}
		return z
	}
	// step sets the row of v after those that it hears; the gates begin at these columns.
	step := func(v int, heard []int, i, f, g, o int) {
		for j := range 2 {
			cell := sigmoid(gate(v, heard, i+j)) * tanh(gate(v, heard, g+j))
			for k, from := range heard {
				cell += sigmoid(gate(v, heard[k:k+1], f+j)) * float64(c.Row(from)[j])
			}
			c.Row(v)[j] = tensor.Float(cell)
			h.Row(v)[j] = tensor.Float(sigmoid(gate(v, heard, o+j)) * tanh(cell))
		}
	}
	for v := range 8 {
		if v == 0 || v == 3 || v == 4 {
			step(v, nil, 0, 2, 4, 6)
		} else {
			step(v, []int{v - 1}, 0, 2, 4, 6)
		}
	}
	compare.Arrays(t, "lstm", []*tensor.Dense{y.Value()}, []*tensor.Dense{h}, rounded)

	// The gates of a tree come as input, g, output and forget; u has the first three.
	trees := graph.Must(graph.Trees([]int32{2, 2, 5, 5, -1, 4}, []int32{-1, 0}))
	uf, u3 := param(5, 2, 2), param(6, 2, 6)
	p = &weights{[]*grad.Param{p.All[0], p.All[1], p.All[3], u3, uf}}
	y = checked(t, p, func(p []*grad.Var) *grad.Var { return treeLSTM(trees, p[0], p[1], p[2], p[3], p[4]) })
	u = grad.Concat(grad.Const(u3.Value), grad.Const(uf.Value)).Value()
	for _, v := range []int{0, 1, 3, 2, 5, 4, 7, 6} {
		var children []int
		for _, child := range trees.Sources(v) {
			children = append(children, int(child))
		}
		step(v, children, 0, 6, 2, 4)
	}
	compare.Arrays(t, "treeLSTM", []*tensor.Dense{y.Value()}, []*tensor.Dense{h}, rounded)
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
	compare.Arrays(t, "rnn", []*tensor.Dense{y.Value()}, []*tensor.Dense{out}, rounded)
}

// TestHearsNobody checks what docs/library/primitives.md says of nodes without messages.
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
		"rgcn: W₀·x":               {rgcn(graph.Must(graph.WithKinds(g, nil)), x, one, one, none), 3},
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
		compare.Array(t, what, c.y.Reshape(1, 1).Value(), column(c.x).Value(), rounded)
	}
}

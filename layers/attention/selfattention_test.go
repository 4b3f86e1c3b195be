package attention_test

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
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

func normal(seed uint64, shape ...int) *tensor.Dense {
	x := tensor.New(shape...)
	x.Normal(rand.New(rand.NewPCG(seed, 1)), 0, 1)
	return x
}

func newMultiHead(l attention.MultiHead) *attention.MultiHead {
	rng := rand.New(rand.NewPCG(7, 8))
	l.Init(rng)
	for _, b := range []*grad.Param{l.BQuery, l.BKey, l.BValue, l.BOut, l.Offset} {
		if b != nil {
			b.Value.Normal(rng, 0, 1)
		}
	}
	return &l
}

// odd is a graph with a node that hears nobody, parallel edges and loops.
func odd() *graph.Graph {
	return graph.Must(graph.New(4, []int32{0, 1, 1, 3, 2, 0}, []int32{0, 0, 0, 1, 1, 3}))
}

func affine(x []float64, w, b *grad.Param) []float64 {
	y := make([]float64, w.Value.Dim(1))
	for j := range y {
		y[j] = float64(b.Value.Data[j])
		for i, v := range x {
			y[j] += v * float64(w.Value.Row(i)[j])
		}
	}
	return y
}

func wide(x []tensor.Float) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// naive is the formula of the comment, in loops: head h is columns h·D to (h+1)·D, the scale is
// one over the root of D, and the softmax runs over the in-edges.
func naive(l *attention.MultiHead, g *graph.Graph, query, key, value *tensor.Dense) [][]float64 {
	d := l.Model / l.Heads
	out := make([][]float64, g.NumDst())
	for v := range out {
		q, y := affine(wide(query.Row(v)), l.WQuery, l.BQuery), make([]float64, l.Model)
		for h := range l.Heads {
			var weights []float64
			var carried [][]float64
			sum := 0.0
			for _, u := range g.Sources(v) {
				k, z := affine(wide(key.Row(int(u))), l.WKey, l.BKey), 0.0
				for j := h * d; j < (h+1)*d; j++ {
					z += k[j] * q[j]
				}
				w := math.Exp(z / math.Sqrt(float64(d)))
				sum += w
				weights, carried = append(weights, w), append(carried, affine(wide(value.Row(int(u))), l.WValue, l.BValue))
			}
			for i, w := range weights {
				for j := h * d; j < (h+1)*d; j++ {
					y[j] += w / sum * carried[i][j]
				}
			}
		}
		out[v] = affine(y, l.WOut, l.BOut)
	}
	return out
}

func TestMultiHeadIsItsFormula(t *testing.T) {
	self, cross := newMultiHead(attention.MultiHead{Model: 6, Heads: 3}), newMultiHead(attention.MultiHead{Model: 6, Heads: 2, Key: 4, Value: 5})
	for name, g := range map[string]*graph.Graph{"odd": odd(), "complete": graph.Complete(4), "causal": graph.Causal(4), "band": graph.Band(4, 1)} {
		x := normal(1, 4, 6)
		compare.Near(t, name, self.Forward(nil, g, grad.Const(x)).Value().Data, slices.Concat(naive(self, g, x, x, x)...), compare.Part(1e-4))
	}
	g := graph.CompleteBipartite(3, 2)
	q, k, v := normal(1, 2, 6), normal(2, 3, 4), normal(3, 3, 5)
	y, _ := cross.Apply(nil, g, attention.QKV{Query: grad.Const(q), Key: grad.Const(k), Value: grad.Const(v)})
	compare.Near(t, "cross", y.Value().Data, slices.Concat(naive(cross, g, q, k, v)...), compare.Part(1e-4))
}

// A node that hears nobody gets the bias of W_o.
func TestMultiHeadAlone(t *testing.T) {
	l := newMultiHead(attention.MultiHead{Model: 4, Heads: 2})
	y := l.Forward(nil, odd(), grad.Const(normal(1, 4, 4))).Value()
	compare.Equal(t, "node 2", y.Row(2), l.BOut.Value.Data)
	if n := l.Forward(nil, graph.Complete(0), grad.Const(tensor.New(0, 4))).Dim(0); n != 0 {
		t.Errorf("an empty graph gives %d rows", n)
	}
}

// Keys that are all alike give the mean of the values: the softmax runs over the sources.
func TestUniformKeysGiveTheMean(t *testing.T) {
	l := newMultiHead(attention.MultiHead{Model: 4, Heads: 2})
	l.WKey.Value.Fill(0)
	g, x := graph.Complete(5), grad.Const(normal(1, 5, 4))
	mean := message.UpdateAll(g, message.CopyU(x), message.Mean)
	want := mean.Linear(grad.Const(l.WValue.Value), grad.Const(l.BValue.Value), grad.Identity).Linear(grad.Const(l.WOut.Value), grad.Const(l.BOut.Value), grad.Identity)
	compare.Near(t, "y", l.Forward(nil, g, x).Value().Data, want.Value().Data, compare.Off(1e-5, 0))
}

// Without positions the tokens of a sentence are a set; with them they are not.
func TestPermutationEquivariance(t *testing.T) {
	order := []int32{3, 0, 4, 2, 1}
	g := graph.Complete(5)
	for _, p := range positions {
		l := newLanguageModel(attention.Block{Model: 4, Heads: 2, Position: p, Longest: 5}, 1, 6)
		said, turned := []int32{1, 5, 0, 2, 3}, make([]int32, 5)
		for i, o := range order {
			turned[i] = said[o]
		}
		a, b := l.Forward(nil, g, said).Rows(order).Value(), l.Forward(nil, g, turned).Value()
		most := 0.0
		for i, v := range a.Data {
			most = max(most, math.Abs(float64(v-b.Data[i])))
		}
		if equal := most < 1e-5; equal != (p == attention.NoPositions) {
			t.Errorf("%q: turning the sentence moves the logits by %v", p, most)
		}
	}
}

// What comes later moves nothing that comes earlier, not a bit; and moves what comes after.
func TestCausalLeak(t *testing.T) {
	for _, p := range positions {
		l := newLanguageModel(attention.Block{Model: 8, Heads: 2, Position: p, Longest: 80}, 2, 6)
		for _, g := range []*graph.Graph{graph.Causal(80), graph.CausalBand(80, 3)} {
			said := sentences(3, 6, 80)[0]
			before := l.Forward(nil, g, said).Value().Clone()
			said[50] = (said[50] + 1) % 6
			after := l.Forward(nil, g, said).Value()
			compare.Equal(t, string(p), after.Data[:50*6], before.Data[:50*6])
			if slices.Equal(after.Row(50), before.Row(50)) || slices.Equal(after.Row(51), before.Row(51)) {
				t.Errorf("%q: the token that changed moves nothing", p)
			}
		}
	}
}

// edges is g as a list of edges.
func edges(g *graph.Graph) *graph.Graph {
	var src, dst []int32
	for v := range g.NumDst() {
		for _, u := range g.Sources(v) {
			src, dst = append(src, u), append(dst, int32(v))
		}
	}
	return graph.Must(graph.New(g.NumNodes(), src, dst))
}

// The path of blocks is that of edges, gradients too; a band as wide as the sentence is all of
// it, to the bit.
func TestPathsAgree(t *testing.T) {
	x := normal(1, 70, 4)
	for _, l := range []*attention.MultiHead{
		newMultiHead(attention.MultiHead{Model: 4, Heads: 2}), newMultiHead(attention.MultiHead{Model: 4, Heads: 2, Rotary: true}), newMultiHead(attention.MultiHead{Model: 4, Heads: 1, Relative: 3}),
	} {
		run := func(g *graph.Graph) (y, dx, dw *tensor.Dense) {
			tape := grad.NewTape(1)
			v := tape.Watch(x)
			out := l.Forward(tape, g, v)
			grads := tape.Backward(out.Square().Sum())
			return out.Value(), grads.Of(v), grads.Param(l.WQuery)
		}
		for name, g := range map[string]*graph.Graph{
			"complete": graph.Complete(70), "no loops": graph.CompleteNoLoops(70), "causal": graph.Causal(70), "band": graph.Band(70, 5), "causal band": graph.CausalBand(70, 5),
			"batch": graph.Batch(graph.Causal(9), graph.Complete(0), graph.CompleteNoLoops(1), graph.Band(50, 3), graph.CausalBand(10, 2)),
		} {
			ay, ax, aw := run(g)
			by, bx, bw := run(edges(g))
			for i, pair := range [][2]*tensor.Dense{{ay, by}, {ax, bx}, {aw, bw}} {
				top := 1.0
				for _, v := range pair[1].Data {
					top = max(top, math.Abs(float64(v)))
				}
				compare.Near(t, fmt.Sprintf("%s, array %d on blocks, and on edges", name, i), pair[0].Data, pair[1].Data, compare.Off(1e-5*top, 0))
			}
		}
		wide, _, _ := run(graph.Band(70, 70))
		all, _, _ := run(graph.Complete(70))
		compare.Equal(t, "Band(n, n)", wide.Data, all.Data)
	}
}

// So is attention to other rows: of one sentence, and of a batch in which a side is empty.
func TestCrossPathsAgree(t *testing.T) {
	l := newMultiHead(attention.MultiHead{Model: 4, Heads: 2})
	for name, g := range map[string]*graph.Graph{
		"one": graph.CompleteBipartite(70, 9), "batch": graph.Batch(graph.CompleteBipartite(3, 60), graph.CompleteBipartite(0, 2), graph.CompleteBipartite(5, 0), graph.CompleteBipartite(66, 1)),
	} {
		var src, dst []int32
		for v := range g.NumDst() {
			for _, u := range g.Sources(v) {
				src, dst = append(src, u), append(dst, int32(v))
			}
		}
		x, m := normal(1, g.NumDst(), 4), normal(2, g.NumSrc(), 4)
		run := func(g *graph.Graph) (all []*tensor.Dense) {
			tape := grad.NewTape(1)
			q, k := tape.Watch(x), tape.Watch(m)
			y := l.Cross(tape, g, q, k)
			grads := tape.Backward(y.Square().Sum())
			return []*tensor.Dense{y.Value(), grads.Of(q), grads.Of(k), grads.Param(l.WQuery), grads.Param(l.WValue)}
		}
		listed := run(graph.Must(graph.NewBipartite(g.NumSrc(), g.NumDst(), src, dst)))
		for i, got := range run(g) {
			top := 1.0
			for _, v := range listed[i].Data {
				top = max(top, math.Abs(float64(v)))
			}
			compare.Near(t, fmt.Sprintf("%s, array %d on blocks, and on edges", name, i), got.Data, listed[i].Data, compare.Off(1e-5*top, 0))
		}
	}
}

// A sentence has the bits that it has alone, in a batch of others.
func TestBatchIsSeparate(t *testing.T) {
	lengths := []int{3, 1, 9, 60}
	said := sentences(2, 6, lengths...)
	for _, p := range positions {
		l := newLanguageModel(attention.Block{Model: 6, Heads: 3, Position: p, Longest: 60}, 2, 6)
		for name, make := range map[string]func(n int) *graph.Graph{"complete": graph.Complete, "causal": graph.Causal, "edges": func(n int) *graph.Graph { return edges(graph.Causal(n)) }} {
			var gs []*graph.Graph
			for _, n := range lengths {
				gs = append(gs, make(n))
			}
			all, at := l.Forward(nil, graph.Batch(gs...), slices.Concat(said...)).Value(), 0
			for i, g := range gs {
				one := l.Forward(nil, g, said[i]).Value()
				compare.Equal(t, string(p)+" "+name, all.Data[at:at+len(one.Data)], one.Data)
				at += len(one.Data)
			}
		}
	}
}

// A bias of −Inf takes an edge away; one of each edge and head is added to its score. All −Inf:
// the node hears nobody.
func TestBiasIsAMask(t *testing.T) {
	l := newMultiHead(attention.MultiHead{Model: 4, Heads: 2, Relative: 2})
	x := grad.Const(normal(1, 4, 4))
	for _, all := range []*graph.Graph{graph.Complete(4), edges(graph.Complete(4))} {
		bias := tensor.New(16, 1)
		for v := range 4 {
			for u := range 4 {
				if u > v || v == 3 {
					bias.Data[v*4+u] = tensor.Float(math.Inf(-1))
				}
			}
		}
		y, weights := l.Apply(nil, all, attention.QKV{Query: x, Bias: message.E(grad.Const(bias))})
		want := l.Forward(nil, graph.Causal(4), x).Value()
		for i, v := range y.Value().Data {
			w := want.Data[i]
			if i >= 12 {
				w = l.BOut.Value.Data[i-12]
			}
			if math.Abs(float64(v-w)) > 1e-5 {
				t.Fatalf("element %d is %v, want %v", i, v, w)
			}
		}
		for e, a := range message.ApplyEdges(all, weights).Value().Data {
			if bias.Data[e/2] != 0 && a != 0 {
				t.Errorf("edge %d has the weight %v behind a bias of −Inf", e/2, a)
			}
		}
	}
}

func TestMultiHeadGradients(t *testing.T) {
	for _, l := range []*attention.MultiHead{
		newMultiHead(attention.MultiHead{Model: 4, Heads: 2, Drop: 0.3}), newMultiHead(attention.MultiHead{Model: 4, Heads: 1, Rotary: true}), newMultiHead(attention.MultiHead{Model: 4, Heads: 2, Relative: 1}),
	} {
		x := &grad.Param{Value: normal(1, 4, 4)}
		for _, g := range []*graph.Graph{odd(), graph.Causal(4)} {
			gradtest.Check(t, struct {
				L *attention.MultiHead
				X *grad.Param
			}{l, x}, func(tape *grad.Tape) *grad.Var {
				return l.Forward(tape, g, tape.Use(x)).Sin().Sum()
			})
		}
	}
	l := newMultiHead(attention.MultiHead{Model: 4, Heads: 2, Key: 3, Value: 2})
	q, k, v := &grad.Param{Value: normal(1, 2, 4)}, &grad.Param{Value: normal(2, 3, 3)}, &grad.Param{Value: normal(3, 3, 2)}
	gradtest.Check(t, struct {
		L       *attention.MultiHead
		Q, K, V *grad.Param
	}{l, q, k, v}, func(tape *grad.Tape) *grad.Var {
		y, _ := l.Apply(tape, graph.CompleteBipartite(3, 2), attention.QKV{Query: tape.Use(q), Key: tape.Use(k), Value: tape.Use(v)})
		return y.Sin().Sum()
	})
}

func TestMultiHeadRefuses(t *testing.T) {
	l := newMultiHead(attention.MultiHead{Model: 4, Heads: 2})
	x := grad.Const(normal(1, 3, 4))
	for want, f := range map[string]func(){
		"Model is 6 and Heads 4: make Model a multiple of Heads": func() { (&attention.MultiHead{Model: 6, Heads: 4}).Init(rand.New(rand.NewPCG(1, 1))) },
		"was Init called?":                   func() { (&attention.MultiHead{Model: 4}).Forward(nil, graph.Complete(3), x) },
		"QKV.Key has 5 columns, Key is 4":    func() { l.Cross(nil, graph.Complete(3), x, grad.Const(normal(1, 3, 5))) },
		"queries want a row for each":        func() { l.Forward(nil, graph.Complete(2), x) },
		"keys and values want a row":         func() { l.Cross(nil, graph.Complete(3), x, grad.Const(normal(1, 2, 4))) },
		"a head is of even width":            func() { (&attention.MultiHead{Model: 6, Heads: 2, Rotary: true}).Init(rand.New(rand.NewPCG(1, 1))) },
		"attention.MultiHead: x is nil":      func() { l.Forward(nil, graph.Complete(3), nil) },
		"want Longest, the number of places": func() { newLanguageModel(attention.Block{Model: 4, Position: attention.Learned}, 1, 3) },
	} {
		if got := refusal(t, f); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// First weights are PyTorch's: Glorot's bound over the three matrices side by side, √(6/4E), or
// over each where keys are of another width; W_o up to 1/√E, biases zero.
func TestMultiHeadBegins(t *testing.T) {
	for _, c := range []struct {
		key            int
		ofQuery, ofKey float64
	}{{0, math.Sqrt(6. / (4 * 16)), math.Sqrt(6. / (4 * 16))}, {8, math.Sqrt(6. / (2 * 16)), math.Sqrt(6. / (16 + 8))}} {
		l := &attention.MultiHead{Model: 16, Heads: 2, Key: c.key}
		l.Init(rand.New(rand.NewPCG(7, 8)))
		for name, p := range map[string]struct {
			*grad.Param
			bound float64
		}{"W_q": {l.WQuery, c.ofQuery}, "W_k": {l.WKey, c.ofKey}, "W_o": {l.WOut, 0.25}} {
			most := 0.0
			for _, v := range p.Value.Data {
				most = max(most, math.Abs(float64(v)))
			}
			if most > p.bound*1.000001 || most < 0.9*p.bound {
				t.Errorf("keys of %d: the largest of %s is %v, the bound %v", c.key, name, most, p.bound)
			}
		}
		if norm(floats(l.BQuery.Value.Data)) != 0 || norm(floats(l.BOut.Value.Data)) != 0 {
			t.Error("a bias does not begin at zero")
		}
	}
}

// Dropout takes weights, of each head by itself, and does not share out what they had: where all
// values are one a head has the sum of what is left, one in the mean.
func TestMultiHeadDropsWeights(t *testing.T) {
	l := newMultiHead(attention.MultiHead{Model: 4, Heads: 2, Drop: 0.5})
	for _, p := range []*grad.Param{l.WValue, l.WOut, l.BOut} {
		p.Value.Zero()
	}
	l.BValue.Value.Fill(1)
	for i := range 4 {
		l.WOut.Value.Row(i)[i] = 1
	}
	const n = 60
	y, sum := l.Forward(grad.NewTape(1), graph.Complete(n), grad.Const(normal(1, n, 4))).Value(), 0.0
	whole, alike := 0, 0
	for v := range n {
		r := y.Row(v)
		if math.Abs(float64(r[0]-r[1]))+math.Abs(float64(r[2]-r[3])) > 1e-5 {
			t.Fatalf("node %d has %v: not weights are dropped", v, r)
		}
		sum += float64(r[0]+r[2]) / (2 * n)
		if math.Abs(float64(r[0])-1) < 1e-3 {
			whole++
		}
		if math.Abs(float64(r[0]-r[2])) < 1e-3 {
			alike++
		}
	}
	if math.Abs(sum-1) > 0.15 || whole > n/4 || alike > n/4 {
		t.Errorf("the weights come to %v in the mean, %d of %d to one; the heads of %d lose the same", sum, whole, n, alike)
	}
}

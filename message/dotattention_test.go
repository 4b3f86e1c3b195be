package message_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// heads are the operands of an attention of two heads.
type heads struct{ Q, K, V, Bias *grad.Param }

func newHeads(g *graph.Graph) *heads {
	return &heads{Q: param(1, g.NumDst(), 2, 3), K: param(2, g.NumSrc(), 2, 3), V: param(3, g.NumSrc(), 2, 4), Bias: param(4, g.NumEdges(), 2, 1)}
}

func (h *heads) attention(t *grad.Tape, drop float64) *message.Attention {
	return &message.Attention{Q: t.Use(h.Q), K: t.Use(h.K), V: t.Use(h.V), Bias: message.E(t.Use(h.Bias)), Drop: drop}
}

// naive is the attention by its definition, with weights that stand.
func (h *heads) naive(g *graph.Graph) (y, alpha [][]float64) {
	alpha, y = make([][]float64, g.NumEdges()), make([][]float64, g.NumDst())
	for v := range y {
		y[v] = make([]float64, 8)
		lo, hi := g.In().Offsets[v], g.In().Offsets[v+1]
		for head := range 2 {
			logit := make([]float64, hi-lo)
			for i := range logit {
				e := int(lo) + i
				k, q := wide(h.K.Value.Row(int(g.In().Cols[e])))[head*3:], wide(h.Q.Value.Row(v))[head*3:]
				logit[i] = (k[0]*q[0]+k[1]*q[1]+k[2]*q[2])/math.Sqrt(3) + float64(h.Bias.Value.Row(e)[head])
			}
			for i, p := range softmax(logit) {
				e := int(lo) + i
				alpha[e] = append(alpha[e], p)
				for j, x := range wide(h.V.Value.Row(int(g.In().Cols[e])))[head*4 : head*4+4] {
					y[v][head*4+j] += p * x
				}
			}
		}
	}
	return y, alpha
}

func flat(rows [][]float64, shape ...int) *tensor.Dense {
	var all []float64
	for _, r := range rows {
		all = append(all, r...)
	}
	return dense(all, shape...)
}

func TestAttention(t *testing.T) {
	for name, g := range map[string]*graph.Graph{"odd": odd(), "bipartite": sides(), "complete": graph.Complete(9), "causal": graph.Causal(7), "hub": hub(100)} {
		everyWay(t, func(t *testing.T) {
			h := newHeads(g)
			y, w := h.attention(nil, 0).Apply(nil, g)
			wantY, wantW := h.naive(g)
			compare.Arrays(t, name, []*tensor.Dense{y.Value(), message.ApplyEdges(g, w).Value()}, []*tensor.Dense{flat(wantY, g.NumDst(), 2, 4), flat(wantW, g.NumEdges(), 2, 1)}, rounded)
		})
	}
}

// A bias for each of as many heads as a head has columns, without an axis behind the heads,
// would fit: each head's logit would get all of them.
func TestAttentionBiasShape(t *testing.T) {
	g := graph.Complete(3)
	x := grad.Const(dense([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 3, 2, 2))
	bias := tensor.New(9, 2)
	a := message.Attention{Q: x, K: x, V: x, Bias: message.E(grad.Const(bias))}
	var shape *tensor.ShapeError
	if err := tensor.Try(func() { a.Apply(nil, g) }); !errors.As(err, &shape) || !strings.Contains(err.Error(), "one for each head is E×H×1") {
		t.Errorf("the error is %v", err)
	}
	for _, fits := range []message.Msg{message.E(grad.Const(bias.Reshape(9, 2, 1))), message.E(grad.Const(bias)).Dot(message.W(grad.Const(tensor.New(2)))), {}} {
		a.Bias = fits
		if y, _ := a.Apply(nil, g); y.Dim(0) != 3 {
			t.Errorf("the result is %v", y.Shape())
		}
	}
}

func TestAttentionGradients(t *testing.T) {
	for _, g := range []*graph.Graph{odd(), sides()} {
		h := newHeads(g)
		gradtest.Check(t, h, func(tp *grad.Tape) *grad.Var {
			y, w := h.attention(tp, 0.3).Apply(tp, g)
			return weigh(y).Add(weigh(message.ApplyEdges(g, w)))
		})
	}
}

// TestAttentionWeights asks for the weights of a result with dropout: they are
// the ones it was made with.
func TestAttentionWeights(t *testing.T) {
	g := hub(50)
	h := newHeads(g)
	tape := grad.NewTape(3)
	tape.Reset()
	a := h.attention(tape, 0.5)
	a.V = grad.Const(tensor.New(g.NumSrc(), 2, 1))
	a.V.Value().Fill(1) // then the result is the sum of the weights
	y, w := a.Apply(tape, g)
	sum := message.UpdateAll(g, message.E(message.ApplyEdges(g, w)), message.Sum)
	compare.Arrays(t, "sum of the weights", []*tensor.Dense{y.Value()}, []*tensor.Dense{sum.Value()}, rounded)
}

// TestSample draws often, and compares how often each edge is drawn with its
// probability.
func TestSample(t *testing.T) {
	g := star(4)
	logits := []float64{0, 1, -1, math.Inf(-1)}
	p := softmax(logits)
	x := dense(logits, 4, 1)
	counts := make([]float64, 4)
	const n = 4000
	tape := grad.NewTape(11)
	for range n {
		tape.Reset()
		drawn, logp := message.E(tape.Watch(x)).Sample(tape)
		d, l := message.ApplyEdges(g, drawn).Value(), message.ApplyEdges(g, logp)
		for e, v := range d.Data {
			counts[e] += float64(v)
			if want := float64(v) * math.Log(p[e]); v != 0 && math.Abs(float64(l.Value().Data[e])-want) > 1e-5 || v == 0 && l.Value().Data[e] != 0 {
				t.Fatalf("edge %d, drawn %v: log-probability %v, want %v", e, v, l.Value().Data[e], want)
			}
		}
		if s := d.Data[0] + d.Data[1] + d.Data[2] + d.Data[3]; s != 1 {
			t.Fatalf("%v edges drawn", s)
		}
	}
	for e, c := range counts {
		if sd := math.Sqrt(n * p[e] * (1 - p[e])); math.Abs(c-n*p[e]) > 5*sd {
			t.Errorf("edge %d was drawn %v times of %d, want %.0f ± %.0f", e, c, n, n*p[e], sd)
		}
	}
	// The gradient of the drawn log-probability is 1 − p there and −p elsewhere.
	tape.Reset()
	e := tape.Watch(x)
	drawn, logp := message.E(e).Sample(tape)
	d := message.ApplyEdges(g, drawn).Value()
	dx := tape.Backward(message.UpdateAll(g, logp, message.Sum).Sum()).Of(e)
	slopes := make([]float64, len(p))
	for i, v := range d.Data {
		slopes[i] = float64(v) - p[i]
	}
	compare.Near(t, "gradients of the edges", dx.Data, slopes, compare.Off(1e-5, 0))
	greedy, _ := message.E(grad.Const(x)).Sample(grad.NewEval())
	compare.Equal(t, "without recording", message.ApplyEdges(g, greedy).Value().Data, []tensor.Float{0, 1, 0, 0})
}

func TestChoicesAtEnds(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		g := star(12)
		x := []float64{3, 5, 5, -inf, 1, 5, 0, 0, 0, 0, 0, 0}
		two, tie := slicesOf(12, -inf), slicesOf(12, 0)
		two[1], two[2], tie[1] = 5, 5, 1
		e := message.E(grad.Const(dense(x, 12, 1)))
		compare.Near(t, "TopK(2)", message.ApplyEdges(g, e.TopK(2)).Value().Data, two, compare.Exactly)
		compare.Near(t, "TopK(0)", message.ApplyEdges(g, e.TopK(0)).Value().Data, slicesOf(12, -inf), compare.Exactly)
		compare.Near(t, "TopK(99)", message.ApplyEdges(g, e.TopK(99)).Value().Data, x, compare.Exactly)
		compare.Near(t, "Hardmax", message.ApplyEdges(g, e.Hardmax()).Value().Data, tie, compare.Exactly)
		none := message.E(grad.Const(dense(slicesOf(12, -inf), 12, 1)))
		compare.Near(t, "Hardmax of nothing", message.ApplyEdges(g, none.Hardmax()).Value().Data, slicesOf(12, 0), compare.Exactly)
		compare.Near(t, "LogSumExp of nothing", message.UpdateAll(star(1), message.E(column(-inf)), message.LogSumExp).Value().Data, []float64{-inf, 0}, compare.Exactly)
		zero := message.E(grad.Const(dense(slicesOf(12, 0), 12, 1)))
		compare.Near(t, "Normalise of zeros", message.ApplyEdges(g, zero.Normalise()).Value().Data, slicesOf(12, 0), compare.Exactly)
	})
}

func slicesOf(n int, v float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}

func TestRelations(t *testing.T) {
	g, h := odd(), graph.Must(graph.New(8, []int32{0, 1, 2}, []int32{7, 7, 0}))
	x, y := param(1, 8, 3), param(2, 8, 3)
	rels := func(tp *grad.Tape) []message.Relation {
		return []message.Relation{{Graph: g, Msg: message.U(tp.Use(x)), By: message.Sum}, {Graph: h, Msg: message.U(tp.Use(y)).Tanh(), By: message.Mean}}
	}
	one, two := message.UpdateAll(g, message.U(grad.Const(x.Value)), message.Sum), message.UpdateAll(h, message.U(grad.Const(y.Value)).Tanh(), message.Mean)
	for r, v := range map[message.Reducer]*grad.Var{message.Sum: one.Add(two), message.Mean: one.Add(two).Scale(0.5), message.Max: one.Max(two), message.Min: one.Min(two)} {
		compare.Arrays(t, r.String(), []*tensor.Dense{message.UpdateRelations(r, rels(nil)...).Value()}, []*tensor.Dense{v.Value()}, rounded)
		gradtest.Check(t, &struct{ X, Y *grad.Param }{x, y}, func(tp *grad.Tape) *grad.Var { return weigh(message.UpdateRelations(r, rels(tp)...)) })
	}
	s := message.StackRelations(rels(nil)...).Value()
	for v := range 8 {
		for j := range 3 {
			if s.Row(v)[j] != one.Value().Row(v)[j] || s.Row(v)[3+j] != two.Value().Row(v)[j] {
				t.Fatalf("row %d of the stack is %v", v, s.Row(v))
			}
		}
	}
	if s.Dim(1) != 2 || s.Dim(2) != 3 {
		t.Errorf("the stack has shape %v", s.Shape())
	}
	if tapeError(func() { message.UpdateRelations(message.Sum) }) == nil || tapeError(func() { message.UpdateRelations(message.Std, rels(nil)...) }) == nil {
		t.Error("no *grad.TapeError")
	}
	bad := rels(nil)
	bad[1].Graph = graph.Must(graph.NewBipartite(8, 5, []int32{0}, []int32{1}))
	if err := tensor.Try(func() { message.StackRelations(bad...) }); err == nil {
		t.Error("relations with other destinations: no error")
	}
}

func TestReadout(t *testing.T) {
	g := graph.Batch(graph.Must(graph.New(3, nil, nil)), graph.Must(graph.New(0, nil, nil)), graph.Must(graph.New(2, nil, nil)))
	x := column(1, 2, 6, -3, 5)
	for r, v := range map[message.Reducer][]float64{message.Sum: {9, 0, 2}, message.Mean: {3, 0, 1}, message.Max: {6, 0, 5}, message.Min: {1, 0, -3}} {
		compare.Near(t, r.String(), message.Readout(g, x, r).Value().Data, v, compare.Exactly)
	}
	score := []float64{0.5, -1, 2, 0, 0}
	p := softmax(score[:3])
	y := message.ReadoutSoftmax(g, x, column(score...)).Value()
	compare.Arrays(t, "softmax", []*tensor.Dense{y}, []*tensor.Dense{dense([]float64{p[0] + 2*p[1] + 6*p[2], 0, 1}, 3, 1)}, rounded)
}

// TestRelabelling numbers the nodes otherwise: every node gets what it had.
func TestRelabelling(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for name, f := range expressions(modulo4(odd())) {
		if name == "Dropout" || name == "Sample" || name[:min(3, len(name))] == "GAT" || name[:min(4, len(name))] == "Pick" {
			continue // masks and kinds belong to edges by number
		}
		g := odd()
		to := make([]int32, g.NumNodes())
		for i, v := range rng.Perm(len(to)) {
			to[i] = int32(v)
		}
		src, dst := make([]int32, g.NumEdges()), make([]int32, g.NumEdges())
		for e, u := range g.In().Cols {
			src[e], dst[e] = to[u], to[g.Destinations()[e]]
		}
		h := graph.Must(graph.New(len(to), src, dst))
		back := make([]int32, len(to))
		for i, v := range to {
			back[v] = int32(i)
		}
		x := newModel(g).use(nil)
		y := operands{u: x.u.Rows(back), v: x.v.Rows(back), e: x.e.Rows(h.EdgeOrder()), w: x.w, ft: x.ft.Rows(back), fd: x.fd.Rows(back),
			el: x.el.Rows(back), er: x.er.Rows(back), ee: x.ee.Rows(h.EdgeOrder()), att: x.att, table: x.table}
		for _, r := range reducers {
			a := message.UpdateAll(g, f(nil, x), r)
			b := message.UpdateAll(h, f(nil, y), r).Rows(to)
			reference.Near(t, name+" "+r.String(), []*tensor.Dense{a.Value(), b.Value()}, slices.Repeat(formula{g: g, m: f(nil, x), by: []message.Reducer{r}}.results(), 2))
		}
	}
}

// TestBatch runs two graphs as one.
func TestBatch(t *testing.T) {
	for name, f := range expressions(nil) {
		if name == "Dropout" || name == "Sample" || name[:min(3, len(name))] == "GAT" || name[:min(4, len(name))] == "Pick" {
			continue
		}
		g, h := odd(), hub(30)
		both := graph.Batch(g, h)
		x, y := newModel(g).use(nil), newModel(h).use(nil)
		join := func(a, b *grad.Var) *grad.Var {
			shape := append([]int{a.Dim(0) + b.Dim(0)}, a.Shape()[1:]...)
			return grad.Const(tensor.Of(append(append([]tensor.Float{}, a.Value().Data...), b.Value().Data...), shape...))
		}
		z := operands{u: join(x.u, y.u), v: join(x.v, y.v), e: join(x.e, y.e), w: x.w, ft: join(x.ft, y.ft), fd: join(x.fd, y.fd),
			el: join(x.el, y.el), er: join(x.er, y.er), ee: join(x.ee, y.ee), att: x.att, table: x.table}
		for _, r := range reducers {
			apart := join(message.UpdateAll(g, f(nil, x), r), message.UpdateAll(h, f(nil, y), r))
			want := formula{g: both, m: f(nil, z), by: []message.Reducer{r}}.results()
			reference.Near(t, name+" "+r.String(), []*tensor.Dense{message.UpdateAll(both, f(nil, z), r).Value(), apart.Value()}, slices.Repeat(want, 2))
		}
	}
}

// TestAdjoint checks ⟨A x, y⟩ = ⟨x, Aᵀ y⟩ of messages that are linear in x.
func TestAdjoint(t *testing.T) {
	for _, g := range []*graph.Graph{odd(), hub(200), sides()} {
		everyWay(t, func(t *testing.T) {
			n := g.NumSrc()
			tape := grad.NewTape(1)
			x := tape.Watch(param(1, n, 5).Value)
			w := grad.Const(param(2, g.NumEdges(), 1).Value)
			y := message.UpdateAll(g, message.U(x).Mul(message.E(w)).Scale(0.7), message.Mean)
			z := param(3, g.NumDst(), 5).Value
			s := y.Mul(grad.Const(z)).Sum()
			forward := float64(s.Value().Data[0])
			back := 0.0
			for i, d := range tape.Backward(s).Of(x).Data {
				back += float64(d) * float64(x.Value().Data[i])
			}
			if math.Abs(forward-back) > 1e-3*max(1, math.Abs(forward)) {
				t.Errorf("⟨Ax, y⟩ is %v, ⟨x, Aᵀy⟩ %v", forward, back)
			}
		})
	}
}

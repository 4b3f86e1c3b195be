package rules_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/message/internal/rules"
	"github.com/edgewise-ml/edgewise/tensor"
)

// additive is what additive attention reads, with a bias for each edge.
type additive struct {
	K, Q, V, X, B *grad.Param

	used []*grad.Param // by the last run
}

func newAdditive(g *graph.Graph, width int) *additive {
	rng := rand.New(rand.NewPCG(7, uint64(g.NumEdges())))
	of := func(shape ...int) *grad.Param {
		p := grad.NewParam(shape...)
		sparing.Normals(rng, p.Value.Data)
		return p
	}
	return &additive{K: of(g.NumSrc(), width), Q: of(g.NumDst(), width), V: of(width), X: of(g.NumSrc(), 3), B: of(g.NumEdges(), 1)}
}

// form is something that is made of the logits.
type form struct {
	name string
	of   func(t *grad.Tape, o *additive, g *graph.Graph, z message.Msg) *grad.Var
}

var forms = []form{
	{"mean", func(t *grad.Tape, o *additive, g *graph.Graph, z message.Msg) *grad.Var {
		return message.UpdateAll(g, message.U(t.Use(o.X)).Mul(z.Softmax()), message.Sum)
	}},
	{"mean of biased logits", func(t *grad.Tape, o *additive, g *graph.Graph, z message.Msg) *grad.Var {
		return message.UpdateAll(g, z.Add(message.E(t.Use(o.B))).Softmax().Mul(message.U(t.Use(o.X))), message.Sum)
	}},
	{"logits", func(_ *grad.Tape, _ *additive, g *graph.Graph, z message.Msg) *grad.Var {
		return message.ApplyEdges(g, z)
	}},
	{"weights", func(_ *grad.Tape, _ *additive, g *graph.Graph, z message.Msg) *grad.Var {
		return message.ApplyEdges(g, z.Softmax())
	}},
	{"logarithms", func(_ *grad.Tape, _ *additive, g *graph.Graph, z message.Msg) *grad.Var {
		return message.ApplyEdges(g, z.LogSoftmax())
	}},
	{"two scores", func(t *grad.Tape, o *additive, g *graph.Graph, z message.Msg) *grad.Var {
		other := message.V(t.Use(o.Q).Scale(0.5)).Add(message.U(t.Use(o.K))).Tanh().Dot(message.W(t.Use(o.V)))
		return message.UpdateAll(g, z.Sigmoid().Mul(other), message.Max)
	}},
}

// run returns a form and the gradients; shared is of keys that are the queries, too.
func (o *additive) run(g *graph.Graph, f form, shared bool) []*tensor.Dense {
	t := grad.NewTape(1)
	k, q := t.Use(o.K), t.Use(o.Q)
	if shared {
		q = k.RowRange(0, g.NumDst())
	}
	y := f.of(t, o, g, message.UAddV(k, q).Tanh().Dot(message.W(t.Use(o.V))))
	all := []*tensor.Dense{y.Value()}
	o.used = o.used[:0]
	for _, d := range t.Backward(y.Mul(y).Sum()) {
		all, o.used = append(all, d.Value), append(o.used, d.Param)
	}
	return all
}

// stepOf is the second step of sentences whose words are heard in three, as a level of a
// sweep has it.
func stepOf() *graph.Graph {
	g := graph.Batch(graph.CompleteBipartite(4, 3), graph.CompleteBipartite(1, 3), graph.CompleteBipartite(6, 3))
	return graph.Must(graph.Dst(g, []int32{1, 4, 7}))
}

var additiveGraphs = map[string]*graph.Graph{
	"one":          graph.Complete(9),
	"no loops":     graph.CompleteNoLoops(6),
	"masks":        graph.Batch(graph.Causal(7), graph.Band(8, 2), graph.CausalBand(9, 3), graph.CompleteNoLoops(5)),
	"sentences":    graph.Batch(graph.CompleteBipartite(5, 2), graph.CompleteBipartite(0, 2), graph.CompleteBipartite(3, 0), graph.CompleteBipartite(7, 7)),
	"a step":       stepOf(),
	"rows of some": graph.Must(graph.Dst(graph.Causal(9), []int32{8, 2, 5, 3})),
	"no edges":     graph.CompleteBipartite(0, 3),
	"large":        graph.Batch(graph.CompleteBipartite(40, 30), graph.CompleteBipartite(50, 40), graph.CompleteBipartite(50, 30)),
}

// formula is what that of a form says of what run returns.
func (o *additive) formula(g *graph.Graph, f form, shared bool) [][]rounding.Result {
	halved := func(r *reference.Reference, leaf ops.Kind, x *tensor.Dense) (out []rounding.Number) {
		at := unsafe.SliceData(x.Data)
		if leaf == ops.LeafV && at != unsafe.SliceData(o.Q.Value.Data) && at != unsafe.SliceData(o.K.Value.Data) { // of two scores
			for _, q := range r.Of(o.Q.Value.Data) {
				out = append(out, r.Scale(q, 0.5))
			}
		}
		return out
	}
	return formulaOf(o.used, halved, func() { o.run(g, f, shared) })
}

// The way and tiles are what the formula says; they agree, forward to the bit, and its bits do not depend on threads.
func TestAdditiveBlocks(t *testing.T) {
	for name, g := range additiveGraphs {
		for i, f := range forms {
			for _, width := range []int{1, 13, 40} {
				if name == "large" && width == 13 && !sparing.Full() {
					continue // the small graphs have it
				}
				o := newAdditive(g, width)
				shared := (i+width)%2 == 0 && g.NumDst() <= g.NumSrc()
				got := o.run(g, f, shared)
				undo := par.SetThreads(4)
				compare.Arrays(t, fmt.Sprintf("%s of %s on four threads", f.name, name), o.run(g, f, shared), got, compare.Exactly)
				undo()
				rules.TilesOnly = true
				want := o.run(g, f, shared)
				rules.TilesOnly = false
				compare.Equal(t, fmt.Sprintf("%s of %s, %d wide, and in tiles", f.name, name, width), got[0].Data, want[0].Data)
				if name == "large" && i%3 != width%3 && !sparing.Full() {
					continue // the formula is dear
				}
				formula := o.formula(g, f, shared)
				reference.Near(t, f.name+" of "+name, got, formula)
				reference.Near(t, f.name+" of "+name+", in tiles", want, formula)
			}
		}
	}
}

// A block of a batch has the bits that it has alone, a step those of all steps.
func TestAdditiveBlocksBatch(t *testing.T) {
	parts := []*graph.Graph{graph.CompleteBipartite(3, 2), graph.CompleteBipartite(70, 60), graph.CompleteNoLoops(65), graph.Causal(4)}
	g := graph.Batch(parts...)
	o := newAdditive(g, 24)
	all := o.run(g, forms[0], false)
	src, dst := 0, 0
	for i, part := range parts {
		alone := newAdditive(part, 24)
		copy(alone.K.Value.Data, o.K.Value.Data[24*src:])
		copy(alone.Q.Value.Data, o.Q.Value.Data[24*dst:])
		copy(alone.X.Value.Data, o.X.Value.Data[3*src:])
		copy(alone.V.Value.Data, o.V.Value.Data)
		got := alone.run(part, forms[0], false)
		for j, from := range []int{3 * dst, 24 * src, 24 * dst} { // V's gradient is one sum over all
			x := got[j].Data
			compare.Equal(t, fmt.Sprintf("part %d: array %d, and in a batch", i, j), x, all[j].Data[from:from+len(x)])
		}
		src, dst = src+part.NumSrc(), dst+part.NumDst()
	}
	step := graph.Must(graph.Dst(parts[1], []int32{7}))
	whole := newAdditive(parts[1], 24)
	one := *whole
	one.Q = grad.NewParam(1, 24)
	copy(one.Q.Value.Data, whole.Q.Value.Row(7))
	got, want := one.run(step, forms[0], false)[0].Row(0), whole.run(parts[1], forms[0], false)[0].Row(7)
	if !slices.Equal(got, want) {
		t.Errorf("step 7 alone is %v, among all %v", got, want)
	}
}

func TestAdditiveBlocksGradient(t *testing.T) {
	for _, name := range []string{"masks", "a step"} {
		g := additiveGraphs[name]
		for i, f := range forms[:5] {
			if i%2 != 0 && !gradtest.Sharp && !sparing.Full() {
				continue // of float64 all are checked, in which differences say more
			}
			o := newAdditive(g, 3)
			gradtest.Check(t, o, func(tape *grad.Tape) *grad.Var {
				z := message.UAddV(tape.Use(o.K), tape.Use(o.Q)).Tanh().Dot(message.W(tape.Use(o.V)))
				all := tape.Use(o.X).Sum().Add(tape.Use(o.B).Sum()) // so that all are used by every form
				return f.of(tape, o, g, z).Tanh().Sum().Add(all)
			})
		}
	}
}

// Gradients that nobody wants are not there, and the others keep their bits.
func TestAdditiveBlocksNeeds(t *testing.T) {
	g := additiveGraphs["masks"]
	o := newAdditive(g, 20)
	ps := []*grad.Param{o.K, o.Q, o.V}
	grads := func(wanted int) (out [3][]tensor.Float) {
		tape := grad.NewTape(1)
		var in [3]*grad.Var
		for i, p := range ps {
			if in[i] = grad.Const(p.Value); wanted>>i&1 != 0 {
				in[i] = tape.Use(p)
			}
		}
		z := message.ApplyEdges(g, message.UAddV(in[0], in[1]).Tanh().Dot(message.W(in[2])))
		i := 0
		for _, d := range tape.Backward(z.Mul(z).Sum()) {
			for wanted>>i&1 == 0 {
				i++
			}
			out[i] = d.Value.Data
			i++
		}
		return out
	}
	all := grads(7)
	for wanted := 1; wanted < 7; wanted++ {
		for i, x := range grads(wanted) {
			if (x != nil) != (wanted>>i&1 != 0) || x != nil && !slices.Equal(x, all[i]) {
				t.Errorf("gradients %03b are wanted: number %d is not as among all", wanted, i)
			}
		}
	}
}

// The memory of a step is foretold.
func TestAdditiveBlocksMeasure(t *testing.T) {
	g := additiveGraphs["large"]
	for i, f := range forms {
		o := newAdditive(g, 40)
		loss := func(tape *grad.Tape) *grad.Var {
			k, q := tape.Use(o.K), tape.Use(o.Q)
			if i%2 == 0 { // the same rows as keys and as queries
				q = k.RowRange(0, g.NumDst())
			}
			return f.of(tape, o, g, message.UAddV(k, q).Tanh().Dot(message.W(tape.Use(o.V)))).Sum()
		}
		want := grad.Measure(loss)
		tape := grad.NewTape(0)
		tape.Backward(loss(tape))
		if got := tape.Stats(); got != want {
			t.Errorf("%s: a step has %+v, foretold %+v", f.name, got, want)
		}
	}
}

// TestAdditiveBlocksRule asks Explain which messages and graphs the rule takes.
func TestAdditiveBlocksRule(t *testing.T) {
	g, ring, step := graph.CompleteBipartite(4, 3), graph.Ring(5, 2), stepOf()
	block := graph.Must(graph.Block(graph.Complete(5), []int32{2, 4}))
	of := func(shape ...int) *grad.Var { return grad.Const(tensor.New(shape...)) }
	score := func(g *graph.Graph, shape ...int) message.Msg {
		rows := func(n int) *grad.Var { return of(append([]int{n}, shape...)...) }
		return message.UAddV(rows(g.NumSrc()), rows(g.NumDst())).Tanh().Dot(message.W(of(shape...)))
	}
	for _, c := range []struct {
		what string
		g    *graph.Graph
		m    message.Msg
		by   []message.Reducer
		want bool
	}{
		{"logits", g, score(g, 6), nil, true},
		{"their softmax", g, score(g, 6).Softmax(), nil, true},
		{"a mean", g, message.U(of(4, 2, 2)).Mul(score(g, 6).Softmax()), []message.Reducer{message.Sum}, true},
		{"a level's part", step, score(step, 6), nil, true},
		{"heads", g, score(g, 2, 3), nil, false},
		{"another function", g, message.UAddV(of(4, 6), of(3, 6)).Sigmoid().Dot(message.W(of(6))), nil, false},
		{"no blocks", ring, score(ring, 6), nil, false},
		{"destinations that are sources", block, score(block, 6), nil, false},
	} {
		if got := strings.HasPrefix(message.Explain(c.g, c.m, c.by...), "rule: additive scores on blocks"); got != c.want {
			t.Errorf("%s: the rule runs it is %v, want %v", c.what, got, c.want)
		}
	}
}

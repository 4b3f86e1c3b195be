package sequence_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
)

// newCRF returns one with scores of deviation 1 and two transitions forbidden.
func newCRF(tags int) *sequence.CRF {
	l := &sequence.CRF{Tags: tags}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	for i, p := range []*grad.Param{l.Trans, l.Begin, l.End} {
		p.Value.Normal(rand.New(rand.NewPCG(uint64(i), 5)), 0, 1)
	}
	return l
}

var someForbidden = []sequence.Transition{{sequence.ChainEnd, 2}, {0, 2}, {1, sequence.ChainEnd}}

// crfOracle is the formula by enumeration of all taggings of one chain.
type crfOracle struct {
	logZ      float64
	marginals [][]float64
	best      []int32
	score     float64
}

// scoreOf is s(y), −Inf of what is forbidden.
func scoreOf(l *sequence.CRF, x *tensor.Dense, nodes, y []int32) float64 {
	s, before := 0.0, int32(sequence.ChainEnd)
	step := func(from, to int32) {
		if slices.Contains(l.Forbid, sequence.Transition{From: from, To: to}) {
			s = math.Inf(-1)
		}
		switch {
		case from < 0:
			s += at(l.Begin, int(to))
		case to < 0:
			s += at(l.End, int(from))
		default:
			s += float64(l.Trans.Value.Row(int(from))[to])
		}
	}
	for i, v := range nodes {
		step(before, y[i])
		s += float64(x.Row(int(v))[y[i]])
		before = y[i]
	}
	step(before, sequence.ChainEnd)
	return s
}

func enumerate(l *sequence.CRF, x *tensor.Dense, nodes []int32) crfOracle {
	o := crfOracle{score: math.Inf(-1), marginals: make([][]float64, len(nodes))}
	for i := range o.marginals {
		o.marginals[i] = make([]float64, l.Tags)
	}
	if len(nodes) == 0 {
		o.score = 0
		return o
	}
	n := int(math.Pow(float64(l.Tags), float64(len(nodes))))
	z := 0.0
	for code := range n { // the first node's tag changes fastest, so the first of equals is the lower at the last place
		y, rest := make([]int32, len(nodes)), code
		for i := range y {
			y[i], rest = int32(rest%l.Tags), rest/l.Tags
		}
		s := scoreOf(l, x, nodes, y)
		z += math.Exp(s)
		for i, tag := range y {
			o.marginals[i][tag] += math.Exp(s)
		}
		if s > o.score {
			o.score, o.best = s, y
		}
	}
	o.logZ = math.Log(z)
	for _, row := range o.marginals {
		for k := range row {
			row[k] /= z
		}
	}
	return o
}

// crfCase is chains of a graph with their nodes in order.
type crfCase struct {
	g      *graph.Graph
	chains [][]int32 // of each sequence
}

func crfCases() map[string]crfCase {
	ragged := graph.Chains(4, 1, 0, 5, 2)
	forwards := [][]int32{{0, 1, 2, 3}, {4}, {}, {5, 6, 7, 8, 9}, {10, 11}}
	backwards := make([][]int32, len(forwards))
	for i, c := range forwards {
		backwards[i] = slices.Clone(c)
		slices.Reverse(backwards[i])
	}
	return map[string]crfCase{
		"chains":      {ragged, forwards},
		"reversed":    {graph.Reverse(ragged), backwards},
		"out of line": {graph.Must(graph.New(4, []int32{3, 1, 0}, []int32{1, 0, 2})), [][]int32{{3, 1, 0, 2}}},
	}
}

// Loss, log Z, marginals and the best tagging against the enumeration of all taggings.
func TestCRFEnumeration(t *testing.T) {
	for name, c := range crfCases() {
		for _, forbid := range [][]sequence.Transition{nil, someForbidden} {
			l := newCRF(3)
			l.Forbid = forbid
			x := random(7, c.g.NumNodes(), 3).Value
			tags, scores := l.Decode(c.g, grad.Const(x))
			logZ := l.LogPartition(nil, c.g, grad.Const(x)).Value()
			p := l.Marginals(nil, c.g, grad.Const(x)).Value()
			nll := l.NLL(nil, c.g, grad.Const(x), tags).Value()
			for s, nodes := range c.chains {
				o := enumerate(l, x, nodes)
				by, what := compare.Part(compare.In(1e-4, 1e-10)), fmt.Sprintf("%s, sequence %d: ", name, s)
				compare.Number(t, what+"log Z", logZ.Data[s], o.logZ, by)
				compare.Number(t, what+"the best score", scores[s], o.score, by)
				compare.Number(t, what+"the loss", nll.Data[s], o.logZ-o.score, by)
				for i, v := range nodes {
					if tags[v] != o.best[i] {
						t.Errorf("%s: the best tag of node %d is %d, want %d", name, v, tags[v], o.best[i])
					}
					compare.Near(t, fmt.Sprintf("%s: probabilities of node %d", name, v), p.Row(int(v)), o.marginals[i], by)
				}
			}
		}
	}
}

// Of equal scores the lower tag is taken, at the last place where taggings differ.
func TestCRFTies(t *testing.T) {
	l := newCRF(3)
	rng := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		x := tensor.New(5, 3)
		for _, d := range []*tensor.Dense{x, l.Trans.Value, l.Begin.Value, l.End.Value} {
			for i := range d.Data {
				d.Data[i] = tensor.Float(rng.IntN(2))
			}
		}
		tags, _ := l.Decode(graph.Chains(5), grad.Const(x))
		if o := enumerate(l, x, []int32{0, 1, 2, 3, 4}); !slices.Equal(tags, o.best) {
			t.Fatalf("of equals %v is taken, want %v", tags, o.best)
		}
	}
}

// The gradients of all results by everything, with a few chains in each of several parts.
func TestCRFGradients(t *testing.T) {
	for name, c := range crfCases() {
		for _, forbid := range [][]sequence.Transition{nil, someForbidden} {
			l := newCRF(3)
			l.Forbid = forbid
			x := random(7, c.g.NumNodes(), 3)
			tags, _ := l.Decode(c.g, grad.Const(random(8, c.g.NumNodes(), 3).Value))
			model := []any{l, x}
			weights := grad.Const(random(9, len(c.chains)).Value)
			for what, f := range map[string]func(tp *grad.Tape) *grad.Var{
				"NLL":       func(tp *grad.Tape) *grad.Var { return l.NLL(tp, c.g, tp.Use(x), tags).Mul(weights).Sum() },
				"log Z":     func(tp *grad.Tape) *grad.Var { return l.LogPartition(tp, c.g, tp.Use(x)).Mul(weights).Sum() },
				"marginals": func(tp *grad.Tape) *grad.Var { return weigh([]*grad.Var{l.Marginals(tp, c.g, tp.Use(x))}) },
			} {
				if err := gradtest.Diff(model, f); err != nil {
					t.Errorf("%s, %s: %v", what, name, err)
				}
			}
		}
	}
}

// A batch of many chains is to the bit its chains one by one, forward and backward, and
// the same on one thread; empty chains cost nothing.
func TestCRFBatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	lengths := make([]int, 60)
	for i := range lengths {
		lengths[i] = rng.IntN(12)
	}
	lengths[3] = 0
	l, g := newCRF(5), graph.Chains(lengths...)
	x, dy := random(1, g.NumNodes(), 5), random(2, g.NumNodes(), 5)
	tags, scores := l.Decode(g, grad.Const(random(3, g.NumNodes(), 5).Value))
	run := func(g *graph.Graph, x, dy *tensor.Dense, tags []int32) [][]tensor.Float {
		tape := grad.NewTape(1)
		v := tape.Watch(x)
		nll, p := l.NLL(tape, g, v, tags), l.Marginals(tape, g, v)
		grads := tape.Backward(nll.Sum().Add(p.Mul(grad.Const(dy)).Sum()))
		return [][]tensor.Float{slices.Clone(nll.Value().Data), slices.Clone(p.Value().Data), slices.Clone(grads.Of(v).Data), slices.Clone(grads.Param(l.Trans).Data)}
	}
	all := run(g, x.Value, dy.Value, tags)
	undo := par.SetThreads(1)
	for k, alone := range run(g, x.Value, dy.Value, tags) {
		if !slices.Equal(alone, all[k]) {
			t.Errorf("result %d is another on one thread", k)
		}
	}
	undo()
	lo := 0
	for i, n := range lengths {
		hi := lo + n
		if n == 0 {
			if all[0][i] != 0 || scores[i] != 0 {
				t.Errorf("the empty sequence %d costs %v and scores %v", i, all[0][i], scores[i])
			}
			continue
		}
		one := run(graph.Chains(n), x.Value.RowRange(lo, hi), dy.Value.RowRange(lo, hi), tags[lo:hi])
		if one[0][0] != all[0][i] {
			t.Errorf("sequence %d costs %v alone and %v in the batch", i, one[0][0], all[0][i])
		}
		for k := 1; k < 3; k++ {
			if !slices.Equal(one[k], all[k][lo*5:hi*5]) {
				t.Errorf("result %d of sequence %d is another alone", k, i)
			}
		}
		lo = hi
	}
	if loss := l.Loss(nil, graph.Chains(), grad.Const(tensor.New(0, 5)), nil).Value().Data[0]; loss != 0 {
		t.Errorf("no sequences have the loss %v", loss)
	}
}

// A chain of a thousand nodes with scores of 50, transitions that are all but impossible,
// and equal shifts of all scores leave probabilities that sum to 1.
func TestCRFExtremes(t *testing.T) {
	l, g := newCRF(4), graph.Chains(1000)
	x := tensor.New(1000, 4)
	x.Uniform(rand.New(rand.NewPCG(5, 5)), -50, 50)
	for _, far := range []tensor.Float{0, -2000, 2000} {
		l.Trans.Value.Row(1)[2], l.Trans.Value.Row(0)[0] = far, -far
		tape := grad.NewTape(1)
		v := tape.Watch(x)
		p := l.Marginals(tape, g, v)
		grads := tape.Backward(l.LogPartition(tape, g, v).Sum().Add(p.Sum()))
		for i := range 1000 {
			sum, d := 0.0, grads.Of(v).Row(i)
			for k, q := range p.Value().Row(i) {
				sum += float64(q)
				if !(math.Abs(float64(d[k]-q)) < 1e-5) { // the sum of marginals is constant
					t.Fatalf("transitions of %v: node %d has the probability %v and the gradient %v", far, i, q, d[k])
				}
			}
			if !(math.Abs(sum-1) < 1e-5) {
				t.Fatalf("transitions of %v: the probabilities of node %d sum to %v", far, i, sum)
			}
		}
		if sum := total(grads.Param(l.Trans).Data); !(math.Abs(sum-999) < 1e-2) {
			t.Fatalf("transitions of %v: the pairs sum to %v, want 999", far, sum)
		}
	}
}

func total(x []tensor.Float) float64 {
	s := 0.0
	for _, v := range x {
		s += float64(v)
	}
	return s
}

// A chain none of whose taggings is allowed has log Z −Inf, and no gradient.
func TestCRFImpossible(t *testing.T) {
	l, g := newCRF(2), graph.Chains(2, 1)
	l.Forbid = []sequence.Transition{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
	x := random(1, 3, 2).Value
	tape := grad.NewTape(1)
	v := tape.Watch(x)
	z, p := l.LogPartition(tape, g, v), l.Marginals(tape, g, v)
	grads := tape.Backward(z.Sum().Add(p.Sum()))
	if got := z.Value().Data; !math.IsInf(float64(got[0]), -1) || math.IsInf(float64(got[1]), 0) {
		t.Errorf("log Z is %v", got)
	}
	if d := grads.Of(v).Data; d[0] != 0 || d[3] != 0 || d[4] == 0 || p.Value().Data[0] != 0 {
		t.Errorf("the gradient is %v, and the marginals %v", d, p.Value().Data)
	}
	if _, scores := l.Decode(g, grad.Const(x)); !math.IsInf(scores[0], -1) || math.IsInf(scores[1], 0) {
		t.Errorf("the best scores are %v", scores)
	}
}

// What is forbidden stays so, however far the scores are in favour of it: of a node that may not have
// the tag 1 its score says nothing.
func TestCRFForbidsForGood(t *testing.T) {
	g := graph.Chains(3)
	for v, forbid := range [][]sequence.Transition{{{sequence.ChainEnd, 1}}, {{0, 1}, {1, 1}}, {{1, sequence.ChainEnd}}} {
		l := newCRF(2)
		l.Forbid = forbid
		x := random(1, 3, 2).Value
		x.Row(v)[1] = 30_000
		want := enumerate(l, x, []int32{0, 1, 2})
		tags, scores := l.Decode(g, grad.Const(x))
		if !slices.Equal(tags, want.best) || math.Abs(scores[0]-want.score) > 1e-5 {
			t.Errorf("%v is forbidden: the tags are %v of a score of %v, want %v of %v", forbid, tags, scores[0], want.best, want.score)
		}
		if got := float64(l.LogPartition(nil, g, grad.Const(x)).Value().Data[0]); math.Abs(got-want.logZ) > 1e-5 {
			t.Errorf("%v is forbidden: log Z is %v, want %v", forbid, got, want.logZ)
		}
		for u, p := range want.marginals {
			if got := l.Marginals(nil, g, grad.Const(x)).Value().Row(u)[1]; math.Abs(float64(got)-p[1]) > 1e-5 {
				t.Errorf("%v is forbidden: node %d has the tag 1 with %v, want %v", forbid, u, got, p[1])
			}
		}
	}
}

// A step allocates as often on more and longer chains.
func TestCRFAllocatesConstantly(t *testing.T) {
	if sparing.Raced {
		t.Skip("the race detector allocates")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // pools stay full
	defer par.SetThreads(1)()
	l := newCRF(4)
	count := func(g *graph.Graph) float64 {
		tape, x, tags := grad.NewTape(1), random(3, g.NumNodes(), 4).Value, make([]int32, g.NumNodes())
		step := func() {
			tape.Reset()
			v := tape.Watch(x)
			tape.Backward(l.Loss(tape, g, v, tags).Add(l.Marginals(tape, g, v).Sum()))
		}
		step()
		least := testing.AllocsPerRun(1, step)
		for range 3 {
			least = min(least, testing.AllocsPerRun(1, step))
		}
		return least
	}
	if few, many := count(graph.Chains(slices.Repeat([]int{25}, 20)...)), count(graph.Chains(slices.Repeat([]int{40}, 30)...)); many > few {
		t.Errorf("%v allocations on 30 chains of 40, %v on 20 of 25", many, few)
	}
}

// What BIO forbids, and what is no such tag.
func TestBIO(t *testing.T) {
	got, err := sequence.BIO([]string{"B-NP", "B-VP", "I-NP", "O"})
	want := []sequence.Transition{{sequence.ChainEnd, 2}, {1, 2}, {3, 2}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, bad := range []string{"", "O-NP", "B", "NP", "E-NP"} {
		if _, err := sequence.BIO([]string{"O", bad}); err == nil || !strings.Contains(err.Error(), "tag 1") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// What it cannot do is told in its name.
func TestCRFErrors(t *testing.T) {
	l, g, x := newCRF(3), graph.Chains(2, 1), grad.Const(tensor.New(3, 3))
	l.Forbid = []sequence.Transition{{0, 1}, {2, sequence.ChainEnd}}
	tags := []int32{0, 0, 0}
	for want, f := range map[string]func(){
		"2 predecessors":             func() { l.Decode(graph.Must(graph.New(3, []int32{0, 1}, []int32{2, 2})), x) },
		"several successors":         func() { l.Decode(graph.Must(graph.New(3, []int32{0, 0}, []int32{1, 2})), x) },
		"a column for each":          func() { l.Decode(g, grad.Const(tensor.New(3, 4))) },
		"want a row for each":        func() { l.Marginals(nil, g, grad.Const(tensor.New(2, 3))) },
		"want a tag for each":        func() { l.NLL(nil, g, x, tags[:2]) },
		"tag 3 of node 1":            func() { l.NLL(nil, g, x, []int32{0, 3, 0}) },
		"tag -1 of node 2":           func() { l.NLL(nil, g, x, []int32{0, 0, -1}) },
		"node 1 has tag 1 after 0":   func() { l.NLL(nil, g, x, []int32{0, 1, 0}) },
		"a chain ends with tag 2":    func() { l.NLL(nil, g, x, []int32{0, 0, 2}) },
		"set Tags first":             func() { c := *l; c.Tags = 2; c.Decode(g, x) },
		"the transition from 0 to 3": func() { c := *l; c.Forbid = []sequence.Transition{{0, 3}}; c.Decode(g, x) },
	} {
		var e *tensor.ShapeError
		if err := tensor.Try(f); !errors.As(err, &e) || e.Op != "sequence.CRF" || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error about %q", err, want)
		}
	}
	for want, f := range map[string]func(){
		"Init called":  func() { (&sequence.CRF{Tags: 3}).Decode(g, x) },
		"graph is nil": func() { l.Decode(nil, x) },
		"x is nil":     func() { l.Decode(g, nil) },
	} {
		func() {
			defer func() {
				if e, ok := recover().(*grad.TapeError); !ok || !strings.Contains(e.Why, want) {
					t.Errorf("got %v, want %q", e, want)
				}
			}()
			f()
		}()
	}
	defer func() {
		if _, ok := recover().(*graph.CycleError); !ok {
			t.Error("a ring was taken")
		}
	}()
	l.Decode(graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{1, 2, 0})), x)
}

// An epoch's worth of CoNLL-2000: 32 sentences of 24 words and 22 tags.
func BenchmarkCRF(b *testing.B) {
	l, g := newCRF(22), graph.Chains(slices.Repeat([]int{24}, 32)...)
	x, tape := random(1, g.NumNodes(), 22).Value, grad.NewTape(1)
	tags := make([]int32, g.NumNodes())
	b.Run("step", func(b *testing.B) {
		for b.Loop() {
			tape.Reset()
			tape.Backward(l.Loss(tape, g, tape.Watch(x), tags))
		}
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			l.Decode(g, grad.Const(x))
		}
	})
}

package knowledge_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/tensor"
)

// facts has parallel facts of two relations, one about an entity and itself, and an
// entity without any.
func facts() *graph.Graph {
	g := graph.Must(graph.New(5, []int32{0, 1, 1, 2, 3, 0}, []int32{1, 0, 2, 2, 0, 1}))
	return graph.Must(graph.WithKinds(g, []int32{0, 2, 1, 0, 2, 1}))
}

const width, relations = 4, 3

// scorers has each scorer with its formula, as a plain loop: h, t are rows of entities and
// r is one of the relations' Param.
var scorers = map[string]struct {
	scorer knowledge.Scorer
	score  func(h, r, t []float64) float64
}{
	"TransE": {&knowledge.TransE{Relations: relations, Width: width, Margin: 3}, func(h, r, t []float64) float64 {
		sum := 3.0
		for i := range h {
			sum -= math.Abs(h[i] + r[i] - t[i])
		}
		return sum
	}},
	"TransE squared": {&knowledge.TransE{Relations: relations, Width: width, Squared: true}, func(h, r, t []float64) float64 {
		sum := 0.0
		for i := range h {
			sum -= (h[i] + r[i] - t[i]) * (h[i] + r[i] - t[i])
		}
		return sum
	}},
	"DistMult": {&knowledge.DistMult{Relations: relations, Width: width}, func(h, r, t []float64) float64 {
		sum := 0.0
		for i := range h {
			sum += h[i] * r[i] * t[i]
		}
		return sum
	}},
	"ComplEx": {&knowledge.ComplEx{Relations: relations, Width: width}, func(h, r, t []float64) float64 {
		sum := 0.0
		for i := range width / 2 {
			at := func(x []float64) complex128 { return complex(x[i], x[i+width/2]) }
			sum += real(at(h) * at(r) * complex(real(at(t)), -imag(at(t))))
		}
		return sum
	}},
	"RotatE": {&knowledge.RotatE{Relations: relations, Width: width, Margin: 2}, func(h, r, t []float64) float64 {
		sum := 2.0
		for i := range width / 2 {
			at := func(x []float64) complex128 { return complex(x[i], x[i+width/2]) }
			away := at(h)*complex(math.Cos(r[i]), math.Sin(r[i])) - at(t)
			sum -= math.Hypot(real(away), imag(away))
		}
		return sum
	}},
	"RotatE Euclidean": {&knowledge.RotatE{Relations: relations, Width: width, Margin: 2, Euclidean: true}, func(h, r, t []float64) float64 {
		sum := 0.0
		for i := range width / 2 {
			at := func(x []float64) complex128 { return complex(x[i], x[i+width/2]) }
			away := at(h)*complex(math.Cos(r[i]), math.Sin(r[i])) - at(t)
			sum += real(away)*real(away) + imag(away)*imag(away)
		}
		return 2 - math.Sqrt(sum)
	}},
}

// model is a scorer with entities.
type model struct {
	S knowledge.Scorer
	X *grad.Param
}

func newModel(s knowledge.Scorer, entities int) *model {
	m, rng := &model{s, grad.NewParam(entities, width)}, rand.New(rand.NewPCG(1, 2))
	s.Init(rng)
	for _, p := range grad.Params(m) {
		p.Value.Normal(rng, 0, 0.8)
	}
	return m
}

// wide returns a row in float64.
func wide(x *tensor.Dense, i int32) []float64 {
	out := make([]float64, x.RowLen())
	for j, v := range x.Row(int(i)) {
		out[j] = float64(v)
	}
	return out
}

func relationsOf(s knowledge.Scorer) *tensor.Dense {
	for name, p := range grad.Params(s) {
		_ = name
		return p.Value
	}
	return nil
}

// TestScorers compares each scorer with its formula, and its gradients with differences.
func TestScorers(t *testing.T) {
	g := facts()
	for name, c := range scorers {
		m := newModel(c.scorer, 5)
		r := relationsOf(c.scorer)
		got := c.scorer.Forward(nil, g, grad.Const(m.X.Value)).Value()
		if !slices.Equal(got.Shape(), []int{6, 1}) {
			t.Fatalf("%s: shape %v", name, got.Shape())
		}
		for e, v := range g.Destinations() {
			want := c.score(wide(m.X.Value, g.In().Cols[e]), wide(r, g.Kinds()[e]), wide(m.X.Value, v))
			if !(math.Abs(float64(got.Data[e])-want) < 1e-5) {
				t.Errorf("%s: fact %d scores %v, want %v", name, e, got.Data[e], want)
			}
		}
		if gradtest.Sharp {
			gradtest.Check(t, m, func(tp *grad.Tape) *grad.Var {
				return c.scorer.Forward(tp, g, tp.Use(m.X)).Sigmoid().Sum()
			})
		}
		empty := graph.Must(graph.New(5, nil, nil))
		if n := c.scorer.Forward(nil, empty, grad.Const(m.X.Value)).Dim(0); n != 0 {
			t.Errorf("%s: %d scores of no facts", name, n)
		}
	}
}

// A perfect fact has the margin as its score, and finite gradients.
func TestPerfectFact(t *testing.T) {
	s := &knowledge.RotatE{Relations: 1, Width: width, Margin: 2}
	m := newModel(s, 2)
	s.Phase.Value.Zero()
	copy(m.X.Value.Row(1), m.X.Value.Row(0))
	g := graph.Must(graph.WithKinds(graph.Must(graph.New(2, []int32{0}, []int32{1})), []int32{0}))
	tp := grad.NewTape(1)
	y := s.Forward(tp, g, tp.Use(m.X))
	if got := float64(y.Value().Data[0]); math.Abs(got-2) > 1e-5 {
		t.Errorf("a perfect fact scores %v, want 2", got)
	}
	for _, gr := range tp.Backward(y.Sum()) {
		if i := slices.IndexFunc(gr.Value.Data, func(v tensor.Float) bool { return v-v != 0 }); i >= 0 {
			t.Errorf("the gradient has %v", gr.Value.Data[i])
		}
	}
}

// RotatE's roots are √(|·|² + 10⁻¹²): a perfect fact is 10⁻⁶ from the margin for each root, and one that
// is 10⁻⁶ off has a slope of √½ there.
func TestRotatEIsRounded(t *testing.T) {
	for _, euclidean := range []bool{false, true} {
		s := &knowledge.RotatE{Relations: 1, Width: width, Euclidean: euclidean}
		m := newModel(s, 2)
		m.X.Value.Zero()
		g := graph.Must(graph.WithKinds(graph.Must(graph.New(2, []int32{0}, []int32{1})), []int32{0}))
		roots := 2.0 // of two complex numbers
		if euclidean {
			roots = 1
		}
		for _, off := range []float64{0, 1e-6} {
			m.X.Value.Row(1)[0] = tensor.Float(off)
			tp := grad.NewTape(1)
			y := s.Forward(tp, g, tp.Use(m.X))
			root := math.Sqrt(off*off + 1e-12)
			if got, want := float64(y.Value().Data[0]), -root-(roots-1)*1e-6; math.Abs(got-want) > 1e-11 {
				t.Errorf("Euclidean %v, %v off: the score is %v, want %v", euclidean, off, got, want)
			}
			if got, want := float64(tp.Backward(y.Sum()).Param(m.X).Row(1)[0]), -off/root; math.Abs(got-want) > 1e-5 {
				t.Errorf("Euclidean %v, %v off: the slope is %v, want %v", euclidean, off, got, want)
			}
		}
	}
}

// TestAdversarial compares the loss with its formula.
func TestAdversarial(t *testing.T) {
	yes, not := []float64{0.5, -1}, []float64{1, 2, -1, 0, 0.5, 3} // in places 5, 4, 3 and 2, 1, 0
	at := []int32{5, 4, 3, 2, 1, 0}
	of := func(x []float64) *grad.Param {
		p := grad.NewParam(len(x), 1)
		for i, v := range x {
			p.Value.Data[i] = tensor.Float(v)
		}
		return p
	}
	m := &struct{ Yes, Not *grad.Param }{of(yes), of(not)}
	logSigmoid := func(x float64) float64 { return -math.Log1p(math.Exp(-x)) }
	for _, temperature := range []float64{0, 0.7} {
		loss, a := 0.0, knowledge.Adversarial{Temperature: temperature}
		for e, s := range yes {
			loss -= logSigmoid(s) / 4
			sum := 0.0
			for i := range 3 {
				sum += math.Exp(temperature * not[at[3*e+i]])
			}
			for i := range 3 {
				v := not[at[3*e+i]]
				loss -= math.Exp(temperature*v) / sum * logSigmoid(-v) / 4
			}
		}
		got := float64(a.Of(grad.Const(m.Yes.Value), grad.Const(m.Not.Value), at).Value().Data[0])
		if !(math.Abs(got-loss) < 1e-5) {
			t.Errorf("temperature %v: the loss is %v, want %v", temperature, got, loss)
		}
		if gradtest.Sharp && temperature == 0 { // else the weights depend on the scores, and take no gradient
			gradtest.Check(t, m, func(tp *grad.Tape) *grad.Var { return a.Of(tp.Use(m.Yes), tp.Use(m.Not), at) })
		}
		// The gradient takes the weights for constants: it is half of p·σ(s), the mean of two facts.
		tp := grad.NewTape(1)
		gs := tp.Backward(a.Of(tp.Use(m.Yes), tp.Use(m.Not), at))
		for e := range yes {
			sum := 0.0
			for i := range 3 {
				sum += math.Exp(temperature * not[at[3*e+i]])
			}
			for i := range 3 {
				k := at[3*e+i]
				want := math.Exp(temperature*not[k]) / sum / (1 + math.Exp(-not[k])) / 4
				if got := float64(gs.Param(m.Not).Data[k]); math.Abs(got-want) > 1e-6 {
					t.Errorf("temperature %v: the gradient of false fact %d is %v, want %v", temperature, k, got, want)
				}
			}
		}
	}
}

// TestRanks compares with loops over all entities.
func TestRanks(t *testing.T) {
	known := facts()
	test := graph.Must(graph.EdgeSubgraph(known, []int32{1, 2, 5}))
	for name, c := range scorers {
		m := newModel(c.scorer, 5)
		r := relationsOf(c.scorer)
		right := map[[3]int32]bool{}
		for e, v := range known.Destinations() {
			right[[3]int32{known.In().Cols[e], known.Kinds()[e], v}] = true
		}
		var want []float64
		for e, v := range test.Destinations() {
			fact := [3]int32{test.In().Cols[e], test.Kinds()[e], v}
			score := func(f [3]int32) float64 {
				return c.score(wide(m.X.Value, f[0]), wide(r, f[1]), wide(m.X.Value, f[2]))
			}
			for _, place := range []int{2, 0} {
				rank := 1.0
				for other := range int32(5) {
					f := fact
					f[place] = other
					if f != fact && !right[f] && score(f) > score(fact) {
						rank++
					}
				}
				want = append(want, rank)
			}
		}
		if got := knowledge.Ranks(c.scorer, grad.Const(m.X.Value), test, known); !slices.Equal(got, want) {
			t.Errorf("%s: ranks %v, want %v", name, got, want)
		}
	}
}

// TestMisuse calls scorers with what cannot be.
func TestMisuse(t *testing.T) {
	s, x := &knowledge.DistMult{Relations: 2, Width: 4}, grad.Const(tensor.New(5, 4))
	plain := graph.Chains(5)
	kinds := func(k ...int32) *graph.Graph { return graph.Must(graph.WithKinds(graph.Chains(5), k)) }
	for want, f := range map[string]func(){
		"was Init called?":                               func() { (&knowledge.DistMult{}).Forward(nil, plain, x) },
		"the graph is nil":                               func() { s.Forward(nil, nil, x) },
		"graph is bipartite":                             func() { s.Forward(nil, graph.CompleteBipartite(2, 2), x) },
		"x is nil":                                       func() { s.Forward(nil, plain, nil) },
		"x has 3 columns":                                func() { s.Forward(nil, plain, grad.Const(tensor.New(5, 3))) },
		"has 5 nodes, want a row":                        func() { s.Forward(nil, plain, grad.Const(tensor.New(4, 4))) },
		"the edges have no kinds":                        func() { s.Forward(nil, plain, x) },
		"of relation 2, and Relations":                   func() { s.Forward(nil, kinds(0, 1, 2, 0), x) },
		"Width 3 cannot be cut":                          func() { (&knowledge.RotatE{Width: 3}).Init(nil) },
		"knowledge.Ranks: test: the edges have no kinds": func() { knowledge.Ranks(s, x, plain) },
		"knowledge.Ranks: known graph 2: the edges have no kinds":       func() { knowledge.Ranks(s, x, kinds(0, 1, 0, 0), kinds(0, 1, 0, 0), plain) },
		"knowledge.Ranks: test: the graph is nil":                       func() { knowledge.Ranks(s, x, nil) },
		"knowledge.Ranks: known graph 1: it has 6 entities, and test 5": func() { knowledge.Ranks(s, x, kinds(0, 1, 0, 0), graph.Must(graph.New(6, nil, nil))) },
		"4 false facts for 3 facts": func() {
			knowledge.Adversarial{}.Of(grad.Const(tensor.New(3, 1)), grad.Const(tensor.New(4, 1)), make([]int32, 4))
		},
	} {
		s.Init(rand.New(rand.NewPCG(1, 1)))
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

package layers_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// entropy is −log σ(x) of what is there, and −log(1 − σ(x)) of what is not.
func entropy(x float64, there bool) float64 {
	if there {
		x = -x
	}
	return math.Log1p(math.Exp(x))
}

// TestDGI compares the loss with its formula, and what is shuffled with a permutation.
func TestDGI(t *testing.T) {
	l, rng := &layers.DGI{Width: 3}, rand.New(rand.NewPCG(1, 2))
	l.Init(rng)
	m := &struct {
		L       *layers.DGI
		H, Fake *grad.Param
	}{l, grad.NewParam(4, 3), grad.NewParam(4, 3)}
	for _, p := range grad.Params(m) {
		p.Value.Normal(rng, 0, 1)
	}
	var summary, toward [3]float64
	for j := range summary {
		for i := range 4 {
			summary[j] += float64(m.H.Value.Row(i)[j]) / 4
		}
		summary[j] = 1 / (1 + math.Exp(-summary[j]))
	}
	for j := range toward {
		for k := range summary {
			toward[j] += float64(l.W.Value.Row(j)[k]) * summary[k]
		}
	}
	want := 0.0
	for _, rows := range []*grad.Param{m.H, m.Fake} {
		for i := range 4 {
			logit := 0.0
			for j, v := range rows.Value.Row(i) {
				logit += float64(v) * toward[j]
			}
			want += entropy(logit, rows == m.H) / 8
		}
	}
	got := float64(l.Loss(nil, grad.Const(m.H.Value), grad.Const(m.Fake.Value)).Value().Data[0])
	if !(math.Abs(got-want) < 1e-5) {
		t.Errorf("the loss is %v, want %v", got, want)
	}
	if gradtest.Sharp {
		gradtest.Check(t, m, func(tp *grad.Tape) *grad.Var { return l.Loss(tp, tp.Use(m.H), tp.Use(m.Fake)) })
	}
}

func TestShuffle(t *testing.T) {
	x := tensor.New(50, 1)
	for i := range x.Data {
		x.Data[i] = tensor.Float(i + 1)
	}
	packed := sparse.FromDense(x)
	l, tp := &layers.DGI{}, grad.NewTape(5)
	once := slices.Clone(l.Shuffle(tp, grad.Const(x)).Value().Data)
	tp.Reset()
	twice := slices.Clone(l.Shuffle(tp, grad.Const(x)).Value().Data)
	if slices.Equal(once, twice) || slices.Equal(once, x.Data) {
		t.Error("the order of two steps is one, or nothing is shuffled")
	}
	if again := l.Shuffle(grad.NewTape(5), grad.Const(packed)).Sparse().Values; !slices.Equal(once, again) {
		t.Errorf("of a sparse array the order is %v, of a dense one %v", again, once)
	}
	if slices.Sort(once); !slices.Equal(once, x.Data) {
		t.Errorf("rows are lost: %v", once)
	}
	if v := grad.Const(x); l.Shuffle(grad.NewEval(), v) != v {
		t.Error("rows are shuffled where nothing is recorded")
	}
}

// TestSkipGram compares the loss with its formula.
func TestSkipGram(t *testing.T) {
	l := &layers.SkipGram{Nodes: 8, Width: 3}
	l.Init(rand.New(rand.NewPCG(1, 2)))
	near, not := odd(), graph.Must(graph.New(8, []int32{7, 1, 1}, []int32{0, 7, 1}))
	want := 0.0
	for _, pairs := range []*graph.Graph{near, not} {
		for e, v := range pairs.Destinations() {
			logit := 0.0
			for j, z := range l.Z.Value.Row(int(pairs.In().Cols[e])) {
				logit += float64(z) * float64(l.C.Value.Row(int(v))[j])
			}
			want += entropy(logit, pairs == near) / float64(pairs.NumEdges())
		}
	}
	if got := float64(l.Loss(nil, near, not).Value().Data[0]); !(math.Abs(got-want) < 1e-5) {
		t.Errorf("the loss is %v, want %v", got, want)
	}
	if gradtest.Sharp {
		gradtest.Check(t, l, func(tp *grad.Tape) *grad.Var { return l.Loss(tp, near, not) })
	}
	five := graph.Chains(5)
	for want, f := range map[string]func(){
		"was Init called?":              func() { (&layers.SkipGram{}).Loss(nil, near, not) },
		"layers.SkipGram":               func() { l.Loss(nil, five, five) },
		"layers.DGI: it has no weights": func() { (&layers.DGI{}).Loss(nil, nil, nil) },
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

package attention_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// A learnt query reads each chain as a loop does, an empty one as zero.
func TestPoolIsItsFormula(t *testing.T) {
	g := graph.Chains(3, 0, 1)
	for name, s := range scores() {
		if name == "by position" {
			continue
		}
		l := &attention.AttentionPool{Score: s.Score, Query: s.query}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		if name == "saliency" {
			l.Query, l.Q = 0, nil
		}
		x := param(3, 4, s.key).Value
		var q []float64
		if l.Q != nil {
			q = floats(l.Q.Value.Data)
		}
		y := l.Apply(grad.NewEval(), graph.Membership(g), layers.In{Src: grad.Const(x)}).Y.Value()
		for c, nodes := range [][]int{{0, 1, 2}, nil, {3}} {
			var logits []float64
			for _, u := range nodes {
				logits = append(logits, s.formula(u, floats(x.Row(u)), q))
			}
			for j := range s.key {
				want := 0.0
				for i, u := range nodes {
					want += softmax(logits)[i] * float64(x.Row(u)[j])
				}
				compare.Number(t, name, y.Row(c)[j], want, rounded)
			}
		}
	}
}

// twoTiers reads words of width 3 into documents of width 4.
func twoTiers() *attention.Hierarchical {
	both := func(in int) *sequence.Stack {
		return &sequence.Stack{Layers: []sequence.Cell{&sequence.GRU{In: in, Hidden: 2}}, Back: []sequence.Cell{&sequence.GRU{In: in, Hidden: 2}}}
	}
	pool := func() *attention.AttentionPool {
		return &attention.AttentionPool{Score: &attention.Saliency{Key: 4, Hidden: 3}}
	}
	l := &attention.Hierarchical{Tiers: []attention.Tier{{Body: both(3), Pool: pool()}, {Body: both(4), Pool: pool()}}}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	return l
}

// What a document becomes does not depend, to the bit, on the others: no softmax reaches
// into another sentence, however much larger the scores are there. A document may be of one
// sentence, and that of one word.
func TestHierarchicalDocumentsAreApart(t *testing.T) {
	l := twoTiers()
	x := param(2, 11, 3).Value
	for i := range 3 * 4 {
		x.Data[i] *= 50 // the first sentence
	}
	words, sentences := graph.Chains(4, 2, 1, 4), graph.Chains(2, 1, 1)
	y, weights := l.Forward(grad.NewEval(), []*graph.Graph{words, sentences}, grad.Const(x))
	rows := func(lo, hi int) *grad.Var { return grad.Const(x).RowRange(lo, hi) }
	for i, c := range []struct {
		words  []int
		lo, hi int
	}{{[]int{4, 2}, 0, 6}, {[]int{1}, 6, 7}, {[]int{4}, 7, 11}} {
		one, _ := l.Forward(grad.NewEval(), []*graph.Graph{graph.Chains(c.words...), graph.Chains(len(c.words))}, rows(c.lo, c.hi))
		compare.Equal(t, "document", one.Value().Data, grad.Const(y.Value()).RowRange(i, i+1).Value().Data)
	}
	for k, g := range []*graph.Graph{words, sentences} {
		sums := message.UpdateAll(graph.Membership(g), weights[k], message.Sum).Value()
		for _, v := range sums.Data {
			compare.Number(t, "sum of weights", v, 1, rounded)
		}
	}
}

func TestHierarchicalGradients(t *testing.T) {
	l, x := twoTiers(), param(2, 7, 3)
	model := struct {
		X *grad.Param
		L *attention.Hierarchical
	}{x, l}
	gradtest.Check(t, &model, func(tape *grad.Tape) *grad.Var {
		y, _ := l.Forward(tape, []*graph.Graph{graph.Chains(3, 0, 2, 2), graph.Chains(3, 1)}, tape.Use(x))
		return y.Square().Sum()
	})
}

// Any depth: three tiers without a Body are three means.
func TestHierarchicalOfThreeTiers(t *testing.T) {
	l := &attention.Hierarchical{}
	for range 3 {
		l.Tiers = append(l.Tiers, attention.Tier{Pool: &attention.AttentionPool{Score: &attention.Saliency{Key: 1, Hidden: 1}}})
	}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	for _, tier := range l.Tiers {
		tier.Pool.Score.(*attention.Saliency).C.Value.Fill(0)
	}
	x := tensor.New(5, 1)
	copy(x.Data, []tensor.Float{1, 3, 5, 7, 9})
	y, _ := l.Forward(grad.NewEval(), []*graph.Graph{graph.Chains(2, 1, 1, 1), graph.Chains(2, 2), graph.Chains(2)}, grad.Const(x))
	compare.Number(t, "mean of means of means", y.Value().Data[0], ((2.+5)/2+(7.+9)/2)/2, rounded)
}

// A model of forms and scores is saved and loaded as any other.
func TestFormsAreSaved(t *testing.T) {
	l, other := twoTiers(), twoTiers()
	other.Init(rand.New(rand.NewPCG(9, 9)))
	file := filepath.Join(t.TempDir(), "m.safetensors")
	if err := train.Save(file, l); err != nil {
		t.Fatal(err)
	}
	if err := train.Load(file, other); err != nil {
		t.Fatal(err)
	}
	gs, x := []*graph.Graph{graph.Chains(3, 2), graph.Chains(2)}, grad.Const(param(2, 5, 3).Value)
	want, _ := l.Forward(grad.NewEval(), gs, x)
	got, _ := other.Forward(grad.NewEval(), gs, x)
	compare.Equal(t, "loaded", got.Value().Data, want.Value().Data)
}

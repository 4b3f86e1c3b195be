package attention_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// aligning has queries find the one of six keys that says the same in other words; of ten
// queries two are told another, so that no score is without a loss.
type aligning struct {
	keys, queries *tensor.Dense // of each word, with entries as a GRU's states have them
	g             *graph.Graph
	rng           *rand.Rand
}

func newAligning() *aligning {
	a := &aligning{keys: tensor.New(8, 16), queries: tensor.New(8, 16), rng: rand.New(rand.NewPCG(1, 2))}
	a.keys.Uniform(a.rng, -1, 1)
	a.queries.Uniform(a.rng, -1, 1)
	gs := make([]*graph.Graph, 32)
	for i := range gs {
		gs[i] = graph.CompleteBipartite(6, 1)
	}
	a.g = graph.Batch(gs...)
	return a
}

// loss is −log α of the keys that 32 queries should find.
func (a *aligning) loss(t *grad.Tape, s attention.Score) *grad.Var {
	var heard, asked, chosen []int32
	for i := range 32 {
		words := a.rng.Perm(8)[:6]
		at := a.rng.IntN(6)
		for _, w := range words {
			heard = append(heard, int32(w))
		}
		asked = append(asked, int32(words[at]))
		if a.rng.Float64() < 0.2 {
			at = a.rng.IntN(6)
		}
		chosen = append(chosen, int32(6*i+at))
	}
	keys := s.Keys(t, grad.Const(a.keys).Rows(heard))
	logp := message.ApplyEdges(a.g, s.Of(t, keys, grad.Const(a.queries).Rows(asked)).LogSoftmax())
	return logp.Rows(chosen).Mean().Neg()
}

// Plain and with a length that is learnt, the scores with a network and those with a matrix come
// to the same loss in the same steps: that of what cannot be known.
func TestScoresLearnAlike(t *testing.T) {
	losses := map[string]float64{}
	for name, s := range map[string]attention.Score{
		"additive": &attention.Additive{Key: 16, Query: 16, Hidden: 8}, "normed": &attention.Additive{Key: 16, Query: 16, Hidden: 8, Normed: true},
		"general": &attention.Bilinear{Key: 16, Query: 16}, "scaled": &attention.Bilinear{Key: 16, Query: 16, Scaled: true},
		"scaled from 1/√16": &attention.Bilinear{Key: 16, Query: 16, Scaled: true, Begin: 0.25},
	} {
		a, tape, opt := newAligning(), grad.NewTape(1), &train.Adam{LR: 2e-2}
		s.Init(rand.New(rand.NewPCG(3, 4)))
		const steps = 120
		for step := range steps {
			tape.Reset()
			loss := a.loss(tape, s)
			opt.Step(tape.Backward(loss))
			if step >= steps-40 {
				losses[name] += float64(loss.Value().Data[0]) / 40
			}
		}
	}
	p := 0.8 + 0.2/6
	least := -p*math.Log(p) - (1-p)*math.Log((1-p)/5)
	t.Logf("%v, the least is %.3f", losses, least)
	for name, loss := range losses {
		if math.Abs(loss/losses["additive"]-1) > 0.1 || loss > 1.25*least {
			t.Errorf("%s: the loss is %.3f, of the additive score %.3f; the least is %.3f", name, loss, losses["additive"], least)
		}
	}
}

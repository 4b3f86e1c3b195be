package memory_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/train"
)

// A training step of 32 stories of two to ten sentences of six words.
func BenchmarkMemN2NStep(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	m := &memory.MemN2N{Vocab: 22, Dim: 20, Hops: 3, Encoding: memory.Position}
	m.Init(rng)
	words := func(n int) []int32 {
		out := make([]int32, n)
		for i := range out {
			out[i] = int32(rng.IntN(m.Vocab))
		}
		return out
	}
	stories := make([]memory.Story, 32)
	for i := range stories {
		stories[i] = memory.Story{Question: words(3), Answer: int32(rng.IntN(m.Vocab))}
		for range 2 + i%9 {
			stories[i].Sentences = append(stories[i].Sentences, words(6))
		}
	}
	t, opt := grad.NewTape(1), &train.SGD{LR: 0.01}
	b.ReportAllocs()
	for b.Loop() {
		s, err := m.Batch(stories, nil)
		if err != nil {
			b.Fatal(err)
		}
		t.Reset()
		g := t.Backward(s.Loss(m.Forward(t, s)))
		g.ClipNorm(40)
		opt.Step(g)
	}
}

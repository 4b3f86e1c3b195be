package attention_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
)

// BenchmarkGenerate says 128 tokens, one sentence, greedily, of a model of four blocks.
func BenchmarkGenerate(b *testing.B) {
	l := newLanguageModel(attention.Block{Model: 256, Heads: 8, PreNorm: true, Activation: grad.GELU}, 4, 1000)
	var c attention.Cache
	s := &decode.Search{
		Begin: []int32{0}, End: decode.NoEnd, Longest: []int{128}, State: c.State(),
		Step: func(t *grad.Tape, live *decode.Live) (*grad.Var, decode.State) {
			return l.Step(t, &c, live.Last, live.State)
		},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (decode.Greedy{}).Run(s); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkShortPairs is a training step of 64 pairs of 4 to 10 tokens.
func BenchmarkShortPairs(b *testing.B) {
	l := &attention.Transformer{Block: attention.Block{Model: 64, Heads: 4, Hidden: 128}, Target: 16, Encoders: 2, Decoders: 2}
	l.Init(rand.New(rand.NewPCG(1, 2)))
	var source, fed []int
	n, m := 0, 0
	for i := range 64 {
		source, fed = append(source, 4+i%7), append(fed, 5+i%7)
		n, m = n+4+i%7, m+5+i%7
	}
	said, heard := make([]int32, m), make([]int32, n)
	tape := grad.NewTape(1)
	b.ReportAllocs()
	for b.Loop() {
		tape.Reset()
		tape.Backward(l.Forward(tape, attention.Pairs(source, fed), heard, said).CrossEntropy(said))
	}
}

package attention_test

import (
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

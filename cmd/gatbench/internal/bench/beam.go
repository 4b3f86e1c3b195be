package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/layers/sequence"
)

// What is timed of a search: beams of so many over so many sentences of so many tokens,
// none of which ends early, through an LSTM.
const (
	beamWidth, beamSentences, beamLength = 5, 64, 30
	beamVocabulary, beamHidden           = 2000, 256
)

// beamBenchmark is a search, of a language model that was not trained.
func beamBenchmark(threads int) Benchmark {
	return Benchmark{
		name: fmt.Sprintf("sequence/beam/%dx%d", beamWidth, beamSentences), op: "sequence/beam", lanes: threads,
		params: map[string]any{
			"beam": beamWidth, "sentences": beamSentences, "t": beamLength, "vocab": beamVocabulary,
			"i": beamHidden, "h": beamHidden, "threads": threads,
		},
		open: func() (workload, error) {
			s, b := beamSearch(), decode.Beam{Width: beamWidth}
			var failed error
			return workload{
				call: func() {
					if _, err := b.Run(s); err != nil {
						failed = err
					}
				},
				failed: func() error { return failed },
			}, nil
		},
	}
}

func beamSearch() *decode.Search {
	rng := rand.New(rand.NewPCG(1, 2))
	words := grad.NewParam(beamVocabulary, beamHidden)
	words.Value.Normal(rng, 0, 1)
	lstm, out := &sequence.LSTM{In: beamHidden, Hidden: beamHidden}, &layers.Linear{In: beamHidden, Out: beamVocabulary}
	lstm.Init(rng)
	out.Init(rng)
	return &decode.Search{
		Step: func(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
			next := lstm.Step(t, t.Use(words).Rows(l.Last), l.State)
			return out.Forward(t, next[0]), next
		},
		Begin: slices.Repeat([]int32{0}, beamSentences), End: decode.NoEnd, Longest: []int{beamLength},
		State: decode.State{grad.Const(newOperand(beamSentences, beamHidden)), grad.Const(newOperand(beamSentences, beamHidden))},
	}
}

// convBenchmark is a TCN on what the recurrent networks read, of as many columns.
func convBenchmark(threads int) Benchmark {
	s := recurrentShape{50, 64, 128, 128, 1, 0}
	return Benchmark{
		name: "sequence/tcn/" + s.String(), op: "sequence/tcn", lanes: threads,
		params: map[string]any{"t": s.t, "b": s.b, "i": s.i, "h": s.h, "blocks": 3, "kernel": 3, "threads": threads},
		prepare: func() workload {
			net := &sequence.TCN{In: s.i, Widths: []int{s.h, s.h, s.h}, Kernel: 3}
			net.Init(rand.New(rand.NewPCG(1, 2)))
			return recurrentTask{graph.Chains(slices.Repeat([]int{s.t}, s.b)...), newOperand(s.t*s.b, s.i), net}.workload()
		},
	}
}

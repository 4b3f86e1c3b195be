package layers

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
)

// What is timed of a search: beams of so many over sentences that end each at its own
// length, through an LSTM.
const (
	beamWidth, beamLongest     = 5, 50
	beamVocabulary, beamHidden = 2000, 256
	beamEnd                    = 1
)

// beamLengths are those of the first captions of Multi30k's test set of 2016, in English:
// words and marks, and the end. So a peer has the same.
var beamLengths = []int{
	11, 17, 14, 19, 10, 27, 12, 30, 8, 15, 13, 18, 12, 12, 8, 15, 12, 19, 11, 12, 8, 13, 13, 15, 13, 18, 8, 13, 12, 19, 11, 14,
	8, 18, 13, 22, 8, 18, 10, 14, 11, 20, 7, 15, 11, 16, 9, 27, 9, 14, 12, 13, 10, 12, 20, 20, 8, 8, 12, 19, 10, 19, 13, 16,
}

// Beam is a search, of a language model that was not trained.
func Beam(c *bench.Choice) []bench.Benchmark {
	return []bench.Benchmark{{
		Name: fmt.Sprintf("sequence/beam/%dx%d", beamWidth, len(beamLengths)), Op: "sequence/beam", Lanes: c.Threads,
		Params: map[string]any{
			"beam": beamWidth, "longest": beamLongest, "lengths": beamLengths, "vocab": beamVocabulary,
			"i": beamHidden, "h": beamHidden, "threads": c.Threads,
		},
		Open: func() (bench.Work, error) {
			s, b := beamSearch(beamVocabulary, beamHidden), decode.Beam{Width: beamWidth}
			return bench.Failing(func() error {
				_, err := b.Run(s)
				return err
			}), nil
		},
	}}
}

// beamSearch is the search through a model of so many tokens and columns.
func beamSearch(vocabulary, hidden int) *decode.Search {
	rng, n := rand.New(rand.NewPCG(1, 2)), len(beamLengths)
	words := grad.NewParam(vocabulary, hidden)
	words.Value.Normal(rng, 0, 1)
	lstm, out := &sequence.LSTM{In: hidden, Hidden: hidden}, &layers.Linear{In: hidden, Out: vocabulary}
	lstm.Init(rng)
	out.Init(rng)
	return &decode.Search{
		Step: func(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
			next := lstm.Step(t, t.Use(words).Rows(l.Last), l.State)
			logits := out.Forward(t, next[0])
			raiseEnds(logits.Value(), l)
			return logits, next
		},
		Begin: make([]int32, n), End: beamEnd, Longest: []int{beamLongest},
		State: decode.State{grad.Const(bench.Operand(n, hidden)), grad.Const(bench.Operand(n, hidden))},
	}
}

// raiseEnds has a sentence end at its length and not before.
func raiseEnds(logits *tensor.Dense, l *decode.Live) {
	for i, s := range l.Sentence {
		if l.Step+1 == beamLengths[s] {
			logits.Row(i)[beamEnd] += 30
		} else {
			logits.Row(i)[beamEnd] -= 30
		}
	}
}

// TCN is a TCN on what the recurrent networks read, of as many columns.
func TCN(c *bench.Choice) []bench.Benchmark {
	s := recurrentShape{50, 64, 128, 128, 1, 0}
	return []bench.Benchmark{{
		Name: "sequence/tcn/" + s.String(), Op: "sequence/tcn", Lanes: c.Threads,
		Params: map[string]any{"t": s.t, "b": s.b, "i": s.i, "h": s.h, "blocks": 3, "kernel": 3, "threads": c.Threads},
		Prepare: func() bench.Work {
			net := &sequence.TCN{In: s.i, Widths: []int{s.h, s.h, s.h}, Kernel: 3}
			net.Init(rand.New(rand.NewPCG(1, 2)))
			return recurrentTask{graph.Chains(slices.Repeat([]int{s.t}, s.b)...), bench.Operand(s.t*s.b, s.i), net}.workload()
		},
	}}
}

package attention_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
)

// BenchmarkPointerStep is a training step of 128 sets, without the optimiser: 64 wide, of five
// points, and with an end and of five to ten.
func BenchmarkPointerStep(b *testing.B) {
	for name, sizes := range map[string][]int{"5": slices.Repeat([]int{5}, 128), "ragged": slices.Repeat([]int{5, 7, 8, 10}, 32)} {
		b.Run(name, func(b *testing.B) {
			l := &attention.Pointer{
				In: 2, Hidden: 64, NoRepeat: true, End: name == "ragged",
				Encoder: &sequence.LSTM{In: 2, Hidden: 64}, Decoder: &sequence.LSTM{In: 2, Hidden: 64},
				Score: &attention.Additive{Key: 64, Query: 64, Hidden: 64},
			}
			rng := rand.New(rand.NewPCG(1, 2))
			l.Init(rng)
			answers := make([][]int32, len(sizes))
			for i, n := range sizes {
				for _, j := range rng.Perm(n) {
					answers[i] = append(answers[i], int32(j))
				}
			}
			tape := grad.NewTape(1)
			for b.Loop() {
				tape.Reset()
				sets := graph.Chains(sizes...)
				x := pointsOf(sets.NumNodes())
				p := pointing(b, l, sets, answers)
				tape.Backward(l.Loss(tape, p, grad.Const(x)))
			}
		})
	}
}

package attention_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/train"
)

// What a beam says of its sequences is what they cost when they are taught: for aligners
// that carry their weights through it, too.
func TestSearchScoresAreTaught(t *testing.T) {
	const end, begin = 0, 1
	for name, a := range aligners() {
		for _, l := range []searched{newRNNsearch(a.Aligner), newLuong(a.Aligner, true)} {
			source, tokens := graph.Chains(3, 1, 5), []int32{3, 4, 5, 6, 2, 3, 4, 5, 6}
			e := l.Encode(grad.NewEval(), source, tokens).Keep()
			found, err := decode.Beam{Width: 3}.Run(&decode.Search{
				Begin: []int32{begin, begin, begin}, End: end, Longest: []int{5}, State: l.Start(grad.NewEval(), e).Keep(),
				Step: func(tape *grad.Tape, live *decode.Live) (*grad.Var, decode.State) {
					return l.Step(tape, e, attention.Live{Step: live.Step, Last: live.Last, Sentence: live.Sentence}, message.State(live.State))
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			at := source.NodeOffsets()
			for i, best := range found {
				for _, f := range best {
					fed, said := append([]int32{begin}, f.Tokens...), append(slices.Clone(f.Tokens), end)
					if !f.Ended {
						fed, said = fed[:len(fed)-1], f.Tokens
					}
					some := tokens[at[i]:at[i+1]]
					y, _ := l.Apply(grad.NewEval(), graph.Chains(len(some)), some, graph.Chains(len(fed)), fed)
					if cost := float64(y.CrossEntropy(said).Value().Data[0]) * float64(len(said)); math.Abs(cost+f.LogProb) > 1e-4 {
						t.Errorf("%s: sentence %d: %v costs %v, and the beam says %v", name, i, f.Tokens, cost, -f.LogProb)
					}
				}
			}
		}
	}
}

// What is saved is all of a network, the scores of its aligner too.
func TestDecodersAreSaved(t *testing.T) {
	for name, of := range map[string]func(seed uint64) searched{
		"RNNsearch": func(seed uint64) searched {
			l := newRNNsearch(nil)
			l.Init(rand.New(rand.NewPCG(seed, 3)))
			return l
		},
		"Luong": func(seed uint64) searched {
			l := newLuong(&attention.Monotonic{Score: &attention.Additive{Key: twice, Query: hidden, Hidden: 4, Normed: true}, Expected: true}, true)
			l.Init(rand.New(rand.NewPCG(seed, 3)))
			return l
		},
	} {
		a, b := of(1), of(2)
		run := func(l searched) []float64 {
			y, _ := l.Apply(grad.NewEval(), graph.Chains(3), []int32{3, 4, 5}, graph.Chains(2), []int32{1, 2})
			return floats(y.Value().Data)
		}
		file := filepath.Join(t.TempDir(), "m.safetensors")
		if slices.Equal(run(a), run(b)) {
			t.Fatalf("%s: other seeds, and the same logits", name)
		}
		if err := train.Save(file, a); err != nil {
			t.Fatal(err)
		}
		if err := train.Load(file, b); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(run(a), run(b)) {
			t.Errorf("%s: loaded it has the logits %v, saved %v", name, run(b), run(a))
		}
	}
}

package attention_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
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

// Dropout is in training alone, and its gradients stand beside differences. What asks and what is
// asked are not dropped: where embeddings are nothing, the weights of a step do not change.
func TestDecodersDropout(t *testing.T) {
	source, tokens, target, fed := batched(somePairs)
	for name, of := range map[string]func(drop float64) searched{
		"RNNsearch": func(drop float64) searched {
			l := newRNNsearch(nil)
			l.Dropout = drop
			return l
		},
		"Luong": func(drop float64) searched {
			l := newLuong(nil, true)
			l.Dropout = drop
			return l
		},
	} {
		plain, drop := of(0), of(0.5)
		run := func(tape *grad.Tape, l searched) []float64 {
			y, _ := l.Apply(tape, source, tokens, target, fed)
			return floats(y.Value().Data)
		}
		want := run(nil, plain)
		if !slices.Equal(run(nil, drop), want) || !slices.Equal(run(grad.NewEval(), drop), want) || !slices.Equal(run(grad.NewTape(1), plain), want) {
			t.Errorf("%s: something is dropped where it should not be", name)
		}
		if slices.Equal(run(grad.NewTape(1), drop), want) || !slices.Equal(run(grad.NewTape(1), drop), run(grad.NewTape(1), drop)) {
			t.Errorf("%s: in training nothing is dropped, or not by the tape's seed", name)
		}
		var dropped, embeddings []*grad.Param
		for path, p := range grad.Params(drop) {
			switch path {
			case "SourceEmbed", "TargetEmbed":
				embeddings = append(embeddings, p)
				fallthrough
			case "G", "WS":
				dropped = append(dropped, p)
			}
			if p.Value.Axes() == 1 {
				perturbed(7, p) // so that cells say something of nothing
			}
		}
		if len(dropped) != 3 {
			t.Fatalf("%s: %d Params read what is dropped", name, len(dropped))
		}
		gradtest.Check(t, dropped, func(tape *grad.Tape) *grad.Var {
			y, _ := drop.Apply(tape, source, tokens, target, fed)
			return y.CrossEntropy(make([]int32, len(fed)))
		})
		for _, p := range embeddings {
			p.Value.Zero()
		}
		weights := func(tape *grad.Tape) []float64 {
			_, a := drop.Apply(tape, source, tokens, target, fed)
			return floats(message.ApplyEdges(a.Graph, a.Weights).Value().Data)
		}
		if !slices.Equal(weights(grad.NewTape(1)), weights(nil)) {
			t.Errorf("%s: queries or keys are dropped", name)
		}
	}
}

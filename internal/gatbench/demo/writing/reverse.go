package writing

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/train"
)

// Reverse teaches a Transformer to write a word from its end. Two that lack something show what
// that is for: one does not know where a symbol stands, the other's targets see what they are to
// say.
var Reverse = stage.Demo{Name: "reverse", About: "a word from its end, by a Transformer; its heads, and what it is without positions or a causal mask", Aside: []string{"exact_without_positions", "exact_without_mask", "loss_without_mask"}, Seconds: 27, Act: stage.Func(runReverse)}

const (
	reverseSymbols = 13
	reverseLongest = 10
)

// reverser is a Transformer and what is taken from it.
type reverser struct {
	Name string
	Net  *attention.Transformer
	Leak bool // a target sees all of itself in training, and so the next symbol too
}

func newReverser(s *stage.Stage, name string, position attention.Position) *reverser {
	r := &reverser{Name: name, Net: &attention.Transformer{
		Block:  attention.Block{Model: 64, Heads: 4, Hidden: 128, Position: position},
		Target: int(text.First) + reverseSymbols, Encoders: 2, Decoders: 2,
	}}
	r.Net.Init(s.RNG("weights"))
	return r
}

// loss is that of some pairs, when the decoder is fed what it should have said.
func (r *reverser) loss(t *grad.Tape, pairs text.Pairs) *grad.Var {
	b := pairs.Batch(stage.Every(pairs.Len()))
	fed := slices.Clone(pairs.Target.Lengths())
	for i := range fed {
		fed[i]++ // the begin token
	}
	m := attention.Pairs(pairs.Source.Lengths(), fed)
	if r.Leak {
		m.Target = attention.Pairs(fed, fed).Source
	}
	return r.Net.Forward(t, m, b.Source.Tokens, b.Input.Tokens).CrossEntropy(b.Output)
}

// write returns what the network makes of words, each symbol the likeliest.
func (r *reverser) write(words text.Ragged) ([][]int32, error) {
	all := make([]*graph.Graph, words.Len())
	for i, n := range words.Lengths() {
		all[i] = graph.Complete(n)
	}
	var c attention.Cache
	found, err := decode.Greedy{}.Run(&decode.Search{
		Begin: slices.Repeat([]int32{text.Begin}, words.Len()), End: text.End, Longest: []int{reverseLongest + 5},
		State: r.Net.Start(grad.NewEval(), &c, graph.Batch(all...), words.Tokens),
		Step: func(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
			return r.Net.Step(t, &c, l.Last, l.State)
		},
	})
	if err != nil {
		return nil, err
	}
	out := make([][]int32, words.Len())
	for i, f := range found {
		out[i] = f.Tokens
	}
	return out, nil
}

// exact is the share of words that are written without a mistake.
func (r *reverser) exact(pairs text.Pairs) (float64, error) {
	got, err := r.write(pairs.Source)
	if err != nil {
		return 0, err
	}
	want := make([][]int32, pairs.Len())
	for i := range want {
		want[i] = pairs.Target.Sequence(i)
	}
	return train.ExactMatch(want, got), nil
}

// reverseWords returns new words.
func reverseWords(n int, seed uint64) text.Pairs {
	return text.Task{Count: n, Min: 4, Max: reverseLongest, Symbols: reverseSymbols, Seed: seed}.Reverse()
}

// train trains for some hundreds of steps, each of new words.
func (r *reverser) train(s *stage.Stage, test text.Pairs, epochs int) (*stage.Training, error) {
	s.Print("%s\n", r.Name)
	l := &stage.Training{
		Stage: s, Name: r.Name, Optimiser: &train.Adam{LR: 0.5, Beta2: 0.98, Eps: 1e-9, Schedule: train.Noam{Width: 64, Warmup: 200}}, Clip: 1, Epochs: s.EpochsOr(epochs),
		Loss: func(t *grad.Tape, _ []int32) *grad.Var {
			return r.loss(t, reverseWords(64, s.Stream("steps", t.Step())))
		},
		Score: func() (float64, error) { return r.exact(test) }, ScoreName: "exact",
	}
	return l, l.Run()
}

func runReverse(s *stage.Stage) error {
	s.Say("Words of 4 to %d symbols of %d kinds are to be written backwards, by a Transformer of two blocks on either side.", reverseLongest, reverseSymbols)
	test := reverseWords(500, s.Stream("test", 0))
	whole, lost, leak := newReverser(s, "with positions and a causal mask", attention.Sinusoidal), newReverser(s, "without positions", attention.NoPositions), newReverser(s, "without the causal mask", attention.Sinusoidal)
	leak.Leak = true
	out := map[string]any{}
	var loops []*stage.Training
	for i, r := range []*reverser{whole, lost, leak} {
		l, err := r.train(s, test, []int{9, 5, 6}[i])
		if err != nil {
			return err
		}
		loops = append(loops, l)
		out[[]string{"exact", "exact_without_positions", "exact_without_mask"}[i]] = stage.Last(l.Scores)
	}
	out["exact_by_hundred"], out["loss_without_mask"] = loops[0].Scores, stage.Last(loops[2].Losses)
	s.Result(out)
	if err := showReversed(s, whole, test.Source.Rows(stage.Every(6))); err != nil {
		return err
	}
	s.Say("Of %d new words %.1f %% are right: it %s. Without positions a word is a bag of symbols, and %.1f %% are right. Without the causal mask the next symbol is there to be copied: the loss is %.4f, and of words that nobody tells it %.1f %% are right.",
		test.Len(), 100*stage.Last(loops[0].Scores), stage.Verdict(stage.Last(loops[0].Scores)), 100*stage.Last(loops[1].Scores), stage.Last(loops[2].Losses), 100*stage.Last(loops[2].Scores))
	heads := whole.heads(test.Source.Sequence(longestOf(test.Source)))
	s.Heat(heads[0])
	row := []picture.Panel{}
	for _, h := range heads {
		row = append(row, h)
	}
	s.Draw([]picture.Panel{stage.LossPanel(loops...)}, row[:2], row[2:])
	return s.Keep(whole.Net)
}

// showReversed prints some words and what becomes of them.
func showReversed(s *stage.Stage, r *reverser, words text.Ragged) error {
	got, err := r.write(words)
	if err != nil {
		return err
	}
	s.Print("\n  %-*s -> %s\n", reverseLongest, "word", "what it writes")
	for i, w := range got {
		s.Print("  %-*s -> %s\n", reverseLongest, lettersOf(words.Sequence(i)), lettersOf(w))
	}
	s.Print("\n")
	return nil
}

// lettersOf writes symbols as letters.
func lettersOf(symbols []int32) string {
	out := make([]byte, len(symbols))
	for i, k := range symbols {
		out[i] = byte('a' + k - text.First)
	}
	return string(out)
}

// longestOf is the number of the longest sequence.
func longestOf(r text.Ragged) int {
	lengths := r.Lengths()
	return slices.Index(lengths, slices.Max(lengths))
}

// heads are what each head of the last block looks at in a word, as it is written.
func (r *reverser) heads(word []int32) []*picture.Heat {
	fed := append([]int32{text.Begin}, word...)
	slices.Reverse(fed[1:])
	m := attention.Pairs([]int{len(word)}, []int{len(fed)})
	_, weights := r.Net.Apply(grad.NewEval(), m, word, fed)
	alpha := message.ApplyEdges(m.Cross, weights[len(weights)-1]).Value()
	says := append(slices.Clone(fed[1:]), text.End)
	var out []*picture.Heat
	for h := range r.Net.Heads {
		heat := &picture.Heat{Title: fmt.Sprintf("head %d", h+1), Across: "reads", Down: "writes", Top: 1}
		for i, k := range says {
			row := make([]float64, len(word))
			for j := range row {
				row[j] = float64(alpha.Row(i*len(word) + j)[h])
			}
			name := "end"
			if k != text.End {
				name = lettersOf([]int32{k})
			}
			heat.Rows, heat.Values = append(heat.Rows, name), append(heat.Values, row)
		}
		for _, k := range word {
			heat.Columns = append(heat.Columns, lettersOf([]int32{k}))
		}
		out = append(out, heat)
	}
	return out
}

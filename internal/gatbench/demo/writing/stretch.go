package writing

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Stretch writes longer sequences than it has learnt from: attention that knows where it
// looked finds its way, attention by content alone loses it among symbols that are alike.
var Stretch = stage.Demo{Name: "stretch", About: "sequences twice as long as learnt, by location and monotonic attention", Aside: []string{"copy, by content", "twice, by content"}, Seconds: 37, Act: stage.Func(runStretch)}

const (
	stretchWidth   = 64
	stretchSymbols = 6
)

// follower is a network that follows a sequence.
type follower struct {
	name  string
	net   *attention.RNNsearch
	tried map[int]text.Pairs // by the length of the source
}

// newFollower returns a network with an aligner.
func newFollower(s *stage.Stage, name string, align func(score attention.Score) attention.Aligner, task func(text.Task) text.Pairs) *follower {
	const m = stretchWidth
	score := &attention.Additive{Key: 2 * m, Query: m, Hidden: m, Normed: true}
	f := &follower{name: name, tried: map[int]text.Pairs{}, net: &attention.RNNsearch{
		Source: int(text.First) + stretchSymbols, Target: int(text.First) + stretchSymbols, Begin: text.Begin,
		Embed: m, Hidden: m, Maxout: m, ReadNew: true, Dropout: 0.2, Align: align(score),
	}}
	f.net.Init(s.RNG("weights"))
	for _, n := range []int{8, 16, 32} {
		f.tried[n] = task(text.Task{Count: max(1, s.Count(10_000)/50), Min: n, Symbols: stretchSymbols, Seed: s.Stream("test", 0)})
	}
	return f
}

// write returns what the network writes for sources.
func (f *follower) write(sources text.Ragged, longest int) (text.Ragged, error) {
	found, err := decode.Greedy{}.Run(searchOf(f.net, sources, longest))
	out := make([][]int32, len(found))
	for i, s := range found {
		out[i] = s.Tokens
	}
	return text.RaggedOf(out...), err
}

// exact is the share of sources of a length that are written without a mistake.
func (f *follower) exact(n int) (float64, error) {
	p := f.tried[n]
	got, err := f.write(p.Source, 2*n+4)
	right := 0
	for i := range got.Len() {
		if slices.Equal(got.Sequence(i), p.Target.Sequence(i)) {
			right++
		}
	}
	return float64(right) / float64(p.Len()), err
}

// forwards is the share of steps whose strongest source does not stand before that of the
// step before, as the network is fed what it should write.
func (f *follower) forwards(n int) float64 {
	on, steps := 0, 0
	for _, w := range alignments(f.net, f.tried[n]) {
		for i := 1; i < w.Rows()-1; i++ { // the last says that there is an end
			if steps++; strongest(w.Row(i)) >= strongest(w.Row(i-1)) {
				on++
			}
		}
	}
	return float64(on) / float64(max(1, steps))
}

// strongest is the place of the largest weight. Weights that are all zero ran off the end.
func strongest(row []tensor.Float) int {
	best := slices.Max(row)
	if best == 0 {
		return len(row)
	}
	return slices.Index(row, best)
}

func runStretch(s *stage.Stage) error {
	content := func(score attention.Score) attention.Aligner { return &attention.Content{Score: score} }
	location := func(by attention.Normaliser) func(attention.Score) attention.Aligner {
		return func(attention.Score) attention.Aligner {
			return &attention.LocationAttention{
				Key: 2 * stretchWidth, Query: stretchWidth, Hidden: stretchWidth, Filters: 10, Width: 7, By: attention.Weighing{By: by},
			}
		}
	}
	monotonic := func(score attention.Score) attention.Aligner { return &attention.Monotonic{Score: score} }
	s.Say("Sequences of %d symbols, 4 to 8 long. First each is copied; then each symbol is written twice. Sequences of 8, 16 and 32 are tested. Where content is compared, the score is Bahdanau's in its normed form, tanh(k·W + q·U + b)·g·v/‖v‖.", stretchSymbols)
	copied := []*follower{newFollower(s, "copy, by content", content, text.Task.Copy), newFollower(s, "copy, monotonic", monotonic, text.Task.Copy)}
	twice := []*follower{
		newFollower(s, "twice, by content", content, text.Task.Stretch),
		newFollower(s, "twice, by location", location(attention.Softmax), text.Task.Stretch),
		newFollower(s, "the same, smoothed", location(attention.Smoothing), text.Task.Stretch),
	}
	var loops []*stage.Training
	for _, f := range copied {
		l, err := follow(s, f, text.Task.Copy)
		if err != nil {
			return err
		}
		loops = append(loops, l)
	}
	for _, f := range twice {
		l, err := follow(s, f, text.Task.Stretch)
		if err != nil {
			return err
		}
		loops = append(loops, l)
	}
	all := append(copied, twice...)
	if err := followed(s, all); err != nil {
		return err
	}
	row := []picture.Panel{stage.LossPanel(loops...)}
	for _, f := range all[1:] {
		h := f.heat(16)
		s.Heat(h)
		s.Print("\n")
		row = append(row, h)
	}
	s.Draw(row[:2], row[2:])
	return s.Keep(twice[1].net)
}

// follow trains a network on sequences that are new at every step.
func follow(s *stage.Stage, f *follower, task func(text.Task) text.Pairs) (*stage.Training, error) {
	s.Print("%s\n", f.name)
	l := &stage.Training{
		Stage: s, Name: f.name, Optimiser: &train.Adam{LR: 1e-2, Schedule: train.Cosine{Steps: s.Steps() * s.EpochsOr(5), Min: 0.02}}, Clip: 1, Epochs: s.EpochsOr(5),
		Loss: func(t *grad.Tape, _ []int32) *grad.Var {
			p := task(text.Task{Count: s.Count(64), Min: 4, Max: 8, Symbols: stretchSymbols, Seed: s.Stream("steps", t.Step())})
			return taughtLoss(f.net, t, p, stage.Every(p.Len()))
		},
		Score: func() (float64, error) { return f.exact(8) }, ScoreName: "exact_8",
	}
	return l, l.Run()
}

// followed prints how well each network does.
func followed(s *stage.Stage, fs []*follower) error {
	values := map[string]any{}
	s.Print("\n%-20s  exact at   8    16    32   never back at   8    16    32\n", "")
	for _, f := range fs {
		line := fmt.Sprintf("%-20s         ", f.name)
		exact, ahead := map[string]float64{}, map[string]float64{}
		for _, n := range []int{8, 16, 32} {
			share, err := f.exact(n)
			if err != nil {
				return err
			}
			exact[fmt.Sprint(n)], ahead[fmt.Sprint(n)] = share, f.forwards(n)
			line += fmt.Sprintf("  %.2f", share)
		}
		line += "             "
		for _, n := range []int{8, 16, 32} {
			line += fmt.Sprintf("  %.2f", ahead[fmt.Sprint(n)])
		}
		s.Print("%s\n", line)
		values[f.name] = map[string]any{"exact": exact, "forwards": ahead}
	}
	s.Print("\n")
	s.Result(values)
	return nil
}

// heat shows where the network looks as it writes one sequence of a length.
func (f *follower) heat(n int) *picture.Heat {
	p := f.tried[n]
	one := text.Pairs{Source: p.Source.Rows([]int32{0}), Target: p.Target.Rows([]int32{0})}
	named := func(tokens []int32) []string {
		out := make([]string, len(tokens))
		for i, w := range tokens {
			out[i] = string(rune('a' + w - text.First))
		}
		return out
	}
	return alignmentPanel(f.name, alignments(f.net, one)[0], named(one.Source.Tokens), append(named(one.Target.Tokens), "."))
}

package demo

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// antonyms and dates rewrite a line, letter by letter: an RNN Encoder–Decoder reads it into
// one vector, and writes another from that.
var (
	antonyms = Demo{Name: "antonyms", About: "man becomes woman, and mans women: an encoder–decoder over letters", Run: runAntonyms}
	dates    = Demo{Name: "dates", About: "3 march 2021 becomes 2021-03-03", Run: runDates}
)

// rewriter is an encoder–decoder and the letters on both sides.
type rewriter struct {
	Net            *sequence.EncoderDecoder
	source, target text.Tokeniser
}

func newRewriter(s *Stage, p *text.Parallel, embed, hidden int) (*rewriter, error) {
	source, err := text.NewCharacters(p.Source, false)
	if err != nil {
		return nil, err
	}
	target, err := text.NewCharacters(p.Target, false)
	if err != nil {
		return nil, err
	}
	r := &rewriter{source: source, target: target, Net: &sequence.EncoderDecoder{
		Source: source.Len(), Target: target.Len(), Begin: text.Begin, Embed: embed, Hidden: hidden,
	}}
	r.Net.Init(s.rng(1))
	return r, nil
}

// rewrite returns what becomes of lines, each letter the likeliest.
func (r *rewriter) rewrite(lines []string) ([]string, error) {
	found, err := decode.Greedy{}.Run(searchOf(r.Net, text.EncodeLines(r.source, lines), 24))
	if err != nil {
		return nil, err
	}
	out := make([]string, len(lines))
	for i, f := range found {
		out[i] = r.target.Decode(f.Tokens)
	}
	return out, nil
}

// right is the share of lines that become what they should.
func (r *rewriter) right(p *text.Parallel) (float64, error) {
	got, err := r.rewrite(p.Source)
	if err != nil {
		return 0, err
	}
	n := 0
	for i, want := range p.Target {
		if got[i] == want {
			n++
		}
	}
	return float64(n) / float64(max(1, len(p.Target))), nil
}

func runAntonyms(s *Stage) error {
	p := text.Antonyms()
	r, err := newRewriter(s, p, 16, 64)
	if err != nil {
		return err
	}
	pairs := p.Encode(r.source, r.target)
	s.say("Six words and their opposites, in letters; each is made five long by the letter P, which is read and written as the others are. A GRU reads a word into one vector; another writes from it.")
	var failed error
	l := &training{
		Stage: s, optimiser: &train.Adam{LR: 1e-3}, epochs: s.epochs(500), batches: whole, every: 50,
		loss: func(t *grad.Tape, _ []int32) *grad.Var { return taughtLoss(r.Net, t, pairs, every(pairs.Len())) },
		score: func() (float64, string) {
			share, err := r.right(p)
			failed = err
			return share, "right"
		},
	}
	if err := l.run(); err != nil || failed != nil {
		return cmp.Or(err, failed)
	}
	asked := append(append([]string(nil), p.Source...), "mans")
	got, err := r.rewrite(asked)
	if err != nil {
		return err
	}
	s.result(map[string]any{"right": l.scores[len(l.scores)-1], "loss": l.losses[len(l.losses)-1], "mans": unpadded(got[len(got)-1])})
	s.print("\n")
	for i, w := range asked {
		note := ""
		if i == len(p.Source) {
			note = "   (never seen)"
		}
		s.print("  %-6s -> %s%s\n", unpadded(w), unpadded(got[i]), note)
	}
	s.print("\n")
	if err := s.draw([]picture.Panel{lossPanel(l)}); err != nil {
		return err
	}
	return s.keep(r.Net)
}

func runDates(s *Stage) error {
	learnt := text.Task{Count: 5000, Seed: s.Seed}.Dates()
	tried := unseen(text.Task{Count: 400, Seed: s.Seed + 1<<32}.Dates(), learnt)
	r, err := newRewriter(s, learnt, 24, 96)
	if err != nil {
		return err
	}
	pairs := learnt.Encode(r.source, r.target)
	s.say("%d dates as people write them, such as %q, and by ISO 8601; %d others, which it does not learn, are tried.", len(learnt.Source), learnt.Source[0], len(tried.Source))
	var failed error
	l := &training{
		Stage: s, optimiser: &train.Adam{LR: 3e-3}, clip: 5, epochs: s.epochs(12),
		batches: func(epoch int) [][]int32 { return text.ByLength(pairs.Source.Lengths(), 64, s.Seed, epoch) },
		loss:    func(t *grad.Tape, rows []int32) *grad.Var { return taughtLoss(r.Net, t, pairs, rows) },
		score: func() (float64, string) {
			share, err := r.right(tried)
			failed = err
			return share, "test_right"
		},
	}
	if err := l.run(); err != nil || failed != nil {
		return cmp.Or(err, failed)
	}
	few := tried.Source[:min(6, len(tried.Source))]
	got, err := r.rewrite(few)
	if err != nil {
		return err
	}
	s.result(map[string]any{"test_right": l.scores[len(l.scores)-1]})
	s.print("\n")
	for i, d := range few {
		wrong := ""
		if got[i] != tried.Target[i] {
			wrong = fmt.Sprintf("   (it is %s)", tried.Target[i])
		}
		s.print("  %-22s -> %s%s\n", d, got[i], wrong)
	}
	s.print("\n%.1f %% of the dates it has not seen are right\n", 100*l.scores[len(l.scores)-1])
	if err := s.draw([]picture.Panel{lossPanel(l)}); err != nil {
		return err
	}
	return s.keep(r.Net)
}

// unpadded is a word without the letters P that make all words of this task five long.
func unpadded(w string) string { return strings.TrimRight(w, "P") }

// unseen returns the pairs whose source is not among others.
func unseen(p, others *text.Parallel) *text.Parallel {
	seen, out := map[string]bool{}, new(text.Parallel)
	for _, line := range others.Source {
		seen[line] = true
	}
	for i, line := range p.Source {
		if !seen[line] {
			seen[line] = true
			out.Source, out.Target = append(out.Source, line), append(out.Target, p.Target[i])
		}
	}
	return out
}

package writing

import (
	"cmp"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// Beer is the smallest translator: one sentence, two simple RNNs and a matrix between
// their states.
var Beer = stage.Demo{Name: "beer", About: "ich mochte ein bier: one sentence, two RNNs and attention between them", Seconds: 0.1, Act: beer{}, Next: "--blind"}

// drinker is the network, and the words on both sides.
type drinker struct {
	Net            *attention.Luong
	source, target *text.Words
}

func newDrinker(s *stage.Stage, p *text.Parallel) (*drinker, error) {
	const hidden = 128
	source, err := text.NewWords(p.Source, 1, false)
	if err != nil {
		return nil, err
	}
	target, err := text.NewWords(p.Target, 1, false)
	if err != nil {
		return nil, err
	}
	score := &attention.Bilinear{Key: hidden, Query: hidden}
	d := &drinker{source: source, target: target, Net: &attention.Luong{
		Source: source.Len(), Target: target.Len(), Begin: text.Begin, Embed: hidden, Hidden: hidden, Dropout: 0.5,
		Encoder: &sequence.RNN{In: hidden, Hidden: hidden}, Decoder: &sequence.RNN{In: hidden, Hidden: hidden},
		Align: &attention.Content{Score: score},
	}}
	rng := s.RNG("weights")
	d.Net.Init(rng)
	score.W.Value.Normal(rng, 0, 1)
	return d, nil
}

// say is what becomes of lines.
func (d *drinker) say(lines []string) (string, error) {
	found, err := decode.Greedy{}.Run(searchOf(d.Net, text.EncodeLines(d.source, lines), 8))
	if err != nil {
		return "", err
	}
	return d.target.Decode(found[0].Tokens), nil
}

// beer are the flags of Beer.
type beer struct {
	Blind bool `help:"The program as it is often given: one-hot words, logits of [d ‖ c] without a tanh, and a decoder that is fed P P P P P when it is tried."`
}

// Run trains the network, and shows where each word looks.
func (f beer) Run(s *stage.Stage) error {
	if f.Blind {
		return runBlindBeer(s)
	}
	p := &text.Parallel{Source: []string{"ich mochte ein bier"}, Target: []string{"i want a beer"}}
	d, err := newDrinker(s, p)
	if err != nil {
		return err
	}
	pairs := p.Encode(d.source, d.target)
	s.Say("A simple RNN reads %q, and another learns to write %q. Each state of the second attends to the states of the first, through a matrix.", p.Source[0], p.Target[0])
	var got string
	l := &stage.Training{
		Stage: s, Optimiser: &train.Adam{LR: 1e-3}, Epochs: s.EpochsOr(200), Batches: whole, Every: 20,
		Loss: func(t *grad.Tape, _ []int32) *grad.Var { return taughtLoss(d.Net, t, pairs, stage.Every(1)) },
		Score: func() (float64, error) {
			got, err = d.say(p.Source)
			return float64(matches([]string{got}, p.Target)), err
		}, ScoreName: "right",
	}
	if err := l.Run(); err != nil {
		return err
	}
	s.Result(map[string]any{"right": stage.Last(l.Scores), "loss": stage.Last(l.Losses), "said": got})
	s.Print("\n  %s -> %s\n\n", p.Source[0], cmp.Or(got, "(nothing)"))
	h := alignmentPanel("where each word looks", alignments(d.Net, pairs)[0], strings.Fields(p.Source[0]), append(strings.Fields(p.Target[0]), "(end)"))
	s.Heat(h)
	if stage.Last(l.Scores) == 1 {
		s.Say("\nA single sentence cannot teach which word means which: any distinct rows of attention will do.")
	} else {
		s.Say("\nIt does not write the sentence yet.")
	}
	s.Draw([]picture.Panel{stage.LossPanel(l), h})
	return s.Keep(d.Net)
}

// runBlindBeer trains the program as it is often given.
func runBlindBeer(s *stage.Stage) error {
	p := &text.Parallel{Source: []string{"ich mochte ein bier P"}, Target: []string{"i want a beer"}}
	words, err := text.NewWords(append(p.Source, p.Target...), 1, true)
	if err != nil {
		return err
	}
	net, pairs, pad := newPlainPair(s.RNG("weights"), words.Len(), true), p.Encode(words, words), words.Encode("P")[0]
	s.Say("A simple RNN reads %q, a word one of %d numbers that is 1; another begins where it has ended, and learns to write %q. The words are chosen by [d ‖ c]·out, with nothing between. When it is tried it is fed P five times, and so writes from its state alone.", p.Source[0], words.Len(), p.Target[0])
	said := func(blind int32) string { return words.Decode(net.write(pairs.Source, 5, blind)[0]) }
	l := &stage.Training{
		Stage: s, Optimiser: &train.Adam{LR: 1e-3}, Epochs: s.EpochsOr(200), Batches: whole, Every: 20,
		Loss:  func(t *grad.Tape, _ []int32) *grad.Var { return taughtLoss(net, t, pairs, stage.Every(1)) },
		Score: func() (float64, error) { return float64(matches([]string{said(pad)}, p.Target)), nil }, ScoreName: "right",
	}
	if err := l.Run(); err != nil {
		return err
	}
	blind, greedy := said(pad), said(blindNot)
	s.Result(map[string]any{"right": stage.Last(l.Scores), "greedy": matches([]string{greedy}, p.Target), "loss": stage.Last(l.Losses), "said": blind})
	s.Print("\n  %s -> %s   fed P P P P P\n  %*s -> %s   fed what it has written\n\n", p.Source[0], cmp.Or(blind, "(nothing)"), len(p.Source[0]), "", cmp.Or(greedy, "(nothing)"))
	b := pairs.Batch(stage.Every(1))
	_, weights := net.look(grad.NewEval(), b.Source.Graph, b.Source.Tokens, b.Input.Graph, b.Input.Tokens)
	h := &picture.Heat{Title: "where each word looks", Across: "read", Down: "written", Columns: strings.Fields(p.Source[0]), Rows: append(strings.Fields(p.Target[0]), "(end)"), Top: 1, Values: weights}
	s.Heat(h)
	s.Draw([]picture.Panel{stage.LossPanel(l), h})
	return s.Keep(net)
}

package demo

import (
	"cmp"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// beer is the smallest translator: one sentence, two simple RNNs and a matrix between
// their states.
var beer = Demo{Name: "beer", About: "ich mochte ein bier: one sentence, two RNNs and attention between them", Seconds: 0.1, Run: runBeer}

// drinker is the network, and the words on both sides.
type drinker struct {
	Net            *attention.Luong
	source, target *text.Words
}

func newDrinker(s *Stage, p *text.Parallel) (*drinker, error) {
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
	rng := s.rng("weights")
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

func runBeer(s *Stage) error {
	p := &text.Parallel{Source: []string{"ich mochte ein bier"}, Target: []string{"i want a beer"}}
	d, err := newDrinker(s, p)
	if err != nil {
		return err
	}
	pairs := p.Encode(d.source, d.target)
	s.say("A simple RNN reads %q, and another learns to write %q. Each state of the second attends to the states of the first, through a matrix.", p.Source[0], p.Target[0])
	var failed error
	var got string
	l := &training{
		Stage: s, optimiser: &train.Adam{LR: 1e-3}, epochs: s.epochs(200), batches: whole, every: 20,
		loss: func(t *grad.Tape, _ []int32) *grad.Var { return taughtLoss(d.Net, t, pairs, every(1)) },
		score: func() (float64, string) {
			got, failed = d.say(p.Source)
			if got == p.Target[0] {
				return 1, "right"
			}
			return 0, "right"
		},
	}
	if err := l.run(); err != nil || failed != nil {
		return cmp.Or(err, failed)
	}
	s.result(map[string]any{"right": l.scores[len(l.scores)-1], "loss": l.losses[len(l.losses)-1], "said": got})
	s.print("\n  %s -> %s\n\n", p.Source[0], cmp.Or(got, "(nothing)"))
	h := alignmentPanel("where each word looks", alignments(d.Net, pairs)[0], strings.Fields(p.Source[0]), append(strings.Fields(p.Target[0]), "(end)"))
	s.heat(h)
	if last(l.scores) == 1 {
		s.say("\nA single sentence cannot teach which word means which: any distinct rows of attention will do.")
	} else {
		s.say("\nIt does not write the sentence yet.")
	}
	if err := s.draw([]picture.Panel{lossPanel(l), h}); err != nil {
		return err
	}
	return s.keep(d.Net)
}

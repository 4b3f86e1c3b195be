package demo

import (
	"cmp"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// multi30k translates short captions of photographs from German: an RNN Encoder–Decoder
// without attention, so that all of a sentence has to go through one vector.
var multi30k = Demo{Name: "multi30k", About: "German captions in English, by an encoder–decoder without attention", Data: "multi30k", Seconds: 42, Run: runMulti30k}

// translationLongest is how many words the captions have at most.
const translationLongest = 10

// translator is an encoder–decoder and the words on both sides.
type translator struct {
	Net            taught
	source, target *text.Words
}

// short returns the pairs of captions that have at most ten words on both sides.
func (r *translator) short(p *text.Parallel, rows []int32) *text.Parallel {
	out := new(text.Parallel)
	for _, i := range rows {
		a, b := r.source.Split(p.Source[i]), r.target.Split(p.Target[i])
		if max(len(a), len(b)) <= translationLongest {
			out.Source, out.Target = append(out.Source, strings.Join(a, " ")), append(out.Target, strings.Join(b, " "))
		}
	}
	return out
}

// translate returns the likeliest of what a beam of five finds for each line. It does not
// say that it does not know a word.
func (r *translator) translate(lines []string) ([]string, error) {
	search := searchOf(r.Net, text.EncodeLines(r.source, lines), 2*translationLongest)
	search.Forbid = func(_ *decode.Live, _ int, forbidden []bool) {
		forbidden[text.Unknown], forbidden[text.Begin] = true, true
	}
	found, err := decode.Beam{Width: 5, Alpha: 1}.Run(search)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(lines))
	for i, f := range found {
		out[i] = r.target.Decode(f[0].Tokens)
	}
	return out, nil
}

// bleu scores translations of all sources.
func (r *translator) bleu(p *text.Parallel) (train.BLEUScore, error) {
	got, err := r.translate(p.Source)
	if err != nil {
		return train.BLEUScore{}, err
	}
	return train.BLEU{Tokenised: true}.Score(got, p.Target)
}

// newTranslator returns the captions that are learnt and tried, and what numbers their
// words. It has no network yet.
func newTranslator(s *Stage, folder string) (r *translator, learnt, tried *text.Parallel, err error) {
	all, _, tests, err := text.ReadMulti30k(folder)
	if err != nil {
		return nil, nil, nil, err
	}
	r = &translator{source: new(text.Words), target: new(text.Words)} // which split, but number nothing yet
	learnt, tried = r.short(all, s.few(len(all.Source))), r.short(tests, s.few(len(tests.Source)))
	if err := s.enough(folder, len(learnt.Source), len(tried.Source)); err != nil {
		return nil, nil, nil, err
	}
	if r.source, err = text.NewWords(learnt.Source, 2, false); err == nil {
		r.target, err = text.NewWords(learnt.Target, 2, false)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return r, learnt, tried, nil
}

func runMulti30k(s *Stage) error {
	folder, err := s.folder()
	if err != nil {
		return err
	}
	r, learnt, tried, err := newTranslator(s, folder)
	if err != nil {
		return err
	}
	net := &sequence.EncoderDecoder{Source: r.source.Len(), Target: r.target.Len(), Begin: text.Begin, Embed: 128, Hidden: 256}
	net.Init(s.rng("weights"))
	r.Net = net
	s.say("%d captions of ten words or fewer, and %d to try; %d German words and %d English ones. A GRU reads a caption into 256 numbers, and another writes from these.",
		len(learnt.Source), len(tried.Source), r.source.Len()-int(text.First), r.target.Len()-int(text.First))
	return s.teach(r, learnt, tried, lesson{epochs: 6, rate: 1e-3}, s.translations)
}

// lesson is how long a translator learns, and at which rate.
type lesson struct {
	epochs int
	rate   float64
}

// teach trains a translator, and says how good it is. show prints some translations, and
// returns what else there is to draw and to say.
func (s *Stage) teach(r *translator, learnt, tried *text.Parallel, how lesson, show func(*translator, *text.Parallel) ([]picture.Panel, map[string]any, error)) error {
	pairs, tests := learnt.Encode(r.source, r.target), tried.Encode(r.source, r.target)
	var failed error
	var last train.BLEUScore
	var perplexities []float64
	l := &training{
		Stage: s, optimiser: &train.Adam{LR: how.rate}, clip: 1, epochs: s.epochs(how.epochs),
		batches: s.byLength(pairs.Source.Lengths(), 64),
		loss:    func(t *grad.Tape, rows []int32) *grad.Var { return taughtLoss(r.Net, t, pairs, rows) },
		score: func() (float64, string) {
			cost := taughtLoss(r.Net, grad.NewEval(), tests, every(tests.Len()))
			perplexities = append(perplexities, train.Perplexity(float64(cost.Value().Data[0])))
			last, failed = r.bleu(tried)
			return last.Score, "test_bleu"
		},
	}
	if err := l.run(); err != nil || failed != nil {
		return cmp.Or(err, failed)
	}
	perplexity := perplexities[len(perplexities)-1]
	s.print("\n%s\nperplexity of a word %.1f\n\n", last, perplexity)
	panels, values, err := show(r, tried)
	if err != nil {
		return err
	}
	values["test_bleu"], values["test_perplexity"] = last.Score, perplexity
	s.result(values)
	rows := [][]picture.Panel{multi30kPanels(l, perplexities)}
	if panels != nil {
		rows = append(rows, panels)
	}
	if err := s.draw(rows...); err != nil {
		return err
	}
	return s.keep(r.Net)
}

// translations shows some beside those of people.
func (s *Stage) translations(r *translator, tried *text.Parallel) ([]picture.Panel, map[string]any, error) {
	some := tried.Source[:min(6, len(tried.Source))]
	got, err := r.translate(some)
	if err != nil {
		return nil, nil, err
	}
	s.say("Some captions, what the network makes of them, and in parentheses what people wrote, where that is something else:")
	s.print("\n")
	for i, line := range some {
		s.print("  %s\n    %s\n", line, cmp.Or(got[i], "(nothing)"))
		if got[i] != tried.Target[i] {
			s.print("    (%s)\n", tried.Target[i])
		}
	}
	s.print("\n")
	return nil, map[string]any{}, nil
}

// multi30kPanels show the loss of a word and the score of the translations.
func multi30kPanels(l *training, perplexities []float64) []picture.Panel {
	x := picture.Axis{Label: "epoch", Whole: true}
	return []picture.Panel{
		&picture.Chart{Title: "bits a word", X: x, Series: []picture.Series{
			curve("learnt", 0, bits(l.losses)), curve("tried", 1, bits(logs(perplexities))),
		}},
		&picture.Chart{Title: "BLEU of the translations", X: x, Y: picture.Axis{Label: "of 100"}, Series: []picture.Series{curve("", 2, l.scores)}},
	}
}

package writing

import (
	"cmp"
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// Multi30k translates short captions of photographs from German: an RNN Encoder–Decoder
// without attention, so that all of a sentence has to go through one vector.
var Multi30k = stage.Demo{Name: "multi30k", About: "German captions in English, by an encoder–decoder without attention", Data: "multi30k", Seconds: 42, Act: stage.Func(runMulti30k)}

// translationLongest is how many words the captions have at most.
const translationLongest = 10

// translator is an encoder–decoder and the words on both sides.
type translator struct {
	Net            taught
	source, target *text.Words
	longest        int       // words of a target, about
	of             [3]string // what is translated, and what the words on both sides are called
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
	search := searchOf(r.Net, text.EncodeLines(r.source, lines), 2*r.longest)
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
func newTranslator(s *stage.Stage, folder string) (r *translator, learnt, tried *text.Parallel, err error) {
	all, _, tests, err := text.LoadMulti30k(folder)
	if err != nil {
		return nil, nil, nil, err
	}
	r = &translator{source: new(text.Words), target: new(text.Words), longest: translationLongest, of: [3]string{"captions", "German", "English"}} // Words that split, but number nothing yet
	learnt, tried = r.short(all, s.Rows(len(all.Source))), r.short(tests, s.Rows(len(tests.Source)))
	if err := s.Enough(folder, len(learnt.Source), len(tried.Source)); err != nil {
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

func runMulti30k(s *stage.Stage) error {
	folder, err := s.Folder()
	if err != nil {
		return err
	}
	r, learnt, tried, err := newTranslator(s, folder)
	if err != nil {
		return err
	}
	net := &sequence.EncoderDecoder{Source: r.source.Len(), Target: r.target.Len(), Begin: text.Begin, Embed: 128, Hidden: 256}
	net.Init(s.RNG("weights"))
	r.Net = net
	s.Say("%d captions of ten words or fewer, and %d to try; %d German words and %d English ones. A GRU reads a caption into 256 numbers, and another writes from these.",
		len(learnt.Source), len(tried.Source), r.source.Len()-int(text.First), r.target.Len()-int(text.First))
	return teach(s, r, learnt, tried, lesson{epochs: 6, rate: 1e-3}, translations)
}

// lesson is how long a translator learns, and at which rate.
type lesson struct {
	epochs int
	rate   float64
}

// teach trains a translator, and says how good it is. show prints some translations, and
// returns what else there is to draw and to say.
func teach(s *stage.Stage, r *translator, learnt, tried *text.Parallel, how lesson, show func(*stage.Stage, *translator, *text.Parallel) ([]picture.Panel, map[string]any, error)) error {
	pairs, tests := learnt.Encode(r.source, r.target), tried.Encode(r.source, r.target)
	var bleu train.BLEUScore
	var perplexities []float64
	l := &stage.Training{
		Stage: s, Optimiser: &train.Adam{LR: how.rate}, Clip: 1, Epochs: s.EpochsOr(how.epochs),
		Batches: s.ByLength(pairs.Source.Lengths(), 64),
		Loss:    func(t *grad.Tape, rows []int32) *grad.Var { return taughtLoss(r.Net, t, pairs, rows) },
		Score: func() (_ float64, err error) {
			cost := taughtLoss(r.Net, grad.NewEval(), tests, stage.Every(tests.Len()))
			perplexities = append(perplexities, math.Exp(float64(cost.Value().Data[0])))
			bleu, err = r.bleu(tried)
			return bleu.Score, err
		}, ScoreName: "test_bleu",
	}
	if err := l.Run(); err != nil {
		return err
	}
	perplexity := stage.Last(perplexities)
	s.Print("\n%s\nperplexity of a word %.1f\n\n", bleu, perplexity)
	panels, values, err := show(s, r, tried)
	if err != nil {
		return err
	}
	values["test_bleu"], values["test_perplexity"] = bleu.Score, perplexity
	s.Result(values)
	rows := [][]picture.Panel{multi30kPanels(l, perplexities)}
	if panels != nil {
		rows = append(rows, panels)
	}
	s.Draw(rows...)
	return s.Keep(r.Net)
}

// translations shows some beside those of people.
func translations(s *stage.Stage, r *translator, tried *text.Parallel) ([]picture.Panel, map[string]any, error) {
	some := tried.Source[:min(6, len(tried.Source))]
	got, err := r.translate(some)
	if err != nil {
		return nil, nil, err
	}
	s.Say("Some %s, what the network makes of them, and in parentheses what people wrote, where that is something else:", r.of[0])
	s.Print("\n")
	for i, line := range some {
		s.Print("  %s\n    %s\n", line, cmp.Or(got[i], "(nothing)"))
		if got[i] != tried.Target[i] {
			s.Print("    (%s)\n", tried.Target[i])
		}
	}
	s.Print("\n")
	return nil, map[string]any{}, nil
}

// multi30kPanels show the loss of a word and the score of the translations.
func multi30kPanels(l *stage.Training, perplexities []float64) []picture.Panel {
	x := picture.Axis{Label: "epoch", Whole: true}
	return []picture.Panel{
		&picture.Chart{Title: "bits a word", X: x, Series: []picture.Series{
			stage.Curve("learnt", 0, bits(l.Losses)), stage.Curve("tried", 1, bits(logs(perplexities))),
		}},
		&picture.Chart{Title: "BLEU of the translations", X: x, Y: picture.Axis{Label: "of 100"}, Series: []picture.Series{stage.Curve("", 2, l.Scores)}},
	}
}

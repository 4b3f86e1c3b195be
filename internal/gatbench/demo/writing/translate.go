package writing

import (
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Translate does what Multi30k does with attention: at each English word RNNsearch looks
// back at all of the German ones.
var Translate = stage.Demo{Name: "translate", About: "German captions in English, with attention: where each word looks", Data: "multi30k", Seconds: 30, Act: translate{}}

// translate are the flags of Translate.
type translate struct {
	Train string `placeholder:"FILE" help:"Learn from this file instead of the captions: on each line a text, a tab and what it becomes. Example: gatbench demo translate --train mine.tsv --test others.tsv."`
	Test  string `placeholder:"FILE" help:"With --train: the texts to try, in the same form."`
}

// Check returns an error for files that cannot be read, or one without the other.
func (f translate) Check(written []cli.File) error {
	return stage.Files{Train: f.Train, Test: f.Test}.Check(written)
}

// Run trains the network and shows where it looks.
func (f translate) Run(s *stage.Stage) error {
	return translateTexts(s, stage.Files{Train: f.Train, Test: f.Test}, 1e-3, func(r *translator) attending {
		return searcher(r, &attention.Additive{Key: 256, Query: 128, Hidden: 128})
	}, "A GRU reads a text in both directions, 256 numbers a word; another writes, and at each word it takes a mean of these, weighted by how well each answers its state.")
}

// searcher is an RNNsearch between the words of r.
func searcher(r *translator, score attention.Score) *attention.RNNsearch {
	return &attention.RNNsearch{
		Source: r.source.Len(), Target: r.target.Len(), Begin: text.Begin,
		Embed: 128, Hidden: 128, Maxout: 128, ReadNew: true, Dropout: 0.3,
		Align: &attention.Content{Score: score},
	}
}

// Luong does the same in Luong's order: the decoder reads the last word and where it looked
// before, and then looks.
var Luong = stage.Demo{Name: "luong", About: "the same in Luong's order: the decoder reads a word, then looks", Data: "multi30k", Seconds: 22, Act: luong{}, Next: "--score scaled"}

// luong are the flags of Luong.
type luong struct {
	Score string `default:"concat" enum:"concat,additive,normed,general,scaled" placeholder:"NAME" help:"How well a word of the source answers: concat, a small network (the default); additive, the same as Bahdanau has it, and normed, with the length of its last vector apart; general, a matrix between the two, and scaled, the same times a number that is learnt."`
}

// luongKey and luongQuery are how wide the states are that are compared.
const luongKey, luongQuery = 256, 128

// score returns that of the name, and what it is.
func (f luong) score() (score attention.Score, about string) {
	const key, query, hidden = luongKey, luongQuery, 128
	switch f.Score {
	case "additive":
		return &attention.Additive{Key: key, Query: query, Hidden: hidden}, "Bahdanau's, that of a small network: tanh(k·W + q·U)·v"
	case "normed":
		return &attention.Additive{Key: key, Query: query, Hidden: hidden, Normed: true}, "Bahdanau's with the length of v apart, and a bias: tanh(k·W + q·U + b)·g·v/‖v‖"
	case "general":
		return &attention.Bilinear{Key: key, Query: query}, "Luong's general: k·W·q"
	case "scaled":
		return &attention.Bilinear{Key: key, Query: query, Scaled: true, Begin: 1 / math.Sqrt(query)}, "Luong's general times a number that is learnt, g·(k·W·q); g begins at 1/√128"
	}
	return &attention.Concat{Key: key, Query: query, Hidden: hidden}, "that of a small network"
}

// Run trains the network, and shows where each word looks.
func (f luong) Run(s *stage.Stage) error {
	score, about := f.score()
	return translateTexts(s, stage.Files{}, 3e-3, func(r *translator) attending {
		return looker(r, score)
	}, "A GRU reads a text in both directions; another reads the last word that it wrote and what it saw there, and then looks: the score is "+about+".")
}

// looker is a Luong between the words of r.
func looker(r *translator, score attention.Score) *attention.Luong {
	gru := func(in int) *sequence.GRU { return &sequence.GRU{In: in, Hidden: 128} }
	return &attention.Luong{
		Source: r.source.Len(), Target: r.target.Len(), Begin: text.Begin,
		Embed: 128, Hidden: 128, InputFeeding: true, Dropout: 0.2,
		Encoder: gru(128), Back: gru(128), Decoder: gru(256), Align: &attention.Content{Score: score},
	}
}

// translateTexts has a network learn to translate captions, or a user's texts, at a rate, and shows where it looks.
func translateTexts(s *stage.Stage, own stage.Files, rate float64, network func(*translator) attending, how string) error {
	read := func() (*translator, *text.Parallel, *text.Parallel, error) { return ownTranslator(s, own) }
	if own.Train == "" {
		folder, err := s.Folder()
		if err != nil {
			return err
		}
		read = func() (*translator, *text.Parallel, *text.Parallel, error) { return newTranslator(s, folder) }
	}
	r, learnt, tried, err := read()
	if err != nil {
		return err
	}
	net := network(r)
	net.Init(s.RNG("weights"))
	r.Net = net
	s.Say("%d %s of %d words or fewer, and %d to try; %d %s words and %d %s ones. %s",
		len(learnt.Source), r.of[0], r.longest, len(tried.Source), r.source.Len()-int(text.First), r.of[1], r.target.Len()-int(text.First), r.of[2], how)
	return teach(s, r, learnt, tried, lesson{epochs: 5, rate: rate}, lookedAt)
}

// lookedAt shows some translations, and of three where each word looked.
func lookedAt(s *stage.Stage, r *translator, tried *text.Parallel) ([]picture.Panel, map[string]any, error) {
	_, values, err := translations(s, r, tried)
	if err != nil {
		return nil, nil, err
	}
	net := r.Net.(attending)
	some := &text.Parallel{Source: tried.Source[:min(3, len(tried.Source))]}
	got, err := r.translate(some.Source)
	if err != nil {
		return nil, nil, err
	}
	some.Target = got
	var panels []picture.Panel
	for i, w := range alignments(net, some.Encode(r.source, r.target)) {
		h := alignmentPanel("", w, strings.Fields(some.Source[i]), append(strings.Fields(got[i]), "(end)"))
		s.Heat(h)
		s.Print("\n")
		panels = append(panels, h)
	}
	all := alignments(net, tried.Encode(r.source, r.target))
	share := diagonal(all, 2)
	values["diagonal"] = share
	s.Say("%.0f %% of the attention to the test %s is at most two words off the diagonal.", 100*share, r.of[0])
	return panels, values, nil
}

// diagonal is the share of the weights that is at most so many places off the diagonal.
func diagonal(all []*tensor.Dense, off int) float64 {
	on, sum := 0.0, 0.0
	for _, w := range all {
		for i := range w.Rows() {
			for j, v := range w.Row(i) {
				sum += float64(v)
				if i-j <= off && j-i <= off {
					on += float64(v)
				}
			}
		}
	}
	return on / max(sum, 1e-9)
}

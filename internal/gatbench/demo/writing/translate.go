package writing

import (
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Translate does what Multi30k does with attention: at each English word RNNsearch looks
// back at all of the German ones.
var Translate = stage.Demo{Name: "translate", About: "German captions in English, with attention: where each word looks", Data: "multi30k", Seconds: 30, Act: stage.Func(runCaptions)}

func runCaptions(s *stage.Stage) error {
	return translateCaptions(s, 1e-3, func(r *translator) attending {
		return searcher(r, &attention.Additive{Key: 256, Query: 128, Hidden: 128})
	}, "A GRU reads a caption in both directions, 256 numbers a word; another writes, and at each word it takes a mean of these, weighted by how well each answers its state.")
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
var Luong = stage.Demo{Name: "luong", About: "the same in Luong's order: the decoder reads a word, then looks", Data: "multi30k", Seconds: 22, Act: stage.Func(runLuong)}

func runLuong(s *stage.Stage) error {
	return translateCaptions(s, 3e-3, func(r *translator) attending {
		return looker(r, &attention.Concat{Key: 256, Query: 128, Hidden: 128})
	}, "A GRU reads a caption in both directions; another reads the last English word and what it saw there, and then looks: the score is that of a small network.")
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

// translateCaptions has a network learn to translate captions, at a rate, and shows where it looks.
func translateCaptions(s *stage.Stage, rate float64, network func(*translator) attending, how string) error {
	folder, err := s.Folder()
	if err != nil {
		return err
	}
	r, learnt, tried, err := newTranslator(s, folder)
	if err != nil {
		return err
	}
	net := network(r)
	net.Init(s.RNG("weights"))
	r.Net = net
	s.Say("%d captions of ten words or fewer, and %d to try; %d German words and %d English ones. %s",
		len(learnt.Source), len(tried.Source), r.source.Len()-int(text.First), r.target.Len()-int(text.First), how)
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
	s.Say("%.0f %% of the attention to the test captions is at most two words off the diagonal.", 100*share)
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

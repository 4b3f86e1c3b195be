package writing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Caption describes pictures, with things in them that it has never seen together, and shows where it looked.
var Caption = stage.Demo{Name: "caption", About: "pictures described in words: where each word looks", Aside: []string{"on_things"}, Seconds: 60, Act: caption{}, Next: "--unseen parts"}

// caption are the flags of Caption.
type caption struct {
	Unseen string `enum:"pairs,parts" default:"pairs" help:"What no picture that is learnt from has, and each one that is tested: pairs, a tenth of the pairs of things named one after the other, such as a red circle above a blue square, or parts, five of the twenty pairs of a colour and a form, such as red and circle. Default: pairs."`
}

// captionWidth is how wide the cells, the embeddings and the decoder's state are.
const captionWidth = 64

// describer is the network: three convolutions with pooling between them, and what is written of their cells.
type describer struct {
	Convs []*layers.Conv2D
	Place *grad.Param // what is added to each cell, so that it says where it is
	Net   *attention.ShowAttendTell

	words *text.Words
	grids map[int]grids // by the number of pictures
}

// grids are the graphs of some pictures: of each convolution, and of the pooling after it.
type grids struct{ conv, pool []*graph.Graph }

// cellSide is how many cells the last convolution has across and down: each is so many pixels.
const (
	cellPixels = 4
	cellSide   = sceneSide / cellPixels
)

func newDescriber(s *stage.Stage) (*describer, error) {
	words, err := text.NewWords([]string{captionWords()}, 1, false)
	if err != nil {
		return nil, err
	}
	d := &describer{words: words, grids: map[int]grids{}, Place: grad.NewParam(cellSide*cellSide, captionWidth)}
	rng := s.RNG("weights")
	for i, width := range []int{3, 16, 32} {
		c := &layers.Conv2D{In: width, Out: []int{16, 32, captionWidth}[i], Activation: grad.ReLU}
		c.Init(rng)
		d.Convs = append(d.Convs, c)
	}
	d.Place.Value.Normal(rng, 0, 0.5)
	d.Net = &attention.ShowAttendTell{
		Cell: captionWidth, Target: words.Len(), Begin: text.Begin, Embed: captionWidth, Hidden: captionWidth, Dropout: 0.2,
	}
	d.Net.Init(rng)
	return d, nil
}

// gridsOf returns the graphs of n pictures.
func (d *describer) gridsOf(n int) grids {
	if g, ok := d.grids[n]; ok {
		return g
	}
	var g grids
	batch := func(side int, w graph.Window) *graph.Graph {
		return graph.Batch(slices.Repeat([]*graph.Graph{graph.Windows(side, side, w)}, n)...)
	}
	side := sceneSide
	for i := range d.Convs {
		if i > 0 {
			g.pool = append(g.pool, batch(side, graph.Window{Size: 2, Stride: 2}))
			side /= 2
		}
		g.conv = append(g.conv, batch(side, graph.Window{Size: 3, Pad: 1}))
	}
	d.grids[n] = g
	return g
}

// cells returns what the convolutions make of pictures, and their graph.
func (d *describer) cells(t *grad.Tape, scenes []*scene) (*graph.Graph, *grad.Var) {
	pixels, place := tensor.New(len(scenes)*sceneSide*sceneSide, 3), make([]int32, len(scenes)*cellSide*cellSide)
	for i, s := range scenes {
		copy(pixels.Data[i*len(s.x.Data):], s.x.Data)
	}
	for i := range place {
		place[i] = int32(i % (cellSide * cellSide))
	}
	g, x := d.gridsOf(len(scenes)), grad.Const(pixels).Shift(-0.8).Scale(4) // the ground about nought
	for i, c := range d.Convs {
		if i > 0 {
			x = message.UpdateAll(g.pool[i-1], message.U(x), message.Max)
		}
		x = c.Forward(t, g.conv[i], x)
	}
	return g.conv[len(d.Convs)-1], x.Add(t.Use(d.Place).Rows(place))
}

// taught is what a decoder is fed of captions, and what it should say.
func (d *describer) taught(captions []string) (target *graph.Graph, fed, said []int32) {
	lengths := make([]int, len(captions))
	for i, c := range captions {
		words := d.words.Encode(c)
		lengths[i] = len(words) + 1
		fed = append(append(fed, text.Begin), words...)
		said = append(append(said, words...), text.End)
	}
	return graph.Chains(lengths...), fed, said
}

// loss is that of some pictures, with a little of the penalty of the paper.
func (d *describer) loss(t *grad.Tape, scenes []*scene) *grad.Var {
	captions := make([]string, len(scenes))
	for i, s := range scenes {
		captions[i] = s.caption()
	}
	target, fed, said := d.taught(captions)
	g, a := d.cells(t, scenes)
	y, look := d.Net.Apply(t, g, a, target, fed)
	return y.CrossEntropy(said).Add(d.Net.Penalty(look).Scale(1e-3))
}

// describe returns what is written of pictures, some hundred at a time.
func (d *describer) describe(scenes []*scene) ([]string, error) {
	var out []string
	for some := range slices.Chunk(scenes, 100) {
		t := grad.NewEval()
		g, a := d.cells(t, some)
		e := d.Net.Encode(t, g, a).Keep()
		found, err := decode.Greedy{}.Run(&decode.Search{
			Begin: slices.Repeat([]int32{text.Begin}, len(some)), End: text.End, Longest: []int{20}, State: d.Net.Start(t, e).Keep(),
			Step: func(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
				return d.Net.Step(t, e, attention.Live{Step: l.Step, Last: l.Last, Sentence: l.Sentence}, l.State)
			},
		})
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			out = append(out, d.words.Decode(f.Tokens))
		}
	}
	return out, nil
}

// right is the share of captions that are those of the pictures, to the word.
func right(got []string, scenes []*scene) float64 {
	n := 0
	for i, s := range scenes {
		if got[i] == s.caption() {
			n++
		}
	}
	return float64(n) / float64(max(1, len(scenes)))
}

// looks returns where each word of captions looked: of each picture a row of weights for each word, and for
// the end.
func (d *describer) looks(scenes []*scene, captions []string) []*tensor.Dense {
	target, fed, _ := d.taught(captions)
	t := grad.NewEval()
	g, a := d.cells(t, scenes)
	_, look := d.Net.Apply(t, g, a, target, fed)
	return look.Matrices()
}

// onThings is the share of the weights that lies on the place of the right thing, of the words that name its
// colour when the captions are right.
func (d *describer) onThings(scenes []*scene) float64 {
	captions := make([]string, len(scenes))
	for i, s := range scenes {
		captions[i] = s.caption()
	}
	on, all := 0.0, 0.0
	for i, w := range d.looks(scenes, captions) {
		k, things := 0, scenes[i].things
		for step, word := range strings.Fields(captions[i]) {
			if k < len(things) && word == hues[things[k].hue].name {
				on, all, k = on+byPlace(w.Row(step))[things[k].place], all+1, k+1
			}
		}
	}
	return on / max(1, all)
}

// Run trains the network and shows what it writes.
func (f caption) Run(s *stage.Stage) error {
	d, err := newDescriber(s)
	if err != nil {
		return err
	}
	u := novelty{f.Unseen == "parts"}
	s.Say("Pictures of %d×%d pixels show two or three things of %d colours and %d forms. %s in no picture that is learnt from, and in each one that is tested. Three convolutions make %d cells of a picture; an LSTM writes, and looks at the cells before each word.",
		sceneSide, sceneSide, len(hues), len(forms), u, cellSide*cellSide)
	tried, known := u.scenes(s, "test", 0, s.Count(1000), true), u.scenes(s, "test", 1, s.Count(1000), false)
	some := tried[:min(len(tried), 200)]
	epochs := s.EpochsOr(15)
	l := &stage.Training{
		Stage: s, Clip: 1, Epochs: epochs,
		Optimiser: &train.Adam{LR: 3e-3, Schedule: train.Cosine{Steps: s.Steps() * epochs, Min: 0.02}},
		Loss: func(t *grad.Tape, _ []int32) *grad.Var {
			return d.loss(t, u.scenes(s, "steps", t.Step(), s.Count(64), false))
		},
		Score: func() (float64, error) {
			got, err := d.describe(some)
			return right(got, some), err
		}, ScoreName: "right_of_200", Every: 3,
	}
	if err := l.Run(); err != nil {
		return err
	}
	return described(s, d, l, tried, known)
}

// described shows what is written of pictures.
func described(s *stage.Stage, d *describer, l *stage.Training, tried, known []*scene) error {
	got, err := d.describe(tried)
	if err != nil {
		return err
	}
	before, err := d.describe(known)
	if err != nil {
		return err
	}
	share, on := right(got, tried), d.onThings(tried[:min(len(tried), 100)])
	s.Result(map[string]any{"exact": share, "exact_known": right(before, known), "on_things": on, "loss": stage.Last(l.Losses)})
	s.Print("\nright to the word: %.1f %% of %d pictures with an unseen combination, %.1f %% of %d without\n", 100*share, len(tried), 100*right(before, known), len(known))
	s.Say("Words for a colour have %.0f %% of their attention on the place of the thing that they are of; the form is seen with the colour, so the word for it has less to look for. The network %s.\n", 100*on, stage.Verdict(share))
	shown := []int{0, min(1, len(got)-1)}
	for i := 2; i < len(got) && len(shown) == 2; i++ { // and the first that is wrong
		if right(got[i:i+1], tried[i:i+1]) == 0 {
			shown = append(shown, i)
		}
	}
	var panels []picture.Panel
	for _, i := range shown {
		p := newCaptionPanel(fmt.Sprintf("picture %d", i), tried[i], got[i], d.looks(tried[i:i+1], got[i:i+1])[0])
		note := ""
		if want := tried[i].caption(); got[i] != want {
			note = "(it is: " + want + ")"
		}
		s.Print("%s\n", strings.TrimSpace(fmt.Sprintf("picture %d: %s %s", i, got[i], note)))
		if i == 0 {
			s.Print("\n")
			s.Heat(p.Heat)
			s.Print("\n")
			s.Seen(p)
		}
		panels = append(panels, p)
	}
	panels = append(panels, stage.LossPanel(l))
	s.Draw(panels[:2], panels[2:])
	return s.Keep(d)
}

package reading

import (
	"fmt"
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/train"
)

// HAN reads a story as a document: words become sentences, and sentences the story, each by
// attention. Every word is read beside the question.
var HAN = stage.Demo{Name: "han", About: "where is Mary? Stories of bAbI, by attention over words and over sentences", Data: "babi", Aside: []string{"chosen"}, Seconds: 2.9, Act: han{}, Next: "--chain"}

// han are the flags of HAN.
type han struct {
	Chain bool `help:"Choose sentences by linear-chain attention: any number of them, each the likelier for what its neighbours are, in place of weights that sum to 1."`
}

// stories are questions about stories, in numbers.
type stories struct {
	questions []text.Question
	sentences text.Ragged // of all stories, one after the other, in words
	asked     text.Ragged // the words of each question
	offsets   []int       // the sentences of story i are those from offsets[i] to offsets[i+1]
	answers   []int32
}

// plainWords returns the words of a line of bAbI.
func plainWords(line string) string { return strings.ToLower(strings.Trim(line, ".? ")) }

func newStories(words, answers *text.Vocabulary, questions []text.Question) *stories {
	d := &stories{questions: questions, offsets: []int{0}}
	var lines, asked []string
	for _, q := range questions {
		for _, line := range q.Story {
			lines = append(lines, plainWords(line))
		}
		asked = append(asked, plainWords(q.Text))
		d.offsets = append(d.offsets, len(lines))
		d.answers = append(d.answers, answers.ID(q.Answer)-text.First)
	}
	d.sentences, d.asked = text.EncodeLines(words, lines), text.EncodeLines(words, asked)
	return d
}

// lengths is how many sentences each story has.
func (d *stories) lengths() []int {
	out := make([]int, len(d.questions))
	for i := range out {
		out[i] = d.offsets[i+1] - d.offsets[i]
	}
	return out
}

// storyBatch is some stories as graphs: words in sentences, sentences in stories.
type storyBatch struct {
	words, sentences *graph.Graph
	tokens           []int32     // of the words
	story            []int32     // of each word, the story it is in
	asked            *text.Batch // the questions
}

func (d *stories) batch(rows []int32) *storyBatch {
	b := &storyBatch{asked: d.asked.Batch(rows)}
	var lines []int32
	var lengths []int
	for k, i := range rows {
		for line := d.offsets[i]; line < d.offsets[i+1]; line++ {
			lines = append(lines, int32(line))
			for range d.sentences.Sequence(line) {
				b.story = append(b.story, int32(k))
			}
		}
		lengths = append(lengths, d.offsets[i+1]-d.offsets[i])
	}
	read := d.sentences.Batch(lines)
	b.words, b.tokens, b.sentences = read.Graph, read.Tokens, graph.Chains(lengths...)
	return b
}

// hanNet reads words, sentences and stories, and says a place.
type hanNet struct {
	Words *grad.Param `json:"-"` // a row a word
	Read  attention.Hierarchical
	Chain *chainReader `json:",omitempty"` // of sentences; nil: they are a tier of Read
	Out   layers.Linear
}

// chainReader reads the sentences of a story, and chooses some.
type chainReader struct {
	Body   attention.Body
	Theta  layers.Linear // the scores of a sentence that is not chosen, and of one that is
	Choose attention.ChainAttention
}

// forward returns a row for each story, and the probabilities of its sentences.
func (r *chainReader) forward(t *grad.Tape, g *graph.Graph, x *grad.Var) layers.Out {
	h := r.Body.Forward(t, g, x)
	return r.Choose.Forward(t, g, r.Theta.Forward(t, h), h)
}

func newHANNet(s *stage.Stage, words, places int, chain bool) *hanNet {
	const width, hidden = 32, 32
	tier := func(in int) attention.Tier {
		return attention.Tier{
			Body: &sequence.Stack{Layers: []sequence.Cell{&sequence.GRU{In: in, Hidden: hidden}}, Back: []sequence.Cell{&sequence.GRU{In: in, Hidden: hidden}}},
			Pool: &attention.AttentionPool{Score: &attention.Saliency{Key: 2 * hidden, Hidden: 50}},
		}
	}
	n := &hanNet{
		Words: grad.NewParam(words, width), Out: layers.Linear{In: 2 * hidden, Out: places},
		Read: attention.Hierarchical{Tiers: []attention.Tier{tier(2 * width), tier(2 * hidden)}},
	}
	if chain {
		n.Chain = &chainReader{Body: n.Read.Tiers[1].Body, Theta: layers.Linear{In: 2 * hidden, Out: 2}}
		n.Read.Tiers = n.Read.Tiers[:1]
	}
	rng := s.RNG("weights")
	n.Words.Value.Normal(rng, 0, 0.3)
	n.Read.Init(rng)
	if chain {
		n.Chain.Body.Init(rng)
		n.Chain.Theta.Init(rng)
		n.Chain.Choose.Init(rng)
	}
	n.Out.Init(rng)
	return n
}

// forward returns a row of scores for each story, and the weights of words and sentences.
func (n *hanNet) forward(t *grad.Tape, b *storyBatch) (*grad.Var, []message.Msg) {
	words := t.Use(n.Words)
	question := message.UpdateAll(graph.Membership(b.asked.Graph), message.CopyU(words.Rows(b.asked.Tokens)), message.Mean)
	x := grad.Concat(words.Rows(b.tokens), question.Rows(b.story)) // each word beside the question
	y, weights := n.Read.Forward(t, []*graph.Graph{b.words, b.sentences}[:len(n.Read.Tiers)], x)
	if n.Chain != nil {
		out := n.Chain.forward(t, b.sentences, y)
		y, weights = out.Y, append(weights, out.Attention)
	}
	return n.Out.Forward(t, y), weights
}

// how says how sentences become a story.
func (f han) how() string {
	if f.Chain {
		return "a chain of choices takes any number of these: what it chooses depends on the neighbours"
	}
	return "attention over these vectors gives one for the story"
}

// Run trains the network, and shows which sentences and words it reads.
func (f han) Run(s *stage.Stage) error {
	folder, err := s.Folder()
	if err != nil {
		return err
	}
	learnt, tried, err := text.LoadBAbI(folder, 1)
	if err != nil {
		return err
	}
	learnt, tried = learnt[:s.Count(len(learnt))], tried[:s.Count(len(tried))]
	if err := s.Enough(folder, len(learnt), len(tried)); err != nil {
		return err
	}
	words, answers, err := storyWords(learnt)
	if err != nil {
		return err
	}
	s.Say("%d questions such as %q about stories of up to ten sentences, and %d others to try. Attention over its words gives a vector for each sentence, and %s.", len(learnt), learnt[0].Text, len(tried), f.how())
	read, tests := newStories(words, answers, learnt), newStories(words, answers, tried)
	net, all := newHANNet(s, words.Len(), answers.Len()-int(text.First), f.Chain), tests.batch(stage.Every(len(tried)))
	l := &stage.Training{
		Stage: s, Optimiser: &train.Adam{LR: 3e-3}, Clip: 5, Epochs: s.EpochsOr(20), Every: 5,
		Batches: s.ByLength(read.lengths(), 32),
		Loss: func(t *grad.Tape, rows []int32) *grad.Var {
			y, _ := net.forward(t, read.batch(rows))
			labels := make([]int32, len(rows))
			for k, i := range rows {
				labels[k] = read.answers[i]
			}
			return y.CrossEntropy(labels)
		},
		Score: func() (float64, error) {
			y, _ := net.forward(grad.NewEval(), all)
			return train.Accuracy(y.Value(), tests.answers), nil
		}, ScoreName: "test_accuracy",
	}
	if err := l.Run(); err != nil {
		return err
	}
	accuracy := stage.Last(l.Scores)
	values := map[string]any{"test_accuracy": accuracy, "test_majority": train.Majority(tests.answers)}
	if f.Chain {
		values["chosen"] = net.chosen(all)
	}
	s.Result(values)
	s.Print("\ntest accuracy %.1f %%; always saying the commonest place would be right in %.1f %%\n\n", 100*accuracy, 100*train.Majority(tests.answers))
	var rows [][]picture.Panel
	for _, i := range net.worthReading(tests) {
		h := net.heat(tests, i, answers)
		s.Heat(h)
		s.Print("\n")
		rows = append(rows, []picture.Panel{h})
	}
	s.Draw(append(rows, []picture.Panel{stage.LossPanel(l)})...)
	return s.Keep(net)
}

// chosen is how many sentences of a story are chosen in the mean: the sum of their probabilities.
func (n *hanNet) chosen(b *storyBatch) float64 {
	_, weights := n.forward(grad.NewEval(), b)
	sum := 0.0
	for _, p := range message.ApplyEdges(graph.Membership(b.sentences), weights[1]).Value().Data {
		sum += float64(p)
	}
	return sum / float64(max(1, graph.Membership(b.sentences).NumDst()))
}

// storyWords numbers the words of stories and questions, and the answers.
func storyWords(questions []text.Question) (words, answers *text.Vocabulary, err error) {
	var lines, places [][]string
	for _, q := range questions {
		for _, line := range append([]string{q.Text}, q.Story...) {
			lines = append(lines, strings.Fields(plainWords(line)))
		}
		places = append(places, []string{q.Answer})
	}
	if words, err = text.NewVocabulary(lines, 1); err != nil {
		return nil, nil, err
	}
	answers, err = text.NewVocabulary(places, 1)
	return words, answers, err
}

// worthReading returns up to three stories of five to eight sentences that are about others at
// their end than about whom it is asked.
func (n *hanNet) worthReading(d *stories) []int32 {
	var out []int32
	for i, q := range d.questions {
		last := len(q.Story) - 1
		if len(q.Story) >= 5 && len(q.Story) <= 8 && int(q.Facts[0]) < last-1 && len(out) < 3 && (len(out) == 0 || i > int(out[len(out)-1])+100) {
			out = append(out, int32(i))
		}
	}
	if len(out) == 0 {
		out = []int32{0}
	}
	return out
}

// weightOf is what the number beside a sentence is.
func (n *hanNet) weightOf() string {
	if n.Chain != nil {
		return "the probability"
	}
	return "the weight"
}

// heat shows a story: the weight of each sentence, and of its words within it.
func (n *hanNet) heat(d *stories, i int32, places *text.Vocabulary) *picture.Heat {
	b := d.batch([]int32{i})
	y, msgs := n.forward(grad.NewEval(), b)
	word, sentence := message.ApplyEdges(graph.Membership(b.words), msgs[0]).Value(), message.ApplyEdges(graph.Membership(b.sentences), msgs[1]).Value()
	q := d.questions[i]
	said := places.Word(int32(order(y.Value().Row(0))[0]) + text.First)
	h := &picture.Heat{Top: 1, Across: n.weightOf() + " of a sentence, and its words", Title: fmt.Sprintf("%s  %s", q.Text, said)}
	if said != q.Answer {
		h.Title += fmt.Sprintf(" (it is %s)", q.Answer)
	}
	for k, line := range q.Story {
		p := float64(sentence.Data[k])
		values, cells := []float64{p}, []string{fmt.Sprintf("%.2f", p)}
		for j, w := range strings.Fields(plainWords(line)) {
			values = append(values, math.Sqrt(p)*float64(word.Data[b.words.NodeOffsets()[k]+j])) // words of a sentence that counts
			cells = append(cells, w)
		}
		h.Values, h.Words = append(h.Values, values), append(h.Words, cells)
	}
	return h
}

package demo

import (
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/train"
)

// selfatt says what a question asks for, as questions does, without a state that is carried
// along: every word looks at every word of its question.
var selfatt = Demo{Name: "selfatt", About: "what a question asks for (TREC), by self-attention; who looks at whom", Data: "trec", Seconds: 10, Run: runSelfAtt}

// The measures of the network.
const (
	selfattWidth = 64
	selfattHeads = 4
	selfattDrop  = 0.4 // of the words' rows, of what they make of each other, and of what is read
)

// selfattNet is a block of self-attention over words and their positions, and a mean.
type selfattNet struct {
	Words *grad.Param `json:"-"` // a row a word
	Block attention.EncoderBlock
	Out   layers.Linear
}

func newSelfAttNet(s *Stage, words, kinds int) *selfattNet {
	const d = selfattWidth
	n, rng := &selfattNet{
		Words: grad.NewParam(words, d),
		Block: attention.EncoderBlock{Block: attention.Block{Model: d, Heads: selfattHeads, Hidden: 2 * d, Drop: selfattDrop}},
		Out:   layers.Linear{In: d, Out: kinds},
	}, s.rng("weights")
	n.Words.Value.Normal(rng, 0, 0.3)
	n.Block.Init(rng)
	n.Out.Init(rng)
	return n
}

// forward returns a row of scores for each sentence, and the weights of its pairs of words.
func (n *selfattNet) forward(t *grad.Tape, g *graph.Graph, words []int32) (*grad.Var, message.Msg) {
	places := grad.Const(attention.Sinusoids(g.Positions(), selfattWidth)).Scale(0.3) // as large as words are
	x := t.Dropout(t.Use(n.Words).Rows(words).Add(places), selfattDrop)
	x, weights := n.Block.Apply(t, everyPair(g), x, message.Msg{})
	read := message.Readout(g, x, message.Mean)
	return n.Out.Forward(t, t.Dropout(read, selfattDrop)), weights
}

// everyPair is the graph in which all words of a chain look at each other.
func everyPair(chains *graph.Graph) *graph.Graph {
	ends := chains.NodeOffsets()
	members := make([]*graph.Graph, len(ends)-1)
	for i := range members {
		members[i] = graph.Complete(ends[i+1] - ends[i])
	}
	return graph.Batch(members...)
}

func runSelfAtt(s *Stage) error {
	learnt, tried, words, err := s.readQuestions()
	if err != nil {
		return err
	}
	s.say("%d questions of %d kinds, and %d others to try. Words look at each other with %d heads; where a word stands is added to what it is.",
		learnt.Len(), len(learnt.Classes), tried.Len(), selfattHeads)
	net := newSelfAttNet(s, words.Len(), len(learnt.Classes))
	read, tests := text.EncodeLines(words, learnt.Texts), text.EncodeLines(words, tried.Map(strings.ToLower).Texts)
	scores := func() *grad.Var {
		y, _ := net.forward(grad.NewEval(), tests.Graph(), tests.Tokens)
		return y
	}
	guess := func() *train.Confusion {
		return train.NewConfusion(scores().Value(), tried.Labels)
	}
	l := &training{
		Stage: s, optimiser: &train.Adam{LR: 1e-3}, clip: 5, epochs: s.epochs(12),
		batches: s.byLength(read.Lengths(), 32),
		loss: func(t *grad.Tape, rows []int32) *grad.Var {
			b := read.Batch(rows)
			y, _ := net.forward(t, b.Graph, b.Tokens)
			return y.CrossEntropy(learnt.Rows(rows).Labels)
		},
		score: func() (float64, string) { return guess().Accuracy(), "test_accuracy" },
	}
	if err := l.run(); err != nil {
		return err
	}
	c := guess()
	s.result(map[string]any{"test_accuracy": c.Accuracy(), "test_majority": train.Majority(tried.Labels), "kinds": learnt.Classes})
	s.questionsResult(c, tried, scores().Softmax())
	var panels []picture.Panel
	for _, line := range tried.Texts[:min(2, tried.Len())] {
		h := net.heat(words, line)
		s.print("\n")
		s.heat(h)
		panels = append(panels, h)
	}
	if err := s.draw(panels, []picture.Panel{confusionPanel(c, learnt.Classes), lossPanel(l)}); err != nil {
		return err
	}
	return s.keep(net)
}

// heat shows who looks at whom in a question: the mean of the heads.
func (n *selfattNet) heat(words *text.Vocabulary, line string) *picture.Heat {
	names := strings.Fields(line)
	tokens := words.Encode(strings.ToLower(line))
	g := graph.Chains(len(tokens))
	_, weights := n.forward(grad.NewEval(), g, tokens)
	pairs := everyPair(g)
	alpha := message.ApplyEdges(pairs, weights).Value()
	h := &picture.Heat{Title: line, Across: "at whom", Down: "who looks", Columns: names, Rows: names}
	for v := range names {
		row := make([]float64, len(names))
		for e, u := range pairs.Sources(v) {
			for head := range selfattHeads {
				row[u] += float64(alpha.Data[int(e)*selfattHeads+head]) / selfattHeads
			}
		}
		h.Values = append(h.Values, row)
	}
	return h
}

package demo

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// selfatt says what a question asks for, as questions does, without a state that is carried
// along: every word looks at every word of its question.
var selfatt = Demo{Name: "selfatt", About: "what a question asks for (TREC), by self-attention; who looks at whom", Data: "trec", Run: runSelfAtt}

// The measures of the network.
const (
	selfattWidth = 64
	selfattHeads = 4
)

// selfattNet is a block of self-attention over words and their positions, and a mean.
type selfattNet struct {
	Words         *grad.Param `json:"-"` // a row a word
	Q, K, V, Join layers.Linear
	Seen, Made    layers.LayerNorm
	Wide, Narrow  layers.Linear
	Out           layers.Linear
}

func newSelfAttNet(s *Stage, words, kinds int) *selfattNet {
	const d = selfattWidth
	square, rng := layers.Linear{In: d, Out: d}, s.rng(1)
	n := &selfattNet{
		Words: grad.NewParam(words, d), Q: square, K: square, V: square, Join: square,
		Seen: layers.LayerNorm{Width: d}, Made: layers.LayerNorm{Width: d},
		Wide: layers.Linear{In: d, Out: 2 * d}, Narrow: layers.Linear{In: 2 * d, Out: d},
		Out: layers.Linear{In: d, Out: kinds},
	}
	n.Words.Value.Normal(rng, 0, 0.3)
	for _, l := range []interface{ Init(rng *rand.Rand) }{&n.Q, &n.K, &n.V, &n.Join, &n.Seen, &n.Made, &n.Wide, &n.Narrow, &n.Out} {
		l.Init(rng)
	}
	return n
}

// forward returns a row of scores for each sentence, and the weights of its pairs of words.
func (n *selfattNet) forward(t *grad.Tape, g *graph.Graph, words []int32) (*grad.Var, message.Msg) {
	const dropout = 0.4
	x := t.Use(n.Words).Rows(words).Add(grad.Const(wavesOf(g.Positions(), selfattWidth)))
	x = t.Dropout(x, dropout)
	heads := func(l *layers.Linear) *grad.Var {
		return l.Forward(t, x).Reshape(-1, selfattHeads, selfattWidth/selfattHeads)
	}
	look := &message.Attention{Q: heads(&n.Q), K: heads(&n.K), V: heads(&n.V)}
	seen, weights := look.Apply(t, everyPair(g))
	x = n.Seen.Forward(t, x.Add(t.Dropout(n.Join.Forward(t, seen.Reshape(-1, selfattWidth)), dropout)))
	x = n.Made.Forward(t, x.Add(t.Dropout(n.Narrow.Forward(t, n.Wide.Forward(t, x).ReLU()), dropout)))
	read := message.UpdateAll(g.Membership(), message.CopyU(x), message.Mean)
	return n.Out.Forward(t, t.Dropout(read, dropout)), weights
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

// wavesOf returns sines and cosines of positions in turn, from fast to slow ones.
func wavesOf(positions []int32, width int) *tensor.Dense {
	x := tensor.New(len(positions), width)
	for i, p := range positions {
		for j := 0; j < width; j += 2 {
			sin, cos := math.Sincos(float64(p) / math.Pow(10000, float64(j)/float64(width)))
			x.Row(i)[j], x.Row(i)[j+1] = tensor.Float(0.3*sin), tensor.Float(0.3*cos)
		}
	}
	return x
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
		return train.NewConfusion(scores().Value(), tried.Labels, every(tried.Len()))
	}
	l := &training{
		Stage: s, optimiser: &train.Adam{LR: 1e-3}, clip: 5, epochs: s.epochs(12),
		batches: func(epoch int) [][]int32 { return text.ByLength(read.Lengths(), 32, s.Seed, epoch) },
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
	s.result(map[string]any{"test_accuracy": c.Accuracy(), "test_majority": train.Majority(tried.Labels, every(tried.Len())), "kinds": learnt.Classes})
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

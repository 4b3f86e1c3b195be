package reading

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/train"
)

// SelfAtt says what a question asks for, as Questions does, without a state that is carried
// along: every word looks at every word of its question.
var SelfAtt = stage.Demo{Name: "selfatt", About: "what a question asks for (TREC), by self-attention; who looks at whom", Data: "trec", Lower: []string{"apart"}, Aside: []string{"scores", "edges"}, Seconds: 10, Act: selfatt{}, Next: "--mask"}

// selfatt are the flags of SelfAtt.
type selfatt struct {
	Window    int    `default:"0" placeholder:"N" help:"Let a word look at those at most N places away alone. Default: 0, at all."`
	Positions string `default:"interleaved" enum:"interleaved,halves" placeholder:"NAME" help:"How the code of a place stands in its row: interleaved, sin and cos in turn (the default), or halves, all cosines before all sines, which is the same in another order."`
	Mask      bool   `help:"Show a graph of eight nodes instead, whose adjacency is the mask: GAT and self-attention by matrices with a mask, and by messages on the edges. It reads no data."`
}

// Check refuses what does not go together.
func (f selfatt) Check([]cli.File) error {
	switch {
	case f.Window < 0:
		return cli.Misuse("--window %d: it must be at least 1, or 0 for all words", f.Window)
	case f.Mask && (f.Window > 0 || f.Positions != "interleaved"):
		return cli.Misuse("--mask is of a graph, which has no places: leave out --window and --positions")
	}
	return nil
}

// The measures of the network.
const (
	selfattWidth = 64
	selfattHeads = 4
	selfattDrop  = 0.4 // of the words' rows, of what they make of each other, and of what is read
)

// selfattNet is a block of self-attention over words and their positions, and a mean.
type selfattNet struct {
	Window int  `json:",omitempty"` // 0: all
	Halves bool `json:",omitempty"` // all cosines before all sines

	Words *grad.Param `json:"-"` // a row a word
	Block attention.EncoderBlock
	Out   layers.Linear
}

func newSelfAttNet(s *stage.Stage, words, kinds int, f selfatt) *selfattNet {
	const d = selfattWidth
	n, rng := &selfattNet{
		Window: f.Window, Halves: f.Positions == "halves",
		Words: grad.NewParam(words, d),
		Block: attention.EncoderBlock{Block: attention.Block{Model: d, Heads: selfattHeads, Hidden: 2 * d, Drop: selfattDrop}},
		Out:   layers.Linear{In: d, Out: kinds},
	}, s.RNG("weights")
	n.Words.Value.Normal(rng, 0, 0.3)
	n.Block.Init(rng)
	n.Out.Init(rng)
	return n
}

// forward returns a row of scores for each sentence, and the weights of its pairs of words.
func (n *selfattNet) forward(t *grad.Tape, g *graph.Graph, words []int32) (*grad.Var, message.Msg) {
	code := attention.Sinusoids
	if n.Halves {
		code = attention.SinusoidHalves
	}
	places := grad.Const(code(g.Positions(), selfattWidth)).Scale(0.3) // as large as words are
	x := t.Dropout(t.Use(n.Words).Rows(words).Add(places), selfattDrop)
	x, weights := n.Block.Apply(t, n.pairs(g), x, message.Msg{})
	read := message.Readout(g, x, message.Mean)
	return n.Out.Forward(t, t.Dropout(read, selfattDrop)), weights
}

// pairs is the graph of the words of a chain that look at each other.
func (n *selfattNet) pairs(chains *graph.Graph) *graph.Graph {
	ends := chains.NodeOffsets()
	members := make([]*graph.Graph, len(ends)-1)
	for i := range members {
		if members[i] = graph.Complete(ends[i+1] - ends[i]); n.Window > 0 {
			members[i] = graph.Band(ends[i+1]-ends[i], n.Window)
		}
	}
	return graph.Batch(members...)
}

// Run trains the network, and shows who looks at whom.
func (f selfatt) Run(s *stage.Stage) error {
	if f.Mask {
		return runMask(s)
	}
	learnt, tried, words, err := questions{}.read(s)
	if err != nil {
		return err
	}
	far := ""
	if f.Window > 0 {
		far = fmt.Sprintf(" that are at most %d places away", f.Window)
	}
	s.Say("%d questions of %d kinds, and %d others to try. Words look at each other%s with %d heads; where a word stands is added to what it is.",
		learnt.Len(), len(learnt.Classes), tried.Len(), far, selfattHeads)
	net := newSelfAttNet(s, words.Len(), len(learnt.Classes), f)
	l := &stage.Training{Stage: s, Optimiser: &train.Adam{LR: 1e-3}, Clip: 5, Epochs: s.EpochsOr(12)}
	c, scores, err := labelling{learnt, tried.Map(strings.ToLower), words}.learn(l, 32, func(t *grad.Tape, g *graph.Graph, words []int32) *grad.Var {
		y, _ := net.forward(t, g, words)
		return y
	})
	if err != nil {
		return err
	}
	questionsResult(s, c, tried, scores.Softmax())
	var panels []picture.Panel
	for _, line := range tried.Texts[:min(2, tried.Len())] {
		h := net.heat(words, line)
		s.Print("\n")
		s.Heat(h)
		panels = append(panels, h)
	}
	s.Draw(panels, []picture.Panel{confusionPanel(c, learnt.Classes), stage.LossPanel(l)})
	return s.Keep(net)
}

// heat shows who looks at whom in a question: the mean of the heads.
func (n *selfattNet) heat(words *text.Vocabulary, line string) *picture.Heat {
	names := strings.Fields(line)
	tokens := words.Encode(strings.ToLower(line))
	g := graph.Chains(len(tokens))
	_, weights := n.forward(grad.NewEval(), g, tokens)
	pairs := n.pairs(g)
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

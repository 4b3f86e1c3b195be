package reading

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Sentiment says how a sentence about a film is meant: a binary Tree-LSTM reads it along its
// parse, from the words to the whole, and says at each phrase how that is meant. A child's
// place counts: "not" before "good" is another thing than behind it.
var Sentiment = stage.Demo{Name: "sentiment", About: "how a sentence and its phrases are meant (SST), by a binary Tree-LSTM", Data: "sst", Seconds: 10, Act: stage.Func(runSentiment)}

// sentimentNet reads trees, and says at each node one of five kinds, from very negative to
// very positive.
type sentimentNet struct {
	Words *grad.Param `json:"-"` // a row a word
	Tree  sequence.TreeLSTM
	Out   layers.Linear
}

const sentimentKinds = 5

func newSentimentNet(s *stage.Stage, words int) *sentimentNet {
	const in, hidden = 64, 64
	rng := s.RNG("weights")
	n := &sentimentNet{
		Words: grad.NewParam(words, in),
		Tree:  sequence.TreeLSTM{In: in, Hidden: hidden, Arity: 2},
		Out:   layers.Linear{In: hidden, Out: sentimentKinds},
	}
	n.Words.Value.Normal(rng, 0, 0.1)
	n.Tree.Init(rng)
	n.Out.Init(rng)
	return n
}

// forward returns a row of scores for each node.
func (n *sentimentNet) forward(t *grad.Tape, b *text.TreeBatch) *grad.Var {
	x := t.Use(n.Words).Embedding(b.Tokens, grad.NoLabel) // zeros where there is no word
	return n.Out.Forward(t, t.Dropout(n.Tree.Forward(t, b.Graph, x), 0.2))
}

// treebank is trees and the words that are known of them.
type treebank struct {
	trees []text.Tree
	words *text.Vocabulary
}

func (b *treebank) batch(rows []int32) (*text.TreeBatch, error) {
	some := make([]text.Tree, len(rows))
	for i, r := range rows {
		some[i] = b.trees[r]
	}
	return text.BatchTrees(some, b.words)
}

// sizes is how many nodes each tree has.
func (b *treebank) sizes() []int {
	out := make([]int, len(b.trees))
	for i, t := range b.trees {
		out[i] = t.Len()
	}
	return out
}

// sentimentScores are shares of whole sentences that are right: of five kinds, and of
// positive or negative where people found one of the two.
type sentimentScores struct{ five, two float64 }

func (n *sentimentNet) scores(b *text.TreeBatch) sentimentScores {
	return scoresOf(n.forward(grad.NewEval(), b).Softmax().Value(), b)
}

// scoresOf are those of the chances of each kind at each node. For two kinds a sentence that
// people found to be neither is left out, and what it may be, neither apart, is summed.
func scoresOf(p *tensor.Dense, b *text.TreeBatch) (s sentimentScores) {
	sides := 0
	for _, root := range b.Roots {
		row, label := p.Row(int(root)), b.Labels[root]
		if order(row)[0] == int(label) {
			s.five++
		}
		if label != 2 {
			sides++
			if (row[3]+row[4] > row[0]+row[1]) == (label > 2) {
				s.two++
			}
		}
	}
	s.five /= float64(max(1, len(b.Roots)))
	s.two /= float64(max(1, sides))
	return s
}

// binary returns an error if a node of trees has more than two children.
func binary(folder string, trees []text.Tree) error {
	for i, t := range trees {
		children := make([]int, t.Len())
		for _, p := range t.Parent {
			if p < 0 {
				continue
			}
			if children[p]++; children[p] > 2 {
				return fmt.Errorf("%s: tree %d, %s: node %d has three children; the trees of SST have two", folder, i+1, t, p)
			}
		}
	}
	return nil
}

func runSentiment(s *stage.Stage) error {
	folder, err := s.Folder()
	if err != nil {
		return err
	}
	learnt, _, tried, err := text.LoadSST(folder)
	if err != nil {
		return err
	}
	learnt, tried = learnt[:s.Count(len(learnt))], tried[:s.Count(len(tried))]
	if err := cmp.Or(s.Enough(folder, len(learnt), len(tried)), binary(folder, learnt), binary(folder, tried)); err != nil {
		return err
	}
	sentences := make([][]string, len(learnt))
	for i, t := range learnt {
		sentences[i] = t.Words
	}
	words, err := text.NewVocabulary(sentences, 2)
	if err != nil {
		return err
	}
	read, tests := &treebank{learnt, words}, &treebank{tried, words}
	all, err := tests.batch(stage.Every(len(tried)))
	if err != nil {
		return err
	}
	s.Say("%d sentences about films as trees, and %d to try. People have said of every phrase, the words and the whole too, how it is meant: −− very negative, − negative, 0 neither, + positive, ++ very positive.", len(learnt), len(tried))

	net := newSentimentNet(s, words.Len())
	var failed error // of a batch
	var last sentimentScores
	var twos []float64
	l := &stage.Training{
		Stage: s, Optimiser: &train.Adagrad{LR: 0.05, Groups: []train.Group{{Match: "Words", LR: 0.1}}}, Clip: 5, Epochs: s.EpochsOr(3),
		Batches: s.ByLength(read.sizes(), 25),
		Loss: func(t *grad.Tape, rows []int32) *grad.Var {
			b, err := read.batch(rows)
			if err != nil {
				failed = err
				return grad.Const(tensor.New(1, 1))
			}
			return net.forward(t, b).CrossEntropy(b.Labels)
		},
		Score: func() (float64, error) {
			last = net.scores(all)
			twos = append(twos, last.two)
			return last.five, failed
		}, ScoreName: "test_root5",
	}
	if err := l.Optimiser.Bind(net); err != nil {
		return err
	}
	if err := l.Run(); err != nil {
		return err
	}
	s.Result(map[string]any{"test_root5": last.five, "test_root2": last.two})
	s.Print("\n")
	s.Say("of the sentences to try %.1f %% are right of five kinds, and %.1f %% of positive or negative", 100*last.five, 100*last.two)
	s.Say("\nTwo sentences, with what the network says of each phrase, and in parentheses what people say where that is something else:")
	s.Print("\n")
	shown := net.worthSeeing(tests)
	for _, i := range shown {
		if err := showTree(s, net, tests, i); err != nil {
			return err
		}
	}
	panels, err := net.treePanels(tests, shown)
	if err != nil {
		return err
	}
	s.Draw(append(panels, sentimentPanel(l, twos)))
	return s.Keep(net)
}

// worthSeeing returns the two short sentences in which most phrases are meant otherwise
// than the whole, by people and by the network, of those of which the whole is right.
func (n *sentimentNet) worthSeeing(b *treebank) []int32 {
	var out []int32
	contrast := make([]int, len(b.trees))
	for i, t := range b.trees {
		if words := len(t.Words); words < 6 || words > 12 {
			continue
		}
		one, err := b.batch([]int32{int32(i)})
		if err != nil {
			continue
		}
		guess := n.guesses(one)
		if guess[0] != t.Labels[0] || guess[0] == 2 {
			continue
		}
		out = append(out, int32(i))
		for v, k := range guess {
			if k != 2 && t.Labels[v] != 2 && (k > 2) == (t.Labels[v] > 2) && (k > 2) != (guess[0] > 2) {
				contrast[i]++
			}
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int { return contrast[b] - contrast[a] })
	if len(out) == 0 && len(b.trees) > 0 {
		out = []int32{0}
	}
	return out[:min(2, len(out))]
}

// guesses returns the likeliest kind of each node.
func (n *sentimentNet) guesses(b *text.TreeBatch) []int32 {
	y := n.forward(grad.NewEval(), b).Value()
	out := make([]int32, y.Rows())
	for v := range out {
		out[v] = int32(order(y.Row(v))[0])
	}
	return out
}

// sentimentMarks are the kinds in signs.
var sentimentMarks = [sentimentKinds]string{"−−", "−", "0", "+", "++"}

// showTree prints a tree: of each node what the network says of it, and what people say
// where that is something else.
func showTree(s *stage.Stage, net *sentimentNet, b *treebank, row int32) error {
	one, err := b.batch([]int32{row})
	if err != nil {
		return err
	}
	t, guess := b.trees[row], net.guesses(one)
	words := treeWords(t)
	lastChild := make([]int32, t.Len())
	for v, p := range t.Parent {
		if p >= 0 {
			lastChild[p] = int32(v)
		}
	}
	prefix := make([]string, t.Len()) // of the lines below a node
	for v, p := range t.Parent {
		lead := ""
		switch {
		case p < 0:
		case lastChild[p] == int32(v):
			lead, prefix[v] = prefix[p]+"└─ ", prefix[p]+"   "
		default:
			lead, prefix[v] = prefix[p]+"├─ ", prefix[p]+"│  "
		}
		note := ""
		if guess[v] != t.Labels[v] {
			note = "   (people: " + sentimentMarks[t.Labels[v]] + ")"
		}
		text := ""
		switch {
		case p < 0:
			text = " " + strings.Join(t.Words, " ")
		case words[v] != "":
			text = " " + words[v]
		}
		s.Print("  %s%s%s%s\n", lead, sentimentMarks[guess[v]], text, note)
	}
	s.Print("\n")
	return nil
}

// treeWords returns the word of each node, of inner ones none.
func treeWords(t text.Tree) []string {
	out := make([]string, t.Len())
	for i, v := range t.Leaves {
		out[v] = t.Words[i]
	}
	return out
}

// treePanels draw the trees that are shown, each node in the colour of what the network
// expects it to mean.
func (n *sentimentNet) treePanels(b *treebank, rows []int32) ([]picture.Panel, error) {
	var out []picture.Panel
	for _, row := range rows {
		one, err := b.batch([]int32{row})
		if err != nil {
			return nil, err
		}
		t, p := b.trees[row], n.forward(grad.NewEval(), one).Softmax().Value()
		panel := &picture.Tree{Title: strings.Join(t.Words, " "), Parent: slices.Clone(t.Parent), Words: treeWords(t), Low: "negative", High: "positive"}
		for v, guess := range n.guesses(one) {
			mean := 0.0
			for k, q := range p.Row(v) {
				mean += float64(q) * float64(k-2) / 2
			}
			panel.Values, panel.Notes = append(panel.Values, mean), append(panel.Notes, sentimentMarks[guess])
		}
		out = append(out, panel)
	}
	return out, nil
}

// sentimentPanel shows both scores of each epoch.
func sentimentPanel(l *stage.Training, twos []float64) picture.Panel {
	return &picture.Chart{Title: "share of test sentences that are right", X: picture.Axis{Label: "epoch", Whole: true}, Series: []picture.Series{
		stage.Curve("of five kinds", 0, l.Scores), stage.Curve("positive or negative", 1, twos),
	}}
}

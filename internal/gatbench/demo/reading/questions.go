package reading

import (
	"cmp"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/train"
)

// questions says what a question asks for: an LSTM reads it in both directions, and the
// largest value of each of its numbers over all words says which of six kinds it is.
//
// AttPool reads the same states by attention with a query that is learnt, and shows which
// words it looks at.
var (
	Questions = stage.Demo{Name: "questions", About: "what a question asks for (TREC), by a bidirectional LSTM", Data: "trec", Seconds: 4.4, Act: questions{}, Next: "--readout mean"}
	AttPool   = stage.Demo{Name: "attpool", About: "the same, read by attention: the words that it looks at", Data: "trec", Seconds: 4.9, Act: stage.Func(func(s *stage.Stage) error { return questions{}.run(s, true) })}
)

// questions are the flags of Questions.
type questions struct {
	Readout string `default:"max" enum:"max,mean" placeholder:"NAME" help:"What is made of the states of all words: max, the largest of each of their numbers (the default), or mean."`
	Train   string `placeholder:"FILE" help:"Learn from this file instead of TREC: a label, a tab and a text on each line. Example: gatbench demo questions --train mine.tsv --test others.tsv."`
	Test    string `placeholder:"FILE" help:"With --train: the texts to try, in the same form."`
}

// Check returns an error for files that cannot be read, or one without the other.
func (f questions) Check(written []cli.File) error {
	return stage.Files{Train: f.Train, Test: f.Test}.Check(written)
}

// Run trains the network and shows what it takes questions for.
func (f questions) Run(s *stage.Stage) error { return f.run(s, false) }

// questionsNet reads words, and says a kind.
type questionsNet struct {
	Words *grad.Param `json:"-"` // a row a word
	LSTM  sequence.Stack
	Pool  *attention.AttentionPool `json:",omitempty"` // nil: the largest values
	Mean  bool                     `json:",omitempty"` // or means
	Out   layers.Linear
}

func newQuestionsNet(s *stage.Stage, words, kinds int, pool bool) *questionsNet {
	const in, hidden = 100, 64
	rng := s.RNG("weights")
	n := &questionsNet{
		Words: grad.NewParam(words, in),
		LSTM: sequence.Stack{
			Layers: []sequence.Cell{&sequence.LSTM{In: in, Hidden: hidden, ForgetBias: 1}},
			Back:   []sequence.Cell{&sequence.LSTM{In: in, Hidden: hidden, ForgetBias: 1}},
		},
		Out: layers.Linear{In: 2 * hidden, Out: kinds},
	}
	n.Words.Value.Normal(rng, 0, 0.3)
	n.LSTM.Init(rng)
	n.Out.Init(rng)
	if pool {
		n.Pool = &attention.AttentionPool{Score: &attention.Additive{Key: 2 * hidden, Query: hidden, Hidden: hidden}, Query: hidden}
		n.Pool.Init(rng)
	}
	return n
}

// forward returns a row of scores for each chain of words.
func (n *questionsNet) forward(t *grad.Tape, g *graph.Graph, words []int32) *grad.Var {
	const dropout = 0.5
	x := t.Dropout(t.Use(n.Words).Rows(words), dropout)
	h := n.LSTM.Forward(t, g, x)
	if n.Pool == nil {
		by := message.Max
		if n.Mean {
			by = message.Mean
		}
		read := message.UpdateAll(graph.Membership(g), message.CopyU(h), by)
		return n.Out.Forward(t, t.Dropout(read, dropout))
	}
	read := n.Pool.Apply(t, graph.Membership(g), layers.In{Src: h})
	return n.Out.Forward(t, t.Dropout(read.Y, dropout))
}

// heat shows how much is made of each word of some questions of which all words are known.
func (n *questionsNet) heat(words *text.Vocabulary, lines []string) *picture.Heat {
	h := &picture.Heat{Title: "what is made of each word", Across: "words of a question", Top: 1}
	for _, line := range lines {
		tokens := words.Encode(strings.ToLower(line))
		if len(h.Words) == 8 || len(tokens) > 9 || slices.Contains(tokens, text.Unknown) {
			continue
		}
		g, t := graph.Chains(len(tokens)), grad.NewEval()
		out := n.Pool.Apply(t, graph.Membership(g), layers.In{Src: n.LSTM.Forward(t, g, t.Use(n.Words).Rows(tokens))})
		row := make([]float64, len(tokens))
		for i, v := range message.ApplyEdges(graph.Membership(g), out.Attention).Value().Data {
			row[i] = float64(v)
		}
		h.Values, h.Words = append(h.Values, row), append(h.Words, strings.Fields(line))
	}
	return h
}

// read returns the questions to learn from, in small letters, those to try, and the
// words of the first.
func (f questions) read(s *stage.Stage) (learnt, tried *text.Labelled, words *text.Vocabulary, err error) {
	folder := f.Train
	if own := (ownFiles{stage.Files{Train: f.Train, Test: f.Test}}); own.Train != "" {
		if learnt, tried, err = own.labelled(); err != nil {
			return nil, nil, nil, err
		}
	} else {
		if folder, err = s.Folder(); err != nil {
			return nil, nil, nil, err
		}
		if learnt, tried, err = text.LoadTREC(folder); err != nil {
			return nil, nil, nil, err
		}
		learnt, tried = learnt.Coarse(), tried.Coarse()
	}
	learnt = learnt.Rows(s.Rows(learnt.Len())).Map(strings.ToLower)
	tried = tried.Rows(s.Rows(tried.Len()))
	if err := s.Enough(folder, learnt.Len(), tried.Len()); err != nil {
		return nil, nil, nil, err
	}
	words, err = vocabularyOf(learnt.Texts)
	return learnt, tried, words, err
}

func (f questions) run(s *stage.Stage, pool bool) error {
	learnt, tried, words, err := f.read(s)
	if err != nil {
		return err
	}
	s.Say("%d questions of %d kinds, such as %q, and %d others to try. Their %d words occur twice or more; every other is unknown.",
		learnt.Len(), len(learnt.Classes), tried.Texts[0], tried.Len(), words.Len()-int(text.First))

	net := newQuestionsNet(s, words.Len(), len(learnt.Classes), pool)
	net.Mean = f.Readout == "mean"
	l := &stage.Training{Stage: s, Optimiser: &train.Adam{LR: 2e-3}, Epochs: s.EpochsOr(8)}
	c, scores, err := labelling{learnt, tried.Map(strings.ToLower), words}.learn(l, 32, net.forward)
	if err != nil {
		return err
	}
	questionsResult(s, c, tried, scores.Softmax())
	panels := [][]picture.Panel{{confusionPanel(c, learnt.Classes), stage.LossPanel(l)}}
	if pool {
		h := net.heat(words, tried.Texts)
		s.Print("\n")
		s.Heat(h)
		panels = append(panels, []picture.Panel{h})
	}
	s.Draw(panels...)
	return s.Keep(net)
}

// vocabularyOf numbers the words between blanks that occur twice or more.
func vocabularyOf(lines []string) (*text.Vocabulary, error) {
	sentences := make([][]string, len(lines))
	for i, line := range lines {
		sentences[i] = strings.Fields(line)
	}
	return text.NewVocabulary(sentences, 2)
}

// kindNames are the kinds of TREC in words.
var kindNames = map[string]string{"ABBR": "abbreviation", "DESC": "description", "ENTY": "thing", "HUM": "person", "LOC": "place", "NUM": "number"}

// kindName is that of a kind in words, or as the data have it.
func kindName(class string) string { return cmp.Or(kindNames[class], class) }

// questionsResult shows the first question that is taken for each kind, those that are
// taken for the wrong one with a word, and how often that happens.
func questionsResult(s *stage.Stage, c *train.Confusion, tried *text.Labelled, p *grad.Var) {
	s.Result(map[string]any{"test_accuracy": c.Accuracy(), "test_majority": train.Majority(tried.Labels), "kinds": tried.Classes})
	s.Print("\ntest accuracy %.1f %%; always saying %s would be right in %.1f %%\n\n",
		100*c.Accuracy(), kindName(commonest(tried)), 100*train.Majority(tried.Labels))
	shown := make([]int, len(tried.Classes))
	s.Print("  %-12s %5s  %s\n", "asks for", "sure", "test question")
	for i, question := range tried.Texts {
		row := p.Value().Row(i)
		best := order(row)[0]
		if shown[best]++; shown[best] > 2 {
			continue
		}
		wrong := ""
		if int32(best) != tried.Labels[i] {
			wrong = "   (it is " + kindName(tried.Classes[tried.Labels[i]]) + ")"
		}
		s.Print("  %-12s %3.0f %%  %s%s\n", kindName(tried.Classes[best]), 100*row[best], question, wrong)
	}
	if s.Print("\nwhat is (down), and what it is taken for (across):\n\n"); !s.JSON {
		s.Out.Confusion(len(tried.Classes), tried.Classes, c)
	}
}

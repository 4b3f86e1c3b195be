package reading

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// Names guesses the language of a surname from its letters: a GRU, or another cell, reads
// them, and its last state says which of 18 languages it is. One that reads both ways has
// two last states: that of the last letter forwards, and that of the first backwards.
var Names = stage.Demo{Name: "names", About: "the language of a surname, by a GRU over its letters", Data: "names", Seconds: 1.2, Act: names{}, Next: "--cell bilstm"}

// names are the flags of Names.
type names struct {
	Cell  string `default:"gru" enum:"gru,rnn,lstm,bilstm" placeholder:"NAME" help:"The network: gru (the default), rnn, lstm or bilstm, an LSTM each way."`
	Train string `placeholder:"FILE" help:"Learn from this file instead of the surnames: a label, a tab and a name on each line. Example: gatbench demo names --train mine.tsv --test others.tsv."`
	Test  string `placeholder:"FILE" help:"With --train: the names to try, in the same form."`
}

// Check returns an error for files that cannot be read, or one without the other.
func (f names) Check(written []cli.File) error {
	return stage.Files{Train: f.Train, Test: f.Test}.Check(written)
}

// namesNet reads letters, and says a language.
type namesNet struct {
	Letters *grad.Param `json:"-"` // a row a letter
	Read    sequence.Stack
	Out     layers.Linear
}

// namesCell returns the cell of a name, for one direction.
func namesCell(name string) sequence.Cell {
	const in, hidden = 32, 64
	switch name {
	case "rnn":
		return &sequence.RNN{In: in, Hidden: hidden}
	case "lstm", "bilstm":
		return &sequence.LSTM{In: in, Hidden: hidden, ForgetBias: 1}
	}
	return &sequence.GRU{In: in, Hidden: hidden}
}

func newNamesNet(s *stage.Stage, cell string, letters, languages int) *namesNet {
	rng := s.RNG("weights")
	n := &namesNet{
		Letters: grad.NewParam(letters, 32),
		Read:    sequence.Stack{Layers: []sequence.Cell{namesCell(cell)}},
		Out:     layers.Linear{In: 64, Out: languages},
	}
	if cell == "bilstm" {
		n.Read.Back, n.Out.In = []sequence.Cell{namesCell(cell)}, 2*64
	}
	n.Letters.Value.Normal(rng, 0, 1)
	n.Read.Init(rng)
	n.Out.Init(rng)
	return n
}

// forward returns a row of scores for each chain of letters.
func (n *namesNet) forward(t *grad.Tape, g *graph.Graph, letters []int32) *grad.Var {
	_, states := n.Read.ForwardFrom(t, g, t.Use(n.Letters).Rows(letters), nil)
	last := states[0][0].Rows(g.Sinks())
	if len(states) > 1 {
		last = grad.Concat(last, states[1][0].Rows(g.Roots()))
	}
	return n.Out.Forward(t, last)
}

// read returns the names to learn and those to try.
func (f names) read(s *stage.Stage) (learnt, tried *text.Labelled, err error) {
	if own := (ownFiles{stage.Files{Train: f.Train, Test: f.Test}}); own.Train != "" {
		if learnt, tried, err = own.labelled(); err != nil {
			return nil, nil, err
		}
		return learnt.Unique(), tried.Rows(s.Rows(tried.Len())), nil // with their accents
	}
	folder, err := s.Folder()
	if err != nil {
		return nil, nil, err
	}
	all, err := text.LoadNames(folder)
	if err != nil {
		return nil, nil, err
	}
	all = all.Map(text.Fold).Unique() // what stands twice would be in both parts
	learnt, tried = all.Split(0.1, s.Stream("split", 0))
	if tried.Len() == 0 || len(all.Classes) < 2 {
		return nil, nil, fmt.Errorf("demo names: %s has %d names of %d kinds, a kind a file; it takes ten names, and two kinds", folder, all.Len(), len(all.Classes))
	}
	return learnt, tried.Rows(s.Rows(tried.Len())), nil
}

// Run trains the network and shows which names it takes for which language.
func (f names) Run(s *stage.Stage) error {
	learnt, tried, err := f.read(s)
	if err != nil {
		return err
	}
	classes := learnt.Classes
	letters, err := text.NewCharacters(slices.Concat(learnt.Texts, tried.Texts), f.Train == "")
	if err != nil {
		return err
	}
	s.Say("%d names of %d kinds, %s; %d to learn from, and %d to try. There are %d different letters. A name is a chain of letters: a batch of names is one graph, and nothing is padded.",
		learnt.Len()+tried.Len(), len(classes), someOf(classes, 20), learnt.Len(), tried.Len(), letters.Len()-int(text.First))

	net := newNamesNet(s, f.Cell, letters.Len(), len(classes))
	l := &stage.Training{Stage: s, Optimiser: &train.Adam{LR: 3e-3}, Epochs: s.EpochsOr(4)}
	c, _, err := labelling{learnt, tried, letters}.learn(l, 64, net.forward)
	if err != nil {
		return err
	}
	s.Result(map[string]any{"cell": f.Cell, "test_accuracy": c.Accuracy(), "test_majority": train.Majority(tried.Labels), "kinds": classes})
	namesResult(s, c, tried, net, letters)
	s.Draw([]picture.Panel{confusionPanel(c, classes), stage.LossPanel(l)})
	return s.Keep(net)
}

// namesResult says what the network guesses, and which languages it confuses most.
func namesResult(s *stage.Stage, c *train.Confusion, tried *text.Labelled, net *namesNet, letters *text.Characters) {
	s.Print("\ntest accuracy %.1f %%; always saying %s would be right in %.1f %%\n\n", 100*c.Accuracy(), commonest(tried), 100*train.Majority(tried.Labels))
	shown := firstOfEach(tried, 8)
	r := text.EncodeLines(letters, shown.Texts)
	p := net.forward(grad.NewEval(), r.Graph(), r.Tokens).Softmax().Value()
	s.Print("  %-13s %-18s %-18s %s\n", "a test name", "is taken for", "or else for", "it is")
	for i, name := range shown.Texts {
		row, best := p.Row(i), order(p.Row(i))
		s.Print("  %-13s %-11s %4.0f %%  %-11s %4.0f %%  %s\n", name, tried.Classes[best[0]], 100*row[best[0]], tried.Classes[best[1]], 100*row[best[1]], tried.Classes[shown.Labels[i]])
	}
	s.Print("\nmost often confused: %s\n", confused(c, tried.Classes))
}

// firstOfEach returns the first text of each of so many classes, as they come.
func firstOfEach(l *text.Labelled, most int) *text.Labelled {
	var rows []int32
	seen := map[int32]bool{}
	for i, class := range l.Labels {
		if !seen[class] && len(rows) < most {
			seen[class] = true
			rows = append(rows, int32(i))
		}
	}
	return l.Rows(rows)
}

// someOf names at most so many of names.
func someOf(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and others"
}

// order returns the places of a row, the largest first.
func order[T float32 | float64](row []T) []int {
	out := make([]int, len(row))
	for i := range out {
		out[i] = i
	}
	sort.SliceStable(out, func(a, b int) bool { return row[out[a]] > row[out[b]] })
	return out
}

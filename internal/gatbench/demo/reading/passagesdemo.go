package reading

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/train"
)

// Reading points at the words of a text that answer a question, and shows how text and question look at each other.
// Beside it stands a network that has no attention between them.
var Reading = stage.Demo{Name: "reading", About: "the words of a text that answer a question are pointed at, by attention both ways", Asked: "babi", Seconds: 20, Act: readingFlags{}, Next: "--net coattention", Aside: []string{"plain"}}

// readingFlags are the flags of Reading.
type readingFlags struct {
	Net   string `default:"bidaf" enum:"bidaf,coattention,plain" placeholder:"NAME" help:"The network: bidaf, which lets attention flow both ways (the default), coattention, whose pointer corrects itself, or plain, which has no attention. Beside the first two stands plain."`
	Tasks []int  `placeholder:"N" help:"Read the stories of these tasks of bAbI, from 1 to 20, a network each. Their answers must be words of the story, as in 1 to 3. Default: none; documents are drawn."`
	Train string `placeholder:"FILE" help:"Read this file in the form of bAbI instead: a line number, a blank and a statement a line, or a question, its answer and the numbers of the lines that it follows from, with tabs between them. Example: gatbench demo reading --train mine.txt --test others.txt."`
	Test  string `placeholder:"FILE" help:"With --train: the questions to try, in the same form."`
}

// Check returns an error for flags that do not go together, or files that cannot be read.
func (f readingFlags) Check(written []cli.File) error {
	if slices.ContainsFunc(f.Tasks, func(n int) bool { return n < 1 || n > 20 }) {
		return cli.Misuse("--tasks %v: bAbI has the tasks 1 to 20", f.Tasks)
	}
	if len(f.Tasks) > 0 && f.Train != "" {
		return cli.Misuse("--train and --tasks name different stories: leave one of them out")
	}
	return stage.Files{Train: f.Train, Test: f.Test}.Check(written)
}

// passageTask is passages to learn from and to try.
type passageTask struct {
	name          string  // in the result; empty: there is one
	rate          float64 // of all networks that are compared
	words         *text.Vocabulary
	learn         func(step int) []passage // of drawn documents, those of a step; nil: learnt has them
	learnt, tried []passage
}

// The batches and rates of drawn documents and of stories.
const (
	passageBatchSize = 32
	passageSteps     = 4 // hundreds, for drawn documents
	passageEpochs    = 20
	passageRate      = 4e-3
	coattentionRate  = 1e-2 // its scalar products begin small
	passageTried     = 1000
)

// tasks returns what is to be learnt.
func (f readingFlags) tasks(s *stage.Stage) ([]*passageTask, error) {
	if f.Train != "" {
		learnt, tried, err := ownFiles{stage.Files{Train: f.Train, Test: f.Test}}.questions(s)
		if err != nil {
			return nil, err
		}
		k, err := storyTask(s, "", f.Train, learnt, f.Test, tried)
		return []*passageTask{k}, err
	}
	if len(f.Tasks) == 0 {
		k, err := drawnTask(s)
		return []*passageTask{k}, err
	}
	folder, err := text.Find(s.Data, Reading.Asked)
	if err != nil {
		return nil, fmt.Errorf("demo reading: %w", err)
	}
	var out []*passageTask
	for _, task := range f.Tasks {
		learnt, tried, err := text.LoadBAbI(folder, task)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("task_%d", task)
		if err := s.Enough(folder, len(learnt), len(tried)); err != nil {
			return nil, err
		}
		of := fmt.Sprintf("task %d of %s", task, folder)
		k, err := storyTask(s, name, of, learnt[:s.Count(len(learnt))], of, tried[:s.Count(len(tried))])
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// drawnTask is that of documents that each step draws.
func drawnTask(s *stage.Stage) (*passageTask, error) {
	k := &passageTask{learn: func(step int) []passage {
		return drawPassages(s.Stream("steps", uint64(step)), passageBatchSize)
	}, tried: drawPassages(s.Stream("test", 0), s.Count(passageTried))}
	var err error
	k.words, err = text.NewVocabulary(drawnVocabulary(), 1)
	return k, err
}

func drawPassages(seed uint64, n int) []passage {
	rng, out := rand.New(rand.NewPCG(seed, 0)), make([]passage, n)
	for i := range out {
		out[i] = drawPassage(rng)
	}
	return out
}

// storyTask is that of questions about stories.
func storyTask(s *stage.Stage, name, ofLearnt string, learnt []text.Question, ofTried string, tried []text.Question) (k *passageTask, err error) {
	k = &passageTask{name: name}
	if k.learnt, err = storyPassages(ofLearnt, learnt); err != nil {
		return nil, err
	}
	if k.tried, err = storyPassages(ofTried, tried); err != nil {
		return nil, err
	}
	var lines [][]string
	for _, p := range k.learnt {
		lines = append(lines, p.text, p.question)
	}
	k.words, err = text.NewVocabulary(lines, 1)
	return k, err
}

// training trains a network on a task.
func (k *passageTask) training(s *stage.Stage, n *passageNet, name string) *stage.Training {
	l := &stage.Training{Stage: s, Name: name, Clip: 5, ScoreName: "test_exact"}
	batch := func(ps []passage) *passageBatch {
		b, err := newPassageBatch(k.words, ps)
		if err != nil {
			panic(err) // none of them has no words
		}
		return b
	}
	l.Score = func() (float64, error) { return scorePassages(k.tried, k.answers(n, k.tried)).exact, nil }
	if k.learn != nil {
		step := 0
		l.Epochs, l.Every = s.EpochsOr(passageSteps), 2
		l.Optimiser = k.optimiser(l.Epochs * s.Steps())
		l.Loss = func(t *grad.Tape, _ []int32) *grad.Var {
			step++
			return n.loss(t, batch(k.learn(step)))
		}
		return l
	}
	lengths := make([]int, len(k.learnt))
	for i, p := range k.learnt {
		lengths[i] = len(p.text)
	}
	l.Epochs, l.Every, l.Batches = s.EpochsOr(passageEpochs), 5, s.ByLength(lengths, passageBatchSize)
	l.Optimiser = k.optimiser(l.Epochs * ((len(lengths) + passageBatchSize - 1) / passageBatchSize))
	l.Loss = func(t *grad.Tape, rows []int32) *grad.Var {
		some := make([]passage, len(rows))
		for j, i := range rows {
			some[j] = k.learnt[i]
		}
		return n.loss(t, batch(some))
	}
	return l
}

// optimiser slows down over so many steps.
func (k *passageTask) optimiser(steps int) train.Optimiser {
	return &train.Adam{LR: k.rate, Schedule: train.Cosine{Steps: steps, Min: 0.05}}
}

// answers points at the answers of passages, some at a time.
func (k *passageTask) answers(n *passageNet, ps []passage) []attention.Passage {
	var out []attention.Passage
	t := grad.NewEval()
	for some := range slices.Chunk(ps, 100) {
		t.ResetEval()
		b, err := newPassageBatch(k.words, some)
		if err != nil {
			panic(err)
		}
		out = append(out, n.forward(t, b).Best(b.Reading, 0)...)
	}
	return out
}

// Run trains the networks and shows where they look.
func (f readingFlags) Run(s *stage.Stage) error {
	tasks, err := f.tasks(s)
	if err != nil {
		return err
	}
	nets := []string{f.Net}
	if f.Net != "plain" {
		nets = append(nets, "plain")
	}
	exact, f1 := map[string]any{}, map[string]any{}
	var kept struct{ Nets []*passageNet }
	var rows [][]picture.Panel
	for _, k := range tasks {
		if k.rate = passageRate; f.Net == "coattention" {
			k.rate = coattentionRate
		}
		s.Say("%s", k.about())
		var trained []*stage.Training
		var shown *passageNet
		for _, name := range nets {
			n := newPassageNet(s, name, k.words.Len(), k.dropout())
			s.Print("%s\n", name)
			l := k.training(s, n, name)
			if err := l.Run(); err != nil {
				return err
			}
			c := scorePassages(k.tried, k.answers(n, k.tried))
			at := strings.Trim(name+"."+k.name, ".")
			exact[at], f1[at] = c.exact, c.f1
			s.Print("%s: %.1f %% of %d test answers are right to the word; F1 of the words %.1f %%\n\n", name, 100*c.exact, len(k.tried), 100*c.f1)
			trained, kept.Nets = append(trained, l), append(kept.Nets, n)
			if shown == nil {
				shown = n
			}
		}
		k.show(s, shown)
		panels := []picture.Panel{stage.LossPanel(trained...)}
		for _, h := range k.heats(shown, f.Net) {
			s.Heat(h)
			s.Print("\n")
			rows = append(rows, []picture.Panel{h})
		}
		rows = append(rows, panels)
	}
	s.Result(map[string]any{"net": f.Net, "test_exact": exact, "test_f1": f1})
	s.Draw(rows...)
	return s.Keep(&kept)
}

// dropout is for stories, which come again.
func (k *passageTask) dropout() float64 {
	if k.learn != nil {
		return 0
	}
	return 0.2
}

// about says what there is to learn.
func (k *passageTask) about() string {
	p := k.tried[0]
	if k.learn != nil {
		return fmt.Sprintf("A document tells who keeps what where, and a question asks for a place, a person or a colour, such as %q. Each step draws %d documents; %d others are to be tried.", strings.Join(p.question, " "), passageBatchSize, len(k.tried))
	}
	return fmt.Sprintf("%d questions about stories to learn from, such as %q, and %d to try. The answer is a word of the story.", len(k.learnt), strings.Join(p.question, " "), len(k.tried))
}

// show prints some test texts with the answer in brackets.
func (k *passageTask) show(s *stage.Stage, n *passageNet) {
	shown := 0
	for i, got := range k.answers(n, k.tried[:min(40, len(k.tried))]) {
		p := k.tried[i]
		if len(p.text) > 60 || shown == 3 {
			continue
		}
		shown++
		words := slices.Clone(p.text)
		words[got.First] = "[" + words[got.First]
		words[got.Last] += "]"
		wrong := ""
		if right := strings.Join(p.said(p.answer), " "); right != strings.Join(p.said(got), " ") {
			wrong = fmt.Sprintf(" (it is %s)", right)
		}
		s.Say("%s? %s%s", strings.Join(p.question, " "), strings.Join(words, " "), wrong)
		s.Print("\n")
	}
}

// heats shows how a short text and its question look at each other.
func (k *passageTask) heats(n *passageNet, name string) []*picture.Heat {
	if n.Plain != nil {
		return nil
	}
	best := 0
	for i, p := range k.tried {
		if len(p.text) < len(k.tried[best].text) {
			best = i
		}
	}
	p := k.tried[best]
	b, err := newPassageBatch(k.words, []passage{p})
	if err != nil {
		panic(err)
	}
	out := n.forward(grad.NewEval(), b)
	words, asked, looks := p.text, p.question, []string{"the question"}
	if name == "coattention" {
		words, asked = append(slices.Clip(words), "nothing"), append(slices.Clip(asked), "nothing")
		looks = asked
	}
	toText, toQuestion := out.ToText.Matrices()[0], out.ToQuestion.Matrices()[0]
	one := &picture.Heat{Title: "what each word of the text looks at", Down: "of the question", Across: "words of the text", Columns: words, Rows: asked, Top: 1}
	for j := range asked {
		row := make([]float64, len(words))
		for i := range row {
			row[i] = float64(toText.Row(i)[j])
		}
		one.Values = append(one.Values, row)
	}
	two := &picture.Heat{Title: "what the question looks at", Across: "words of the text", Columns: words, Rows: looks}
	for j := range looks {
		row := make([]float64, len(words))
		for i := range row {
			row[i] = float64(toQuestion.Row(j)[i])
		}
		two.Values = append(two.Values, row)
	}
	return []*picture.Heat{one, two}
}

package reading

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/train"
)

// BAbI answers questions of bAbI with an end-to-end memory network, and shows what each hop
// looks at. A training may end in a poor place, so a network is the best of three by its
// training loss, as in the paper, where it is the best of ten.
var BAbI = stage.Demo{Name: "babi", About: "where is the football? Questions about stories, by a memory network of three hops", Data: "babi", Seconds: 5.5, Act: babi{}, Next: "--no-times"}

// babi are the flags of BAbI.
type babi struct {
	Tasks   []int `default:"1,2" placeholder:"N" help:"The tasks of bAbI to learn, from 1 to 20. Default: 1,2."`
	Joint   bool  `help:"Train one network for all tasks, not one for each."`
	NoTimes bool  `name:"no-times" help:"Hide the order of the sentences."`

	Train string `placeholder:"FILE" help:"Learn from this file instead, in the form of bAbI: a line number, a blank and a statement a line, or a question, its answer and the numbers of the lines that it follows from, with tabs between them. Example: gatbench demo babi --train mine.txt --test others.txt."`
	Test  string `placeholder:"FILE" help:"With --train: the questions to try, in the same form."`
}

// Check returns an error for tasks that bAbI does not have, and for files that cannot be read.
func (f babi) Check(written []cli.File) error {
	if slices.ContainsFunc(f.Tasks, func(n int) bool { return n < 1 || n > 20 }) {
		return cli.Misuse("--tasks %v: bAbI has the tasks 1 to 20", f.Tasks)
	}
	return stage.Files{Train: f.Train, Test: f.Test}.Check(written)
}

// The settings of the paper.
const (
	babiTries  = 3
	babiEpochs = 100
	babiLinear = 20 // epochs before them, without the softmax of the hops and at half the rate
	babiRate   = 0.01
	babiHalve  = 25 // epochs until the rate is half
	babiBatch  = 32
	babiClip   = 40 // of each matrix
)

// lore are the questions of some tasks in numbers.
type lore struct {
	words          *text.Vocabulary // those that are answers, too
	longest        int              // words of the longest sentence or question that is learnt
	learnt, tried  []memory.Story
	told           []text.Question // those of tried, in words
	tasks, offsets []int           // task i has the questions offsets[i] to offsets[i+1] of tried
}

// readLore reads tasks of bAbI.
func readLore(s *stage.Stage, folder string, tasks []int) (*lore, error) {
	l := &lore{tasks: tasks, offsets: []int{0}}
	var train []text.Question
	for _, task := range tasks {
		a, b, err := text.LoadBAbI(folder, task)
		if err != nil {
			return nil, err
		}
		train, l.told = append(train, a[:s.Count(len(a))]...), append(l.told, b[:s.Count(len(b))]...)
		l.offsets = append(l.offsets, len(l.told))
		if err := s.Enough(folder, len(a), len(b)); err != nil {
			return nil, err
		}
	}
	return l, l.number(train)
}

// ownLore reads a user's files, which are one task.
func ownLore(s *stage.Stage, f ownFiles) (*lore, error) {
	train, test, err := f.questions(s)
	if err != nil {
		return nil, err
	}
	l := &lore{tasks: []int{0}, offsets: []int{0, len(test)}, told: test}
	return l, l.number(train)
}

// number numbers the words of what is learnt, and returns the questions in numbers.
func (l *lore) number(train []text.Question) (err error) {
	var lines [][]string
	for _, q := range train {
		for _, line := range append([]string{q.Text}, q.Story...) {
			words := strings.Fields(plainWords(line))
			lines, l.longest = append(lines, words), max(l.longest, len(words))
		}
		lines = append(lines, []string{q.Answer})
	}
	if l.words, err = text.NewVocabulary(lines, 1); err != nil {
		return err
	}
	l.learnt, l.tried = l.stories(train), l.stories(l.told)
	return nil
}

// stories returns questions in numbers.
func (l *lore) stories(questions []text.Question) []memory.Story {
	out := make([]memory.Story, len(questions))
	for i, q := range questions {
		out[i] = memory.Story{Question: l.words.Encode(plainWords(q.Text)), Answer: l.words.ID(q.Answer)}
		for _, line := range q.Story {
			out[i].Sentences = append(out[i].Sentences, l.words.Encode(plainWords(line)))
		}
		if out[i].Answer == text.Unknown { // never learnt
			out[i].Answer = grad.NoLabel
		}
	}
	return out
}

// eachClipped clips the gradient of each matrix by itself.
type eachClipped struct{ train.Optimiser }

func (o eachClipped) Step(g grad.Grads) {
	for i := range g {
		g[i : i+1].ClipNorm(babiClip)
	}
	o.Optimiser.Step(g)
}

// babiTraining trains a network: first without the softmax of the hops, then with it.
func babiTraining(s *stage.Stage, net *memory.MemN2N, l *lore) (*stage.Training, error) {
	linear, epochs := babiLinear, s.EpochsOr(babiEpochs)
	if s.Epochs > 0 {
		linear = min(babiLinear, epochs/5)
	}
	noise, at := s.RNG("noise"), 0
	if _, err := net.Batch(l.learnt, nil); err != nil { // a file may ask nothing
		return nil, err
	}
	all, err := net.Batch(l.tried, nil)
	return &stage.Training{
		Stage: s, Epochs: linear + epochs, Every: 20,
		Optimiser: eachClipped{&train.SGD{LR: babiRate, Schedule: train.ScheduleFunc(func(int) float64 {
			if at < linear {
				return 0.5
			}
			return 1 / float64(int(1)<<((at-linear)/babiHalve))
		})}},
		Batches: func(epoch int) [][]int32 {
			at, net.Linear = epoch, epoch < linear
			rows := stage.Every(len(l.learnt))
			rand.New(rand.NewPCG(s.Stream("order", 0), uint64(epoch))).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			return slices.Collect(slices.Chunk(rows, babiBatch))
		},
		Loss: func(t *grad.Tape, rows []int32) *grad.Var {
			some := make([]memory.Story, len(rows))
			for k, i := range rows {
				some[k] = l.learnt[i]
			}
			b, wrong := net.Batch(some, noise)
			if wrong != nil {
				panic(wrong) // none of them was wrong before
			}
			return b.Loss(net.Forward(t, b))
		},
		Score: func() (float64, error) {
			return all.Right(net.Forward(grad.NewEval(), all).Value()), nil
		}, ScoreName: "test_accuracy",
	}, err
}

// bestTold trains a network three times, and returns the one whose training ended best.
func bestTold(s *stage.Stage, l *lore, dim int, noTimes bool) (stage.Learnt[*memory.MemN2N], error) {
	try := 0
	return stage.BestOf(s, babiTries, math.Inf(-1), func(s *stage.Stage) (stage.Learnt[*memory.MemN2N], error) {
		net := &memory.MemN2N{Vocab: l.words.Len(), Dim: dim, Hops: 3, Memory: 50, Encoding: memory.Position, Longest: l.longest, Noise: 0.1, NoTime: noTimes}
		net.Init(s.RNG("weights"))
		try++
		s.Print("network %d\n", try)
		t, err := babiTraining(s, net, l)
		if err == nil {
			err = t.Run()
		}
		if err != nil {
			return stage.Learnt[*memory.MemN2N]{}, err
		}
		return stage.Learnt[*memory.MemN2N]{Net: net, How: t, Cost: stage.Last(t.Losses)}, nil
	})
}

// read returns what there is to learn, a network each.
func (f babi) read(s *stage.Stage) ([]*lore, error) {
	if own := (ownFiles{stage.Files{Train: f.Train, Test: f.Test}}); own.Train != "" {
		l, err := ownLore(s, own)
		return []*lore{l}, err
	}
	folder, err := s.Folder()
	if err != nil {
		return nil, err
	}
	groups := [][]int{f.Tasks}
	if !f.Joint {
		groups = slices.Collect(slices.Chunk(f.Tasks, 1))
	}
	var all []*lore
	for _, group := range groups {
		l, err := readLore(s, folder, group)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// Run trains the networks and shows what each hop looks at.
func (f babi) Run(s *stage.Stage) error {
	all, err := f.read(s)
	if err != nil {
		return err
	}
	dim := 20
	if f.Joint {
		dim = 50
	}
	s.Say("Each story is a memory, and each of its sentences a slot. The network reads all slots three times, weighted by how well each answers the question, and then gives a word. It learns from %d questions, in batches of %d; the loss is the sum over a batch.", len(all[0].learnt), babiBatch)
	var nets told
	var rows [][]picture.Panel
	accuracy, hits := map[string]any{}, map[string]any{}
	for _, l := range all {
		best, err := bestTold(s, l, dim, f.NoTimes)
		if err != nil {
			return err
		}
		net := best.Net
		nets.Nets = append(nets.Nets, net)
		for i, task := range l.tasks {
			right, hit, err := l.tryOut(net, i)
			if err != nil {
				return err
			}
			name, of := fmt.Sprintf("task_%d", task), fmt.Sprintf("task %d", task)
			if f.Train != "" {
				name, of = "own", f.Test
			}
			accuracy[name], hits[name] = report.Number(right), report.Number(hit)
			s.Print("%s: %.1f %% of %d test questions are right; in %.1f %% a hop looks most at each supporting fact\n", of, 100*right, l.offsets[i+1]-l.offsets[i], 100*hit)
		}
		h, err := l.heat(net)
		if err != nil {
			return err
		}
		s.Print("\n")
		s.Heat(h)
		s.Print("\n")
		rows = append(rows, []picture.Panel{h, stage.LossPanel(best.How)})
	}
	s.Result(map[string]any{"test_accuracy": accuracy, "facts_found": hits, "joint": f.Joint, "times": !f.NoTimes})
	s.Draw(rows...)
	return s.Keep(&nets)
}

// told are networks, one a task, or one for all.
type told struct{ Nets []*memory.MemN2N }

// tryOut returns how many test questions of a task are right, and in how many each supporting
// fact is what some hop weighs most.
func (l *lore) tryOut(net *memory.MemN2N, task int) (right, hit float64, err error) {
	lo, hi := l.offsets[task], l.offsets[task+1]
	b, err := net.Batch(l.tried[lo:hi], nil)
	if err != nil {
		return 0, 0, err
	}
	var tops [3][]int // the slot that each question weighs most, in each hop
	for hop := range tops {
		p, at := net.Attention(b, hop+1), 0
		for i := lo; i < hi; i++ {
			n := min(len(l.told[i].Story), net.Memory)
			tops[hop] = append(tops[hop], order(p[at : at+n])[0]+len(l.told[i].Story)-n)
			at += n
		}
	}
	for i := lo; i < hi; i++ {
		found := true
		for _, fact := range l.told[i].Facts {
			found = found && slices.ContainsFunc(tops[:], func(top []int) bool { return top[i-lo] == int(fact) })
		}
		if found {
			hit++
		}
	}
	return b.Right(net.Forward(nil, b).Value()), hit / float64(hi-lo), nil
}

// heat shows what each hop looks at, in a story of six to twelve sentences whose end is not
// what the question is about.
func (l *lore) heat(net *memory.MemN2N) (*picture.Heat, error) {
	one := slices.IndexFunc(l.told, func(q text.Question) bool {
		last := len(q.Story) - 1
		return last >= 5 && last < 12 && !slices.Contains(q.Facts, int32(last)) && !slices.Contains(q.Facts, int32(last-1))
	})
	one = max(0, one)
	b, err := net.Batch(l.tried[one:one+1], nil)
	if err != nil {
		return nil, err
	}
	q := l.told[one]
	said := l.words.Word(int32(order(net.Forward(nil, b).Value().Row(0))[0]))
	h := &picture.Heat{Title: fmt.Sprintf("%s  %s", q.Text, said), Top: 1, Across: "the hops, and the sentences: * is a supporting fact"}
	if said != q.Answer {
		h.Title += fmt.Sprintf(" (it is %s)", q.Answer)
	}
	from := max(0, len(q.Story)-net.Memory)
	for i, line := range q.Story[from:] {
		values, cells := []float64{}, []string{}
		for hop := range net.Hops {
			p := float64(net.Attention(b, hop+1)[i])
			values, cells = append(values, p), append(cells, fmt.Sprintf("%.2f", p))
		}
		if slices.Contains(q.Facts, int32(from+i)) {
			line += " *"
		}
		words := strings.Fields(line) // in two cells, as there is room
		half := (len(words) + 1) / 2
		cells = append(cells, strings.Join(words[:half], " "), strings.Join(words[half:], " "))
		h.Values, h.Words = append(h.Values, append(values, 0, 0)), append(h.Words, cells)
	}
	return h, nil
}

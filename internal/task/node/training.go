package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/draw"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Training is a training on the nodes of a graph, or on its edges.
type Training struct {
	*task.Flags
	recipe Recipe // of the first seed
	task   *Examples
}

// Task is the task of nodes.
type Task struct{}

// About implements [task.Task].
func (Task) About() task.About {
	return task.About{Name: task.Node, Flag: task.Node, Noun: "nodes and edges", Models: models.Names(), Refuses: Remedies}
}

// Takes implements [task.Task]. Nodes are also what is learnt if no other task is asked for.
func (Task) Takes(f *task.Flags) bool { return f.Task == task.Node }

// Recipe returns a training on nodes or, if the data says so, on edges.
func (Task) Recipe(e cli.Env, f *task.Flags) (task.Training, error) {
	c := &Training{Flags: f}
	err := c.Refused(task.Named(cmp.Or(f.Task, task.Node)).About().Refuses)
	if err == nil {
		err = c.foldNodes()
	}
	if err != nil {
		return nil, err
	}
	if c.recipe, err = cli.Promptly(e.Ctx, func() (Recipe, error) { return c.settings(e) }); err != nil {
		return nil, err
	}
	return c, c.check(&c.recipe)
}

// Model implements [task.Task].
func (Task) Model(f *task.SavedFlags) task.Model { return &Model{f} }

// Open reads the data and settles what it decides.
func (c *Training) Open(e cli.Env) error {
	r := c.recipe
	k, err := cli.Reading(e, c.At.Dataset, func() (*Examples, error) {
		return openTaskOf(c.Task, c.Data, c.At.Dataset, r.Undirected, r.Choice().from(c.At.Splits).Fresh(c.Resume == "" && c.Undirected == nil))
	})
	if of := (unlabelled{}); errors.As(err, &of) { // whoever is to name a column wants to see them
		c.SayColumns(e, of.data.Schema, c.Found(of.data.Schema, of.data), of.data.Warnings)
	}
	if err != nil {
		return err
	}
	c.task, k.team = k, e.Team
	defer report.NewProgress(e.ErrOut).During("preparing " + c.At.Dataset)()
	if err := e.SameData(c.At.Dataset, k.Dataset); err != nil {
		return err
	}
	task.SayDoubt(e, k.Doubt())
	task.SayDoubt(e, k.apart())
	if k.Pairing != nil {
		if err := c.Refused(task.Named(task.Edge).About().Refuses); err != nil {
			return err
		}
	}
	if c.recipe, err = c.settled(k, r); err != nil {
		return err
	}
	r = c.recipe
	c.SayColumns(e, k.Schema, c.Found(k.Schema, k.Dataset), k.Warnings)
	task.SayDoubt(e, r.manyPairs(k.Graph.NumNodes()))
	if err := k.checkNodes(c.Nodes); err != nil {
		return err
	}
	if err := k.Goal.Takes(r.Loss); err != nil {
		return err
	}
	if len(c.Attention) > 0 && k.Goal.Learns != task.OneClass {
		return cli.Misuse("--attention: it shows classes, and here each %s has %s to predict: leave it out", k.Goal.Example, k.Goal.Noun())
	}
	if text := task.Sentence(k.Division); text != "" && c.Seeds > 1 && !c.JSON {
		report.Message(e.ErrOut, text)
	}
	return nil
}

// Plan implements [task.Training].
func (c *Training) Plan() []string {
	k, r := c.task, &c.recipe
	s := k.Parts
	split := fmt.Sprintf("split: %d %ss for training, %d for validation and %d for testing", len(s.Train), k.Goal.Example, len(s.Val), len(s.Test))
	if says := task.Sentence(k.Division); says != "" {
		split = says
	}
	lines := []string{
		"learns: " + k.Goal.What(), split,
		fmt.Sprintf("trains: %s, for at most %d epochs", describe(r, k.Goal.Outputs, k.head(r)), r.Epochs), c.says(),
	}
	if steps := c.steps(); steps != "" {
		lines = append(lines, steps)
	}
	if k.Schema == nil || c.JSON { // else it has been said
		lines = slices.Insert(lines, 0, c.Found(k.Schema, k.Dataset))
	}
	return lines
}

// Train trains a network for each seed.
func (c *Training) Train(e cli.Env) error {
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	return c.TrainAll(e, task.Trials{Of: c.trial, Together: c.together})
}

// foldNodes makes --folds K what it stands for: K seeds, each with a split of its own.
func (c *Training) foldNodes() error {
	if c.Folds == nil {
		return nil
	}
	for _, flag := range c.Given() {
		if slices.Contains([]string{"splits", "split-number", "seeds", "resume"}, flag) {
			return cli.Misuse("--folds %d and --%s: each fold is a split with a seed of its own: leave one of the two flags out", *c.Folds, flag)
		}
	}
	if *c.Folds < 3 {
		return cli.Misuse("--folds %d: there must be at least 3, because one fold tests and another validates", *c.Folds)
	}
	splits, each := fmt.Sprintf("%s%d", source.SplitsFolds, *c.Folds), source.SplitsEach
	c.Splits, c.SplitNumber, c.Seeds = &splits, &each, *c.Folds
	return nil
}

// settings returns the settings of the run, or of the first of several, and finds
// out where its data is.
func (c *Training) settings(e cli.Env) (r Recipe, err error) {
	if c.Resume == "" {
		r, err = c.fresh()
		c.At = task.Places{Dataset: r.Dataset, Splits: r.Splits}
		return r, err
	}
	r, c.At, err = c.resumed(e, c.Resume, c.Data)
	return r, err
}

// check returns an error for flags that ask for what cannot be, before any work
// is done.
func (c *Training) check(r *Recipe) error {
	switch {
	case c.Seeds < 1:
		return cli.Misuse("--seeds %d: it must be at least 1", c.Seeds)
	case c.Threads < 0:
		return cli.Misuse("--threads %d: it must be at least 1, or 0 for all processors", c.Threads)
	case c.Data != "" && r.Dataset == "karate":
		return cli.Misuse("--data: karate is part of the program and does not need a folder")
	}
	splits := source.SplitsFile(c.At.Splits)
	if err := cli.Ordinary(splits); err != nil {
		return err
	}
	if err := c.checkOutputs(r, c.Seeds); err != nil {
		return err
	}
	in := append(source.DatasetFiles("--dataset", c.Data, c.At.Dataset), splits, cli.File{Flag: "--resume", Path: c.Resume})
	return cli.Apart(in, append(c.Files(), cli.File{Flag: "--log", Path: c.LogDir()}))
}

// trial is the training of a seed.
func (c *Training) trial(i int) (*task.Trial, error) {
	k, r := c.task, c.recipe
	r.Seed += uint64(i)
	if r.Choice().bySeed() && i > 0 {
		err := k.setSplit(r.Choice())
		if err == nil {
			err = k.Suit(&r)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := k.aim(&r); err != nil {
		return nil, err
	}
	fit, net, err := k.NewFit(r)
	if err != nil {
		return nil, err
	}
	t := &task.Trial{Fit: fit, Rate: r.LR, Usual: k.usual(&r).LR, Metric: k.Goal.ScoredBy(), Partial: true}
	s := &session{Training: c, Examples: k, recipe: r, net: net, trial: t}
	t.Summary = summaryOf(r)
	t.Summary.Weights, t.Summary.Learns, t.Summary.Metric = k.Weighing(r.Traits()), string(k.Goal.Learns), t.Metric
	if c.divided() != "" {
		t.Summary.Splits = c.recipe.Splits
	}
	t.Measure, t.Keep, t.Draw = s.measure, s.keep, s.draw
	t.Title, t.Network = k.Name, r.Traits().Title
	t.Told(r.Dataset)
	t.Page = func(p *report.Printer) { s.page(p).Print(p) }
	return t, nil
}

// session is the training of a seed and what is done with its result.
type session struct {
	*Training
	*Examples
	recipe  Recipe
	net     *Network
	trial   *task.Trial
	history *train.History
	heads   []*picture.Heat // what the heads of watched nodes attend to; nil: none were asked for
}

// measure completes what is said of a training with what the network that was kept can do.
func (s *session) measure(ctx context.Context, t *grad.Tape, h *train.History) {
	s.history = h
	y := s.said(t, s.net)
	s.Goal.SetCut(y, s.Parts)
	sum := &s.trial.Summary
	sum.Metrics = s.Goal.QualityOn(y, s.Parts)
	if s.Seeds == 1 && !sum.Diverged {
		o, without := s.withoutEdges(ctx)
		s.Goal.Verdict(sum, y, o, without, s.Parts)
	}
}

// withoutEdges trains a perceptron of the same size beside the network, with the same settings, for a fifth of its epochs: one of these
// costs no more than one of the network's, which passes messages, too. It returns what that says of each example, by its own threshold;
// nil where nobody wants it, the network passes no messages, or these are too few epochs to learn in.
func (s *session) withoutEdges(ctx context.Context) (*task.Goal, *tensor.Dense) {
	const share, least = 5, 10
	r, m := s.recipe, s.recipe.Traits()
	r.Epochs = len(s.history.Epochs) / share
	if s.NoBaseline || m.Alone || r.Encoding != "" || r.Epochs < least || s.Graph.NumEdges() == 0 {
		return nil, nil
	}
	plain, err := NewRecipe(r.Preset, "mlp", r.Dataset)
	if err != nil {
		return nil, nil
	}
	r.Model, r.Hidden, r.Heads, r.OutHeads, r.NoBias, r.Start = plain.Model, r.width(), 1, 1, plain.NoBias, plain.Start
	r.Residual, r.ValueDrop, r.AttnDrop, r.Fanout, r.Inductive, r.EdgeIn, r.Kinds = false, false, r.Dropout, "", false, 0, 0
	k := *s.Examples
	k.Goal, k.near = new(task.Goal), new(sync.Map)
	if *k.Goal = *s.Goal; r.Check() != nil {
		return nil, nil
	}
	fit, net, err := k.NewFit(r)
	if err != nil {
		return nil, nil
	}
	progress, length := s.trial.Progress.Part(), report.Length{Epochs: fit.Epochs, Steps: fit.Steps}
	fit.OnEpoch = func(e train.Epoch) { progress.Show("without edges, to compare  %s", progress.Epoch(e, length)) }
	if _, err := fit.Run(ctx); err != nil {
		return nil, nil
	}
	y := k.said(grad.NewEval(), net)
	k.Goal.SetCut(y, k.Parts)
	return k.Goal, y
}

// keep writes what was asked for of the chosen model.
func (s *session) keep() error {
	var drawn error
	sum := &s.trial.Summary
	saved := s.SaveModel(s.trial, s.trained(s.net), s.net.Recipe, task.ScoresOf(*sum))
	if len(s.Attention) > 0 {
		if drawn = s.writeAttention(); drawn == nil {
			sum.Attention = strings.Join(s.Attention, ",")
		}
	}
	return errors.Join(saved, drawn)
}

// draw completes the picture of a training with what the network has learnt of each node, if it learns classes of nodes.
func (s *session) draw(p *draw.Training) {
	if s.Pairing != nil || s.Goal.Learns != task.OneClass {
		return
	}
	t := grad.NewEval()
	all := s.All(s.net.Network)
	p.Dataset, p.Test, p.Hidden = s.Examples.Dataset, s.Parts.Test, s.net.Hidden(t, all.Hops[0], all.X).Value()
	logits := s.net.Run(t, all).Value()
	for v := range s.Labels {
		c, row := 0, logits.Row(v)
		for j, y := range row {
			if y > row[c] {
				c = j
			}
		}
		p.Predicted = append(p.Predicted, int32(c))
	}
}

// Remedies say which flags of train a training on nodes has no use for, and what to do.
var Remedies = task.Remedies(map[string]string{
	"it is for --task graph: leave it out": "readout pool",
})

package gatbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/pprof"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/draw"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// trainFlags are the flags of gatbench train, of all tasks.
type trainFlags struct {
	settingFlags  `embed:""`
	graphFlags    `embed:""`
	Seeds         int `default:"1" placeholder:"N" help:"Train N times, each with its own seed, and print the mean. Default: 1."`
	outputFlags   `embed:""`
	NoBaseline    bool   `group:"training" help:"With --task node or edge: do not also train the same network without edges, for a fifth of the epochs, to see whether the edges help."`
	JSON          bool   `name:"json" help:"Print JSON objects, one a line."`
	Data          string `placeholder:"DIR" group:"data" help:"Look for the dataset in this folder first, then in $$EDGEWISE_DATA and in the user's cache."`
	cli.RankFlags `embed:""`
	Threads       int `default:"0" placeholder:"N" group:"training" help:"Use at most N threads. The result is the same for any number. Default: all processors."`

	at   places
	team *ranks.Team
}

// profiled runs a training under --profile.
func (c *trainFlags) profiled(e cli.Env, run func() error) error {
	if c.kept() {
		cli.OutliveReader()
	}
	stop, err := profile(c.Profile)
	if err != nil {
		return err
	}
	err = run()
	if failed := stop(); failed != nil {
		return errors.Join(err, failed)
	}
	if c.Profile != "" && !c.JSON {
		p := report.NewPrinter(e.Out)
		p.Printf("profile in %s\n", c.Profile)
		err = errors.Join(err, p.Err())
	}
	return err
}

// nodeTraining is a training on the nodes of a graph, or on its edges.
type nodeTraining struct {
	*trainFlags
	recipe recipe // of the first seed
	task   *task
}

// nodeRoom is the task of nodes, and edgeRoom that of edges, whose networks are those of nodes with a head that reads both ends.
type (
	nodeRoom struct{}
	edgeRoom struct{ nodeRoom }
)

func (nodeRoom) Name() string     { return taskNode }
func (nodeRoom) Flag() string     { return taskNode }
func (nodeRoom) Noun() string     { return "nodes and edges" }
func (nodeRoom) Models() []string { return models.Names() }

func (nodeRoom) Takes(f *trainFlags) bool { return f.Task == taskNode }

// Recipe returns a training on nodes or, if the data says so, on edges.
func (nodeRoom) Recipe(e cli.Env, f *trainFlags) (training, error) {
	c := &nodeTraining{trainFlags: f}
	remedies := nodeRemedies
	if f.Task == taskEdge {
		remedies = edgeRemedies
	}
	err := c.refused(remedies)
	if err == nil {
		err = c.foldNodes()
	}
	if err != nil {
		return nil, err
	}
	if c.recipe, err = cli.Promptly(e.Ctx, func() (recipe, error) { return c.settings(e) }); err != nil {
		return nil, err
	}
	return c, c.check(&c.recipe)
}

func (nodeRoom) Model(f *savedFlags) model { return &nodeModel{f} }

func (edgeRoom) Name() string { return taskEdge }
func (edgeRoom) Flag() string { return taskEdge }

func (edgeRoom) Takes(f *trainFlags) bool { return f.Task == taskEdge }

// Open reads the data and settles what it decides.
func (c *nodeTraining) Open(e cli.Env) error {
	r := c.recipe
	k, err := cli.Promptly(e.Ctx, func() (*task, error) {
		return openTaskOf(c.Task, c.Data, c.at.dataset, r.Undirected, r.choice().from(c.at.splits).fresh(c.Resume == "" && c.Undirected == nil))
	})
	if err != nil {
		return err
	}
	c.task, k.team = k, e.Team
	if err := e.SameData(c.at.dataset, k.Dataset); err != nil {
		return err
	}
	sayDoubt(e, k.Doubt())
	sayDoubt(e, k.apart())
	if k.pairs != nil {
		if err := c.refused(edgeRemedies); err != nil {
			return err
		}
	}
	if c.recipe, err = c.settled(k, r); err != nil {
		return err
	}
	r = c.recipe
	c.sayColumns(e, k.Schema, k.Warnings)
	sayDoubt(e, r.manyPairs(k.graph.NumNodes()))
	if err := k.checkNodes(c.Nodes); err != nil {
		return err
	}
	if err := k.goal.takes(r.Loss); err != nil {
		return err
	}
	for _, f := range []struct{ flag, file string }{{"plot", c.Plot}, {"attention", strings.Join(c.Attention, "")}} {
		if f.file != "" && k.goal.kind != oneClass {
			return cli.Misuse("--%s: it shows classes, and here each %s has %s to predict: --csv or --log record the epochs instead", f.flag, k.goal.example, k.goal.kind.noun())
		}
	}
	if text := sentence(k.division); text != "" && c.Seeds > 1 && !c.JSON {
		report.Message(e.ErrOut, text)
	}
	return nil
}

// Plan implements training.
func (c *nodeTraining) Plan() []string {
	k, r := c.task, &c.recipe
	s := k.split
	split := fmt.Sprintf("split: %d %ss for training, %d for validation and %d for testing", len(s.Train), k.goal.example, len(s.Val), len(s.Test))
	if says := sentence(k.division); says != "" {
		split = says
	}
	lines := []string{
		fmt.Sprintf("found: %d nodes, %d edges", k.Graph.NumNodes(), k.Graph.NumEdges()), "learns: " + k.goal.what(), split,
		fmt.Sprintf("trains: %s, for at most %d epochs", describe(r, k.goal.Outputs, k.head(r)), r.Epochs), c.says(),
	}
	if steps := c.steps(); steps != "" {
		lines = append(lines, steps)
	}
	return lines
}

// Train trains a network for each seed.
func (c *nodeTraining) Train(e cli.Env) error {
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	return c.run(e, trials{of: c.trial, together: c.together})
}

// foldNodes makes --folds K what it stands for: K seeds, each with a split of its own.
func (c *nodeTraining) foldNodes() error {
	if c.Folds == nil {
		return nil
	}
	for _, flag := range c.given() {
		if slices.Contains([]string{"splits", "split-number", "seeds", "resume"}, flag) {
			return cli.Misuse("--folds %d and --%s: each fold is a split with a seed of its own: leave one of the two flags out", *c.Folds, flag)
		}
	}
	if *c.Folds < 3 {
		return cli.Misuse("--folds %d: there must be at least 3, because one fold tests and another validates", *c.Folds)
	}
	splits, each := fmt.Sprintf("%s%d", splitsFolds, *c.Folds), splitsEach
	c.Splits, c.SplitNumber, c.Seeds = &splits, &each, *c.Folds
	return nil
}

// settings returns the settings of the run, or of the first of several, and finds
// out where its data is.
func (c *nodeTraining) settings(e cli.Env) (r recipe, err error) {
	if c.Resume == "" {
		r, err = c.fresh()
		c.at = places{r.Dataset, r.Splits}
		return r, err
	}
	r, c.at, err = c.resumed(e, c.Resume, c.Data)
	return r, err
}

// check returns an error for flags that ask for what cannot be, before any work
// is done.
func (c *nodeTraining) check(r *recipe) error {
	switch {
	case c.Seeds < 1:
		return cli.Misuse("--seeds %d: it must be at least 1", c.Seeds)
	case c.Threads < 0:
		return cli.Misuse("--threads %d: it must be at least 1, or 0 for all processors", c.Threads)
	case c.Data != "" && r.Dataset == "karate":
		return cli.Misuse("--data: karate is part of the program and does not need a folder")
	}
	splits := splitsFile(c.at.splits)
	if err := cli.Ordinary(splits); err != nil {
		return err
	}
	if err := c.outputFlags.check(r, c.Seeds); err != nil {
		return err
	}
	in := append(datasetFiles("--dataset", c.Data, c.at.dataset), splits, cli.File{Flag: "--resume", Path: c.Resume})
	return cli.Apart(in, append(c.files(), cli.File{Flag: "--log", Path: c.logDir()}))
}

// trial is the training of a seed.
func (c *nodeTraining) trial(i int) (*trial, error) {
	k, r := c.task, c.recipe
	r.Seed += uint64(i)
	if r.choice().bySeed() && i > 0 {
		err := k.setSplit(r.choice())
		if err == nil {
			err = k.suit(&r)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := k.aim(&r); err != nil {
		return nil, err
	}
	fit, net, err := k.fit(r)
	if err != nil {
		return nil, err
	}
	t := &trial{fit: fit, rate: r.LR, usual: k.usual(&r).LR, metric: k.goal.metric(), partial: true}
	s := &session{nodeTraining: c, task: k, recipe: r, net: net, trial: t}
	t.summary = summaryOf(r)
	t.summary.Weights, t.summary.Learns, t.summary.Metric = k.weighing(r.model()), string(k.goal.kind), t.metric
	if c.divided() != "" {
		t.summary.Splits = c.recipe.Splits
	}
	t.measure, t.keep = s.measure, s.keep
	t.epoch = func(e train.Epoch) any {
		line := report.NewEpochLine(r.Dataset, r.Seed, e)
		line.Metric = t.metric
		return t.metric.JSON(line)
	}
	t.scores = func(e train.Epoch) string {
		line := report.NewEpochLine(r.Dataset, r.Seed, e)
		line.Metric = t.metric
		return line.Scores()
	}
	t.line = func() any { return t.metric.JSON(t.summary) }
	t.short = t.summary.Line
	t.page = func(p *report.Printer) { s.page(p).Print(p) }
	return t, nil
}

// session is the training of a seed and what is done with its result.
type session struct {
	*nodeTraining
	*task
	recipe  recipe
	net     *network
	trial   *trial
	history *train.History
	heads   []*picture.Heat // what the heads of watched nodes attend to; nil: none were asked for
}

// measure completes what is said of a training with what the network that was kept can do.
func (s *session) measure(ctx context.Context, t *grad.Tape, h *train.History) {
	s.history = h
	y := s.said(t, s.net)
	s.goal.cut(y, s.split)
	sum := &s.trial.summary
	sum.Metrics = s.goal.qualityOn(y, s.split, s.ClassNames)
	if s.Seeds == 1 && !sum.Diverged {
		o, without := s.withoutEdges(ctx)
		s.goal.verdict(sum, y, o, without, s.split)
	}
}

// withoutEdges trains a perceptron of the same size beside the network, with the same settings, for a fifth of its epochs: one of these
// costs no more than one of the network's, which passes messages, too. It returns what that says of each example, by its own threshold;
// nil where nobody wants it, the network passes no messages, or these are too few epochs to learn in.
func (s *session) withoutEdges(ctx context.Context) (*goal, *tensor.Dense) {
	const share, least = 5, 10
	r, m := s.recipe, s.recipe.model()
	r.Epochs = len(s.history.Epochs) / share
	if s.NoBaseline || m.Alone || r.Encoding != "" || r.Epochs < least || s.Graph.NumEdges() == 0 {
		return nil, nil
	}
	plain, err := newRecipe(r.Preset, "mlp", r.Dataset)
	if err != nil {
		return nil, nil
	}
	r.Model, r.Hidden, r.Heads, r.OutHeads, r.NoBias, r.Start = plain.Model, r.width(), 1, 1, plain.NoBias, plain.Start
	r.Residual, r.ValueDrop, r.AttnDrop, r.Fanout, r.Inductive, r.EdgeIn, r.Kinds = false, false, r.Dropout, "", false, 0, 0
	k := *s.task
	k.goal, k.near = new(goal), new(nearby)
	if *k.goal = *s.goal; r.check() != nil {
		return nil, nil
	}
	fit, net, err := k.fit(r)
	if err != nil {
		return nil, nil
	}
	if _, err := fit.Run(ctx); err != nil {
		return nil, nil
	}
	y := k.said(grad.NewEval(), net)
	k.goal.cut(y, k.split)
	return k.goal, y
}

// keep writes what was asked for of the chosen model.
func (s *session) keep() error {
	var plotted, drawn error
	sum := &s.trial.summary
	saved := s.save(s.trial, s.trained(s.net), s.net.Recipe, scoresOf(*sum))
	if s.Plot != "" {
		if plotted = s.plot(s.Plot); plotted == nil {
			sum.Plot = s.Plot
		}
	}
	if len(s.Attention) > 0 {
		if drawn = s.writeAttention(); drawn == nil {
			sum.Attention = strings.Join(s.Attention, ",")
		}
	}
	return errors.Join(saved, plotted, drawn)
}

// profile begins a CPU profile, if a file is named, and returns what ends it.
func profile(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	var b bytes.Buffer // package pprof does not say when a file takes no more
	if err := pprof.StartCPUProfile(&b); err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return atomicfile.Write(path, func(w io.Writer) error {
			_, err := b.WriteTo(w)
			return err
		})
	}, nil
}

// plot draws a training into a file.
func (s *session) plot(path string) error {
	t := grad.NewEval()
	p := draw.Training{
		Dataset: s.Dataset, Model: s.recipe.model().Title, Epochs: s.history.Epochs, Best: s.trial.summary.BestEpoch, Test: s.split.Test,
		Hidden: s.net.Hidden(t, s.hop(s.net), s.features).Value(),
	}
	logits := s.net.Run(t, s.net.Whole(s.hop(s.net), s.features)).Value()
	for v := range s.Labels {
		c, row := 0, logits.Row(v)
		for j, y := range row {
			if y > row[c] {
				c = j
			}
		}
		p.Predicted = append(p.Predicted, int32(c))
	}
	return p.Write(path)
}

// nodeRemedies say which flags of train a training on nodes has no use for, and what to do.
var nodeRemedies = map[string]string{
	"readout": "it is for --task graph: leave it out",
	"pool":    "it is for --task graph: leave it out",
}

// taskNode is what --task says where nodes are told apart.
const taskNode = "node"

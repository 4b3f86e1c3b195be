package gatbench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/draw"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// trainCommand is gatbench train.
type trainCommand struct {
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

func (c *trainCommand) endsItself() {}

// Run trains and prints what came of it. A signal ends the loading at once, and
// the training after its epoch.
func (c *trainCommand) Run(e cli.Env) (err error) {
	c.team = e.Team
	c.forRank(e.Team)
	if c.Threads, err = c.Begin(e, c.Threads); err != nil {
		return err
	}
	task, err := c.learns()
	if err == nil {
		err = c.takeFolds()
	}
	if err != nil {
		return err
	}
	var other func(cli.Env) error
	switch task {
	case taskFacts:
		other = c.facts
	case taskLink:
		other = c.links
	case taskGraph:
		other = c.graphs
	default:
		return c.nodes(e)
	}
	return c.profiled(e, func() error { return other(e) })
}

// profiled runs a training under --profile.
func (c *trainCommand) profiled(e cli.Env, run func() error) error {
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

// nodes trains on the nodes of a graph, or on its edges: --task says so, or the data does.
func (c *trainCommand) nodes(e cli.Env) error {
	if err := c.refused(cmp.Or(c.Task, taskNode)); err != nil {
		return err
	}
	if err := c.foldNodes(); err != nil {
		return err
	}
	r, err := cli.Promptly(e.Ctx, func() (recipe, error) { return c.recipe(e) })
	if err != nil {
		return err
	}
	if err := c.check(&r); err != nil {
		return err
	}
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	k, err := cli.Promptly(e.Ctx, func() (*task, error) {
		return openTaskOf(c.Task, c.Data, c.at.dataset, r.Undirected, r.choice().from(c.at.splits).fresh(c.Resume == "" && c.Undirected == nil))
	})
	if err != nil {
		return err
	}
	k.team = e.Team
	if err := e.SameData(c.at.dataset, k.Dataset); err != nil {
		return err
	}
	sayDoubt(e, k.Doubt())
	sayDoubt(e, k.apart())
	if k.pairs != nil {
		if err := c.refused(taskEdge); err != nil {
			return err
		}
	}
	if r, err = c.settled(k, r); err != nil {
		return err
	}
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
	return c.profiled(e, func() error { return c.all(e, k, r) })
}

// foldNodes makes --folds K what it stands for: K seeds, each with a split of its own.
func (c *trainCommand) foldNodes() error {
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

// recipe returns the settings of the run, or of the first of several, and finds
// out where its data is.
func (c *trainCommand) recipe(e cli.Env) (r recipe, err error) {
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
func (c *trainCommand) check(r *recipe) error {
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

// all trains once for each seed.
func (c *trainCommand) all(e cli.Env, k *task, r recipe) error {
	out := newReporter(e, c, k, r)
	var runs []report.Summary
	for i := range c.Seeds {
		one := r
		one.Seed += uint64(i)
		if one.choice().bySeed() && i > 0 {
			err := k.setSplit(one.choice())
			if err == nil {
				err = k.suit(&one)
			}
			if err != nil {
				return err
			}
		}
		if err := k.aim(&one); err != nil {
			return err
		}
		out.progress.Run(i, c.Seeds)
		s := &session{trainCommand: c, task: k, recipe: one, report: out}
		if err := s.run(e.Ctx); err != nil {
			if c.Seeds > 1 {
				err = errors.Join(err, c.writeCSV(out.histories, k.goal.metric()))
			}
			return err
		}
		runs = append(runs, s.summary)
	}
	if c.Seeds == 1 {
		return nil
	}
	return errors.Join(out.all(runs), c.writeCSV(out.histories, k.goal.metric()))
}

// session is one training and what is done with its result.
type session struct {
	*trainCommand
	*task
	recipe  recipe
	report  *reporter
	net     *network
	history *train.History
	summary report.Summary
}

// run trains one network, keeps it where asked, and reports on it, even if the
// training was cut short; then it returns an error too.
func (s *session) run(ctx context.Context) error {
	fit, net, err := s.fit(s.recipe)
	if err != nil {
		return err
	}
	s.net = net
	fit.Checkpoint, fit.Every, fit.Resume = s.Checkpoint, s.Every, s.Resume
	events, err := s.openEvents()
	if err != nil {
		return err
	}
	usage := s.usage(s.report.out)
	fit.OnEpoch = func(e train.Epoch) {
		usage.EpochIsOver(e.N)
		s.report.epoch(s.recipe.Seed, e, fit.Steps)
		events.Epoch(e)
	}
	if fit.Steps > 1 {
		loss := fit.Loss
		fit.Loss = func(t *grad.Tape) *grad.Var {
			s.report.batch(t.Step(), fit.Steps)
			return loss(t)
		}
	}
	start := time.Now()
	history, err := fit.Run(ctx)
	took := time.Since(start)
	logged := events.Close()
	if history == nil || s.task.team.Err() != nil { // without the other ranks nothing more can be computed
		return errors.Join(err, logged)
	}
	if done := len(history.Epochs); done > s.recipe.Epochs {
		return cli.Misuse("--epochs %d: the run of %s has %d already", s.recipe.Epochs, s.Resume, done)
	}
	s.history = history
	s.summary = summarise(history, s.recipe, took)
	s.summary.Weights = s.weighing(s.recipe.model())
	s.summary.Learns, s.summary.Metric = string(s.goal.kind), s.goal.metric()
	if s.summary.BestEpoch > 0 {
		t := grad.NewEval() // of a training that was interrupted nothing more is measured
		_ = t.Within(cli.Uncut(ctx, s.task.team), func() {
			y := s.said(t, net)
			s.goal.cut(y, s.split)
			s.summary.Metrics = s.goal.qualityOn(y, s.split, s.ClassNames)
			if s.Seeds == 1 && err == nil {
				o, without := s.withoutEdges(ctx)
				s.goal.verdict(&s.summary, y, o, without, s.split)
			}
		})
	}
	if e := (*atomicfile.Error)(nil); s.Checkpoint != "" && !errors.As(err, &e) {
		if _, err := os.Stat(s.Checkpoint); err == nil {
			s.summary.Checkpoint = s.Checkpoint
		}
	}
	s.report.histories = append(s.report.histories, seeded{s.recipe.Seed, history})
	s.summary.Ranks = usage.All()
	s.summary.Interrupted = errors.Is(err, context.Canceled)
	s.summary.Diverged = errors.As(err, new(*train.DivergedError))
	if logged == nil {
		s.summary.Log = s.logDir()
	}
	err = s.explain(errors.Join(err, logged, s.writeCSV(), s.keep()))
	return errors.Join(err, s.report.run(s.summary))
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

// writeCSV writes the epochs, if no others are to come: those of several trainings are
// in one file.
func (s *session) writeCSV() error {
	if s.Seeds > 1 {
		return nil
	}
	err := s.outputFlags.writeCSV(s.report.histories, s.goal.metric())
	if err == nil {
		s.summary.CSV = s.CSV
	}
	return err
}

// openEvents opens the log of one seed.
func (s *session) openEvents() (*report.Events, error) {
	dir := s.logDir()
	if dir == "" {
		return nil, nil
	}
	if s.Seeds > 1 {
		dir = filepath.Join(dir, fmt.Sprintf("seed-%d", s.recipe.Seed))
	}
	return report.CreateEvents(dir)
}

// keep writes what was asked for of the chosen model.
func (s *session) keep() error {
	if s.summary.BestEpoch == 0 {
		return nil
	}
	var saved, plotted, drawn error
	if s.Save != "" {
		if saved = save(s.Save, s.trained(s.net), s.net.Recipe, scoresOf(s.summary)); saved == nil {
			s.summary.Saved = s.Save
		}
	}
	if s.Plot != "" {
		if plotted = s.plot(s.Plot); plotted == nil {
			s.summary.Plot = s.Plot
		}
	}
	if len(s.Attention) > 0 {
		if drawn = s.writeAttention(); drawn == nil {
			s.summary.Attention = strings.Join(s.Attention, ",")
		}
	}
	return errors.Join(saved, plotted, drawn)
}

// explain says of a training that was cut short how far it came and what is left
// of it.
func (s *session) explain(err error) error {
	switch {
	case s.summary.Interrupted:
		cut := fmt.Errorf("interrupted after %d of %d epochs", s.summary.Epochs, s.recipe.Epochs)
		if s.summary.Checkpoint != "" {
			cut = fmt.Errorf("%w; to continue: %s", cut, s.goesOn(s.summary.Checkpoint))
		}
		return errors.Join(cli.Stopped(cut), cli.Without(err, context.Canceled))
	case s.summary.Diverged:
		left := "nothing was saved"
		if s.summary.Saved != "" {
			left = fmt.Sprintf("the model of epoch %d is saved in %s", s.summary.BestEpoch, s.summary.Saved)
		}
		all := cli.Parts(err) // the training's first
		r := &s.recipe
		all[0] = fmt.Errorf("%w; %s", diverged(all[0], r.LR, s.task.usual(r).LR), left)
		return errors.Join(all...)
	}
	return err
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
		Dataset: s.Dataset, Model: s.recipe.model().Title, Epochs: s.history.Epochs, Best: s.summary.BestEpoch, Test: s.split.Test,
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

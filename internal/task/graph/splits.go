package graph

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// split returns the split of the graphs that a recipe names.
func (k *Graphs) split(r *Recipe) (out *models.Division, err error) {
	out = &models.Division{Rule: r.Splits}
	switch {
	case source.OwnSplit(r.Splits):
		if out, err = models.DivideGraphs(&k.goal.Goal, k.Graphs, models.SplitOwn, r.Seed); err != nil {
			return nil, cli.Misuse("--dataset %s: %w", k.name, err)
		} else if out.Rule == models.SplitOwn {
			out.Rule = r.Splits
		}
	case models.IsShares(r.Splits) || models.IsByTime(r.Splits):
		if out, err = models.DivideGraphs(&k.goal.Goal, k.Graphs, r.Splits, r.Seed); err != nil {
			return nil, cli.Misuse("--splits %.100s: %w", r.Splits, err)
		}
	case r.Splits == source.SplitsRandom:
		out.Split = k.random(r.Seed)
	case source.IsColumn(r.Splits):
		return nil, cli.Misuse("--splits %.60s: a graph's part is its member or column split: call it so", r.Splits)
	default:
		if out.Split, err = task.ReadSplit(r.Splits, k.Name, k.goal); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, source.NoSuchSplit(r.Splits, source.OwnSplits, models.SplitUsual, source.SplitsRandom, source.SplitsFolds+"10")
			}
			return nil, cli.Misuse("--splits %s: %w; write own, %s, random, %s10, or the name of a .json file of the lists train, val and test", r.Splits, err, models.SplitUsual, source.SplitsFolds)
		}
	}
	if len(out.Train) == 0 || len(out.Val) == 0 {
		return nil, cli.Misuse("--dataset %s: it has no graphs to choose the best epoch by: use --splits %s", k.name, models.SplitUsual)
	}
	return out, nil
}

// eachFold returns an error for a class that cannot be in each of k folds.
func (k *Graphs) eachFold(folds int) error {
	size := make([]int, k.goal.Outputs)
	for _, c := range k.goal.Labels {
		if c >= 0 {
			size[c]++
		}
	}
	for c, n := range size {
		if n > 0 && n < folds {
			return fmt.Errorf("%s has %d graphs, which cannot be in each: take at most %d folds, or --splits %s", k.goal.Class(c), n, max(2, n), models.SplitUsual)
		}
	}
	return nil
}

// random is a split of a seed: a tenth of the graphs of which anything is known validates
// and a tenth tests, at least one each.
func (k *Graphs) random(seed uint64) datasets.Split {
	ids := k.goal.All()
	rng := rand.New(rand.NewPCG(seed, 0x5711))
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	tenth := min(max(1, len(ids)/10), len(ids)/3)
	s := datasets.Split{Val: ids[:tenth], Test: ids[tenth : 2*tenth], Train: ids[2*tenth:]}
	for _, part := range [][]int32{s.Train, s.Val, s.Test} {
		slices.Sort(part)
	}
	return s
}

// trial is the training of a seed on a split of the graphs.
func (c *Training) trial(e cli.Env, i int) (*task.Trial, error) {
	one, division, err := c.divided(i)
	if err != nil {
		return nil, err
	}
	s, says := division.Split, task.Sentence(division)
	if says != "" && c.Seeds > 1 && i == 0 && !c.JSON {
		report.Message(e.ErrOut, says)
	}
	k, err := c.task.on(&one, s)
	if err != nil {
		return nil, err
	}
	fit := new(train.Fit)
	net, own, err := k.NewFit(fit, one, s)
	if err != nil {
		return nil, err
	}
	t := &task.Trial{Fit: fit, Rate: one.LR, Usual: GIN().LR, Metric: own.ScoredBy(), Partial: true}
	t.Network = one.title()
	t.Summary = report.Summary{
		Dataset: one.Dataset, Model: one.model().Name, Preset: one.preset(), Features: k.reads(&one), Seed: one.Seed, Select: one.Select,
		Batch: one.Batch, Learns: string(own.Learns), Metric: t.Metric,
	}
	if says != "" {
		t.Summary.Splits = one.Splits
	}
	t.Measure = func(_ context.Context, tape *grad.Tape, _ *train.History) {
		k.measure(tape, &one, &t.Summary, net, own, s)
	}
	t.Keep = func() error { return c.SaveModel(t, k.trained(net, own), net.Recipe, task.ScoresOf(t.Summary)) }
	t.Told(one.Dataset)
	t.Page = func(p *report.Printer) { k.page(c, &one, t.Summary, s, says).Print(p) }
	return t, nil
}

// divided returns the recipe of a seed and its split. The first split settles what flags leave open: how the others are divided, and by what
// rule epochs are chosen.
func (c *Training) divided(i int) (one Recipe, division *models.Division, err error) {
	k, r := c.task, &c.recipe
	where := *r
	where.Seed += uint64(i)
	where.Splits = c.At.Splits
	if division, err = k.split(&where); err != nil {
		return one, nil, err
	}
	if source.OwnSplit(r.Splits) {
		r.Splits, c.At.Splits = division.Rule, division.Rule
	}
	if c.Select == nil && c.Resume == "" && i == 0 {
		r.Select = task.RuleOf(k.goal, division.Split, r.Select, c.Preset != nil)
	}
	one = *r
	one.Seed = where.Seed
	return one, division, nil
}

// together reports what the trainings of several seeds have in common.
func (c *Training) together(p *report.Printer, all []*task.Trial) {
	r := &c.recipe
	o := report.NewOverall(r.Dataset, task.Summaries(all))
	if c.JSON {
		p.Encode(o.Metric.JSON(o))
	} else {
		o.Print(p, c.task.Name, fmt.Sprintf("%s train %s --splits %s --save graphs.safetensors", cli.Program, cli.Word(r.Dataset), cli.Word(r.Splits)))
	}
}

// measure completes what is said of a training with the scores of the chosen network.
func (k *Graphs) measure(t *grad.Tape, r *Recipe, sum *report.Summary, net *Network, own *task.Goal, s datasets.Split) {
	y := tensor.New(k.Len(), own.Outputs)
	for _, part := range [][]int32{s.Train, s.Val, s.Test} {
		k.fill(t, net, y, k.held(r, part))
	}
	own.SetCut(y, s)
	sum.TrainAccuracy, sum.ValAccuracy, sum.TestAccuracy = report.Number(own.Score(y, s.Train).Accuracy), report.Number(own.Score(y, s.Val).Accuracy), report.Number(own.Score(y, s.Test).Accuracy)
	sum.Metrics = own.QualityOn(y, s)
	own.Verdict(sum, y, nil, nil, s)
}

// page is all there is to say of one training.
func (k *Graphs) page(c *Training, r *Recipe, sum report.Summary, s datasets.Split, says string) *report.Training {
	_, chosen, _ := task.Criterion(r.Select)
	next := c.Again(r.Dataset, " --seeds 10")
	if sum.Saved != "" {
		next = c.Next(sum.Saved, r.Dataset)
	}
	return &report.Training{
		Summary: sum,
		Title: fmt.Sprintf("%s: %s, %d layers of width %d (the input features count as one); %d graphs, %d nodes, %d edges, %d %s",
			k.Name, r.title(), r.Layers, r.Hidden, k.Len(), k.Graph.NumNodes(), k.listed, k.goal.Outputs, k.goal.Noun()),
		Settings: "features: " + k.reads(r), Learns: k.goal.Says() + k.goal.Untaught(s), Batching: fmt.Sprintf("preset: %s; batches of %d graphs", r.preset(), r.Batch),
		Nodes: [3]int{len(s.Train), len(s.Val), len(s.Test)}, What: "graphs",
		Network: r.title(), Split: says, Chosen: chosen, Longer: sum.Longer(r.Epochs, r.Patience), Next: next,
	}
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// split returns the split of the graphs that a recipe names.
func (k *graphTask) split(r *graphRecipe) (s datasets.Split, err error) {
	switch r.Splits {
	case splitsOwn, ownSplits:
		s = k.Split
	case splitsRandom:
		s = k.random(r.Seed)
	default:
		if s, err = readSplit(r.Splits, k.Name, k.goal); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return s, noSuchSplit(r.Splits, ownSplits, splitsRandom)
			}
			return s, misuse("--splits %s: %w; write own, random, or the name of a .json file of the lists train, val and test", r.Splits, err)
		}
	}
	if len(s.Train) == 0 || len(s.Val) == 0 {
		return s, misuse("--dataset %s: it has no graphs to choose the best epoch by: use --splits random", k.name)
	}
	return s, nil
}

// random is a split of a seed: a tenth of the graphs of which anything is known validates
// and a tenth tests, at least one each.
func (k *graphTask) random(seed uint64) datasets.Split {
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

// graphsOfSplit trains one network for each seed on a split of the graphs.
func (c *trainCommand) graphsOfSplit(e env, k *graphTask, r graphRecipe) error {
	if c.Seeds > 1 {
		if err := c.outputFlags.single(c.Seeds); err != nil {
			return err
		}
	}
	r.Folds = 10
	r.Steps = 0 // an epoch goes over all graphs
	metric := k.goal.kind.metric()
	out, progress := report.NewPrinter(e.out), report.NewProgress(e.errOut)
	var all []seeded
	var runs []report.Summary
	for i := range c.Seeds {
		one := r
		one.Seed += uint64(i)
		where := one
		where.Splits = c.at.splits
		s, err := k.split(&where)
		if err != nil {
			return err
		}
		f := new(train.Fit)
		net, own, err := k.fit(f, one, s)
		if err != nil {
			return err
		}
		progress.Run(i, c.Seeds)
		l, err := c.learn(e.ctx, f, one.Seed, watcher{progress, func(ep train.Epoch) string {
			line := report.NewEpochLine(r.Dataset, one.Seed, ep)
			line.Metric = metric
			if c.JSON {
				out.Encode(metric.JSON(line))
			}
			return line.Scores()
		}})
		if l.history != nil {
			all = append(all, seeded{one.Seed, l.history})
		}
		if err != nil {
			return errors.Join(diverged(err, one.LR, ginRecipe().LR), c.writeCSV(all, metric))
		}
		var sum report.Summary
		if err := l.measure(e.ctx, func(t *grad.Tape) { sum = k.summarise(t, &one, l, net, own, s) }); err != nil {
			return errors.Join(err, c.writeCSV(all, metric))
		}
		if c.Save != "" {
			if err := save(c.Save, k.trained(net, own), net.Recipe, scoresOf(sum)); err != nil {
				return err
			}
			sum.Saved = c.Save
		}
		if sum.CSV = c.CSV; c.Seeds == 1 {
			if err := c.writeCSV(all, metric); err != nil {
				return err
			}
		}
		runs = append(runs, sum)
		switch {
		case c.JSON:
			out.Encode(metric.JSON(sum))
		case c.Seeds > 1:
			sum.Line(out)
		default:
			k.page(c, &one, sum, s).Print(out)
		}
	}
	if c.Seeds > 1 {
		o := report.NewOverall(r.Dataset, runs)
		if c.JSON {
			out.Encode(metric.JSON(o))
		} else {
			o.Print(out, k.Name, fmt.Sprintf("%s train --task graph --dataset %s --splits %s --save graphs.safetensors", program, word(r.Dataset), word(r.Splits)))
		}
		if err := c.writeCSV(all, metric); err != nil {
			return err
		}
	}
	return out.Err()
}

// summarise completes what is said of a training with the scores of the chosen network.
func (k *graphTask) summarise(t *grad.Tape, r *graphRecipe, l learnt, net *graphNet, own *goal, s datasets.Split) report.Summary {
	sum := l.summary
	sum.Dataset, sum.Model, sum.Preset, sum.Features, sum.Seed, sum.Select = r.Dataset, r.model().Name, r.preset(), k.reads(r), r.Seed, r.Select
	sum.Batch, sum.Learns, sum.Metric, sum.Checkpoint, sum.Log = r.Batch, string(own.kind), own.kind.metric(), l.checkpoint, l.log
	y := tensor.New(k.Len(), own.Outputs)
	for _, part := range [][]int32{s.Train, s.Val, s.Test} {
		net.fill(t, y, k.held(r, part))
	}
	sum.TrainAccuracy, sum.ValAccuracy, sum.TestAccuracy = own.Score(y, s.Train).Accuracy, own.Score(y, s.Val).Accuracy, own.Score(y, s.Test).Accuracy
	sum.Metrics = own.quality(y, s.Test)
	return sum
}

// page is all there is to say of one training.
func (k *graphTask) page(c *trainCommand, r *graphRecipe, sum report.Summary, s datasets.Split) *report.Training {
	_, says, _ := criterion(r.Select)
	next := fmt.Sprintf("%s train --task graph --dataset %s --splits %s --seeds 10", program, word(r.Dataset), word(r.Splits))
	if sum.Saved != "" {
		next = fmt.Sprintf("%s eval %s", program, word(sum.Saved))
	}
	if r.Model != "" && sum.Saved == "" {
		next += " --model " + r.Model
	}
	if r.Readout != "" && sum.Saved == "" {
		next += " --readout " + r.Readout
	}
	if r.Pool != "" && sum.Saved == "" {
		next += " --pool " + r.Pool
	}
	if or(c.NoEdgeFeatures, false) && sum.Saved == "" {
		next += " --no-edge-features"
	}
	if c.Data != "" {
		next += " --data " + word(c.Data)
	}
	return &report.Training{
		Summary: sum,
		Title: fmt.Sprintf("%s: %s, %d layers of width %d (the input features count as one); %d graphs, %d nodes, %d edges, %d %s",
			k.Name, r.title(), r.Layers, r.Hidden, k.Len(), k.Graph.NumNodes(), k.listed, k.goal.Outputs, k.goal.kind.noun()),
		Settings: "features: " + k.reads(r), Learns: k.goal.says() + k.goal.untaught(s, k.ClassNames), Batching: fmt.Sprintf("preset: %s; batches of %d graphs", r.preset(), r.Batch),
		Nodes: [3]int{len(s.Train), len(s.Val), len(s.Test)}, What: "graphs",
		Network: r.title(), Chosen: says, Longer: sum.Longer(r.Epochs, r.Patience), Next: next,
	}
}

package main

import (
	"context"
	"slices"
	"time"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/train"
)

// trainEpochs is how many epochs are timed, as many as the peers'.
const trainEpochs = 200

// trainBenchmarks are epochs of the peers' citation examples. Cora is part of the
// program; the others are looked for where gatbench train looks.
func trainBenchmarks(threads int, data string) []benchmark {
	var out []benchmark
	for _, name := range []string{"cora", "citeseer", "pubmed"} {
		out = append(out, benchmark{
			name: "train/" + name, op: "citation/gat", lanes: threads,
			params: map[string]any{"dataset": name, "threads": threads},
			train:  func(ctx context.Context) (*trainTimes, error) { return timeTraining(ctx, data, name) },
		})
	}
	return out
}

// trainTimes are the milliseconds of each epoch.
type trainTimes struct {
	step, epoch timing // the training step; that and a validation forward
}

// timeTraining trains with the settings of the peers' examples: Adam at 0.005,
// one output head. The evaluation is one forward from whose logits validation
// and test accuracy are read.
func timeTraining(ctx context.Context, data, name string) (*trainTimes, error) {
	r, err := newRecipe("dgl", "gat", name)
	if err != nil {
		return nil, err
	}
	r.Epochs = trainEpochs
	k, err := openTask(data, name, r.Splits, r.Seed)
	if err != nil {
		return nil, err
	}
	fit, _, err := k.fit(r)
	if err != nil {
		return nil, err
	}
	times := &trainTimes{step: timing{group: 1}, epoch: timing{group: 1}}
	began := time.Time{}
	loss, eval := fit.Loss, fit.Eval
	fit.Loss = func(t *grad.Tape) *grad.Var {
		began = time.Now()
		return loss(t)
	}
	fit.Eval = func(t *grad.Tape) train.Scores {
		times.step.add(time.Since(began))
		s := eval(t)
		times.epoch.add(time.Since(began))
		return s
	}
	if _, err := fit.Run(ctx); err != nil {
		return nil, err
	}
	slices.Sort(times.step.ms)
	slices.Sort(times.epoch.ms)
	return times, nil
}

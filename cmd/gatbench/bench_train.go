package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/train"
)

// trainEpochs is how many epochs are timed, as many as the peers', unless the
// command line says otherwise.
const trainEpochs = 200

// trainChoice is what the command line says of trainings.
type trainChoice struct {
	data   string // folder of the datasets' files
	epochs int
	seed   uint64
	rows   extent // that a training step computes; none said: needed
}

// trainDatasets are what is trained on, as the peers call it and as it is known
// here.
var trainDatasets = []struct{ name, known string }{
	{"cora", "cora"}, {"citeseer", "citeseer"}, {"pubmed", "pubmed"}, {"photo", "amazon_photo"}, {"cs", "coauthor_cs"},
}

// trainModels are what is trained; GAT goes without saying in a name.
var trainModels = []string{"gat", "gcn", "sage"}

// trainBenchmarks are epochs of the peers' citation examples. Cora is part of the
// program; the others are looked for where gatbench train looks.
func trainBenchmarks(threads int, c trainChoice) []benchmark {
	var out []benchmark
	for _, d := range trainDatasets {
		for _, model := range trainModels {
			b := benchmark{
				name: "train/" + d.name, op: "citation/" + model, lanes: threads,
				params: map[string]any{"dataset": d.name, "epochs": c.epochs, "seed": c.seed, "rows": c.rows, "threads": threads},
				train:  func(ctx context.Context) (*trainTimes, error) { return timeTraining(ctx, c, model, d.known) },
			}
			if model != "gat" {
				b.name += "/" + model
			}
			out = append(out, b)
		}
	}
	return out
}

// trainTimes are the milliseconds of each epoch, and what came of them all.
type trainTimes struct {
	step, epoch timing // the training step; that and a validation forward
	scores      benchScores
}

// openPeers returns the task and the settings of a training as PyG's examples
// have them, which the peers' scripts follow: one output head, also on PubMed; of
// SAGE, for which there is no such example, those of GCN, without self-loops.
func openPeers(c trainChoice, model, dataset string) (*task, recipe, error) {
	r, err := newRecipe("pyg", model, dataset)
	if err != nil {
		return nil, r, err
	}
	r.OutHeads, r.Select, r.Epochs, r.Seed = 1, "last", c.epochs, c.seed
	r.Rows = cmp.Or(c.rows, rowsNeeded)
	d, err := open(c.data, dataset)
	if err != nil {
		return nil, r, err
	}
	if len(d.Split.Train) == 0 {
		d.Split = perClass(d.Labels, d.Classes)
	}
	k := newTask(d)
	if err := k.use(formRows); err != nil { // as the peers' scripts have them
		return nil, r, err
	}
	r.Features = formRows
	if model == "sage" {
		k.graph = d.Graph
	}
	return k, r, nil
}

// perClass is the split that the peers' scripts draw for datasets without one.
// Nodes are taken in the order of v·2654435761 mod 2³²; of each class the first
// 20 are for training, the next 30 for validation and the others for testing.
func perClass(labels []int32, classes int) datasets.Split {
	nodes := make([]int32, len(labels))
	for v := range nodes {
		nodes[v] = int32(v)
	}
	slices.SortFunc(nodes, func(a, b int32) int { return cmp.Compare(uint32(a)*2654435761, uint32(b)*2654435761) })
	var s datasets.Split
	seen := make([]int, classes)
	for _, v := range nodes {
		c := labels[v]
		if c < 0 {
			continue // it has no class
		}
		switch n := seen[c]; {
		case n < 20:
			s.Train = append(s.Train, v)
		case n < 50:
			s.Val = append(s.Val, v)
		default:
			s.Test = append(s.Test, v)
		}
		seen[c]++
	}
	for _, part := range [][]int32{s.Train, s.Val, s.Test} {
		slices.Sort(part)
	}
	return s
}

// timeTraining trains with the peers' settings. The evaluation is one forward
// from whose logits validation and test accuracy are read.
func timeTraining(ctx context.Context, c trainChoice, model, dataset string) (*trainTimes, error) {
	k, r, err := openPeers(c, model, dataset)
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
	history, err := fit.Run(ctx)
	if err != nil {
		return nil, err
	}
	times.scores = scoresOf(history.Epochs)
	slices.Sort(times.step.ms)
	slices.Sort(times.epoch.ms)
	return times, nil
}

// scoresOf returns what the peers' scripts note of a training.
func scoresOf(epochs []train.Epoch) benchScores {
	last := epochs[len(epochs)-1]
	best := slices.MaxFunc(epochs, func(a, b train.Epoch) int { return cmp.Compare(a.Val.Accuracy, b.Val.Accuracy) })
	return benchScores{LastLoss: last.Loss, LastTest: last.Test.Accuracy, BestVal: best.Val.Accuracy, BestValTest: best.Test.Accuracy}
}

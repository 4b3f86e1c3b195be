package bench

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/train"
)

// Trainings are the command's trainings with the peers' settings, of a model on a
// dataset by the name that the command knows it by.
type Trainings struct {
	Epochs int
	Seed   uint64
	Rows   string // that a training step computes, as the command calls them

	// Fit returns a training whose evaluation is one forward, from whose logits
	// all accuracies are read.
	Fit func(model, dataset string) (*train.Fit, error)
	// GAT opens a dataset and returns what makes a new GAT for it.
	GAT func(dataset string) (func() (*GAT, error), error)
	// Links returns a training of the graph autoencoder of PyG's example on the links of a
	// dataset, that evaluates nothing.
	Links func(dataset string) (*train.Fit, error)
	// Graphs returns a training of GIN on all graphs of a dataset, so many a step and of so
	// many hidden units, that evaluates nothing.
	Graphs func(dataset string, batch, hidden int) (*train.Fit, error)
}

// trainDatasets are what is trained on, as the peers call it and as it is known
// here.
var trainDatasets = []struct{ name, known string }{
	{"cora", "cora"}, {"citeseer", "citeseer"}, {"pubmed", "pubmed"}, {"photo", "amazon_photo"}, {"cs", "coauthor_cs"},
}

// planetoids is how many of them, from the front, links are predicted in.
const planetoids = 3

// trainModels are what is trained; GAT goes without saying in a name.
var trainModels = []string{"gat", "gcn", "sage"}

// trainBenchmarks are epochs of the peers' citation examples. Cora is part of the
// program; the others are looked for where gatbench train looks.
func trainBenchmarks(threads int, c Trainings) []Benchmark {
	var out []Benchmark
	for _, d := range trainDatasets {
		for _, model := range trainModels {
			b := Benchmark{
				name: "train/" + d.name, op: "citation/" + model, lanes: threads,
				params: map[string]any{"dataset": d.name, "epochs": c.Epochs, "seed": c.Seed, "rows": c.Rows, "threads": threads},
				train: func(ctx context.Context, to *recorder) (*trainTimes, error) {
					return timeTraining(ctx, to, func() (*train.Fit, error) { return c.Fit(model, d.known) })
				},
			}
			if model != "gat" {
				b.name += "/" + model
			}
			out = append(out, b)
		}
	}
	for _, d := range trainDatasets[:planetoids] {
		out = append(out, Benchmark{
			name: "train/" + d.name + "/gae", op: "links/gae", lanes: threads,
			params: map[string]any{"dataset": d.name, "epochs": c.Epochs, "seed": c.Seed, "threads": threads},
			train: func(ctx context.Context, to *recorder) (*trainTimes, error) {
				return timeEpochs(ctx, to, func() (*train.Fit, error) { return c.Links(d.known) })
			},
		})
	}
	return out
}

// timeEpochs trains once and returns how long each epoch took, without any evaluation.
func timeEpochs(ctx context.Context, to *recorder, open func() (*train.Fit, error)) (*trainTimes, error) {
	fit, err := open()
	if err != nil {
		return nil, err
	}
	times := timing{group: 1}
	to.begin()
	fit.OnEpoch = func(e train.Epoch) {
		times.add(e.Took)
		to.end()
		to.begin()
	}
	history, err := fit.Run(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(times.ms)
	return &trainTimes{step: times, epoch: times, scores: scoresOf(history.Epochs)}, nil
}

// trainTimes are the milliseconds of each epoch, and what came of them all.
type trainTimes struct {
	step, epoch timing // the training step; that and a validation forward
	scores      scores
}

// timeTraining trains once and returns how long each epoch took.
func timeTraining(ctx context.Context, to *recorder, open func() (*train.Fit, error)) (*trainTimes, error) {
	fit, err := open()
	if err != nil {
		return nil, err
	}
	times := &trainTimes{step: timing{group: 1}, epoch: timing{group: 1}}
	began := time.Time{}
	loss, eval := fit.Loss, fit.Eval
	fit.Loss = func(t *grad.Tape) *grad.Var {
		began = time.Now()
		to.begin()
		return loss(t)
	}
	fit.Eval = func(t *grad.Tape) train.Scores {
		times.step.add(time.Since(began))
		s := eval(t)
		times.epoch.add(time.Since(began))
		to.end()
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
func scoresOf(epochs []train.Epoch) scores {
	last := epochs[len(epochs)-1]
	best := slices.MaxFunc(epochs, func(a, b train.Epoch) int { return cmp.Compare(a.Val.Accuracy, b.Val.Accuracy) })
	return scores{LastLoss: last.Loss, LastTest: last.Test.Accuracy, BestVal: best.Val.Accuracy, BestValTest: best.Test.Accuracy}
}

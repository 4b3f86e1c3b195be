package trainings

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/train"
)

// Settings are what the command line says of trainings.
type Settings struct {
	Data   string // folder of the datasets' files
	Epochs int
	Seed   uint64
	Rows   string // RowsNeeded or RowsAll
}

// The rows that a training step computes.
const (
	RowsNeeded = "needed" // those that its loss depends on
	RowsAll    = "all"    // as the peers do
)

// PeersEpochs is how many epochs the peers time.
const PeersEpochs = 200

// Source opens the command's trainings with the peers' settings, of a model on a dataset by the name
// that the command knows it by.
type Source struct {
	// Fit returns a training whose evaluation is one forward, from whose logits
	// all accuracies are read.
	Fit func(s Settings, model, dataset string) (*train.Fit, error)
	// GAT opens a dataset and returns what makes a new GAT for it.
	GAT func(s Settings, dataset string) (func() (*GAT, error), error)
	// Links returns a training of the graph autoencoder of PyG's example on the links of a
	// dataset, that evaluates nothing.
	Links func(s Settings, dataset string) (*train.Fit, error)
	// Graphs returns a training of GIN on all graphs of a dataset, so many a step and of so
	// many hidden units, that evaluates nothing.
	Graphs func(s Settings, dataset string, batch, hidden int) (*train.Fit, error)
}

// Trainings are trainings by some settings.
type Trainings struct {
	Settings
	Source
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

// Citations are epochs of the peers' citation examples. Cora is part of the program; the others are
// looked for where gatbench train looks.
func (t Trainings) Citations(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	for _, d := range trainDatasets {
		for _, model := range trainModels {
			b := bench.Benchmark{
				Name: "train/" + d.name, Op: "citation/" + model, Lanes: c.Threads,
				Params: map[string]any{"dataset": d.name, "epochs": t.Epochs, "seed": t.Seed, "rows": t.Rows, "threads": c.Threads},
				Train: func(ctx context.Context, to *bench.Recorder) (*bench.Times, error) {
					return timeTraining(ctx, to, func() (*train.Fit, error) { return t.Fit(t.Settings, model, d.known) })
				},
			}
			if model != "gat" {
				b.Name += "/" + model
			}
			out = append(out, b)
		}
	}
	return out
}

// Autoencoders are epochs of graph autoencoders, which predict links.
func (t Trainings) Autoencoders(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	for _, d := range trainDatasets[:planetoids] {
		out = append(out, bench.Benchmark{
			Name: "train/" + d.name + "/gae", Op: "links/gae", Lanes: c.Threads,
			Params: map[string]any{"dataset": d.name, "epochs": t.Epochs, "seed": t.Seed, "threads": c.Threads},
			Train: func(ctx context.Context, to *bench.Recorder) (*bench.Times, error) {
				return timeEpochs(ctx, to, func() (*train.Fit, error) { return t.Links(t.Settings, d.known) })
			},
		})
	}
	return out
}

// timeEpochs trains once and returns how long each epoch took, without any evaluation.
func timeEpochs(ctx context.Context, to *bench.Recorder, open func() (*train.Fit, error)) (*bench.Times, error) {
	fit, err := open()
	if err != nil {
		return nil, err
	}
	var times bench.Timing
	to.Begin()
	fit.OnEpoch = func(e train.Epoch) {
		times.Add(e.Took)
		to.End()
		to.Begin()
	}
	history, err := fit.Run(ctx)
	if err != nil {
		return nil, err
	}
	return &bench.Times{Step: times, Epoch: times, Scores: scoresOf(history.Epochs)}, nil
}

// timeTraining trains once and returns how long each epoch took.
func timeTraining(ctx context.Context, to *bench.Recorder, open func() (*train.Fit, error)) (*bench.Times, error) {
	fit, err := open()
	if err != nil {
		return nil, err
	}
	times := new(bench.Times)
	began := time.Time{}
	loss, eval := fit.Loss, fit.Eval
	fit.Loss = func(t *grad.Tape) *grad.Var {
		began = time.Now()
		to.Begin()
		return loss(t)
	}
	fit.Eval = func(t *grad.Tape) train.Scores {
		times.Step.Add(time.Since(began))
		s := eval(t)
		times.Epoch.Add(time.Since(began))
		to.End()
		return s
	}
	history, err := fit.Run(ctx)
	if err != nil {
		return nil, err
	}
	times.Scores = scoresOf(history.Epochs)
	return times, nil
}

// scoresOf returns what the peers' scripts note of a training.
func scoresOf(epochs []train.Epoch) bench.Scores {
	last := epochs[len(epochs)-1]
	best := slices.MaxFunc(epochs, func(a, b train.Epoch) int { return cmp.Compare(a.Val.Accuracy, b.Val.Accuracy) })
	return bench.Scores{LastLoss: last.Loss, LastTest: last.Test.Accuracy, BestVal: best.Val.Accuracy, BestValTest: best.Test.Accuracy}
}

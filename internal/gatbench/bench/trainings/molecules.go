package trainings

import (
	"context"
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/train"
)

// manyGraphs are the datasets of many graphs that are read and trained on.
var manyGraphs = []string{"mutag", "proteins"}

// The graphs of a step, and the hidden units: GIN's authors chose of 16 and 32 for such
// graphs, and 64 for those of social networks.
const graphsOfStep = 128

var graphUnits = []int{32, 64}

// Molecules are epochs of GIN over all graphs of a dataset, and the reading of it.
func (t Trainings) Molecules(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	for _, name := range manyGraphs {
		out = append(out, bench.Benchmark{
			Name: "read/" + name, Op: "load/tudataset", Lanes: c.Threads,
			Params: map[string]any{"dataset": name, "threads": c.Threads},
			Open:   func() (bench.Work, error) { return prepareGraphs(c.Data, name) },
		})
		for i, units := range graphUnits {
			b := bench.Benchmark{
				Name: "train/" + name, Op: "graphs/gin", Lanes: c.Threads,
				Params: map[string]any{"dataset": name, "batch": graphsOfStep, "hidden": units, "epochs": t.Epochs, "seed": t.Seed, "threads": c.Threads},
				Train: func(ctx context.Context, to *bench.Recorder) (*bench.Times, error) {
					return timeEpochs(ctx, to, func() (*train.Fit, error) { return t.Graphs(t.Settings, name, graphsOfStep, units) })
				},
			}
			if i > 0 {
				b.Name += fmt.Sprintf("/%d", units)
			}
			out = append(out, b)
		}
	}
	return out
}

// prepareGraphs finds the file, so that looking for it is not timed.
func prepareGraphs(data, name string) (bench.Work, error) {
	path := datasets.FindGraphs(data, name)
	if path == "" {
		return bench.Work{}, fmt.Errorf("no files of %s: name the folder they are in with --data or EDGEWISE_DATA", name)
	}
	return bench.Failing(func() error {
		_, err := datasets.LoadGraphs(path)
		return err
	}), nil
}

package bench

import (
	"context"
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/train"
)

// manyGraphs are the datasets of many graphs that are read and trained on, and the graphs
// of a step.
var manyGraphs = []string{"mutag", "proteins"}

// The graphs of a step, and the hidden units: GIN's authors chose of 16 and 32 for such
// graphs, and 64 for those of social networks.
const graphsOfStep = 128

var graphUnits = []int{32, 64}

// moleculeBenchmarks are epochs of GIN over all graphs of a dataset, and the reading of it.
func moleculeBenchmarks(threads int, data string, c Trainings) []Benchmark {
	var out []Benchmark
	for _, name := range manyGraphs {
		out = append(out, Benchmark{
			name: "read/" + name, op: "load/tudataset", lanes: threads,
			params: map[string]any{"dataset": name, "threads": threads},
			open:   func() (workload, error) { return prepareGraphs(data, name) },
		})
		for i, units := range graphUnits {
			b := Benchmark{
				name: "train/" + name, op: "graphs/gin", lanes: threads,
				params: map[string]any{"dataset": name, "batch": graphsOfStep, "hidden": units, "epochs": c.Epochs, "seed": c.Seed, "threads": threads},
				train: func(ctx context.Context, to *recorder) (*trainTimes, error) {
					return timeEpochs(ctx, to, func() (*train.Fit, error) { return c.Graphs(name, graphsOfStep, units) })
				},
			}
			if i > 0 {
				b.name += fmt.Sprintf("/%d", units)
			}
			out = append(out, b)
		}
	}
	return out
}

// prepareGraphs finds the file, so that looking for it is not timed.
func prepareGraphs(data, name string) (workload, error) {
	path := datasets.FindGraphs(data, name)
	if path == "" {
		return workload{}, fmt.Errorf("no files of %s: name the folder they are in with --data or EDGEWISE_DATA", name)
	}
	var failed error
	return workload{
		call: func() {
			if _, err := datasets.ReadGraphs(path); err != nil {
				failed = err
			}
		},
		failed: func() error { return failed },
	}, nil
}

package trainings

import (
	"path/filepath"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
)

// Read are readings of Planetoid's raw files from a folder, Cora's too.
func Read(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	for _, name := range []string{"cora", "citeseer", "pubmed"} {
		out = append(out, bench.Benchmark{
			Name: "read/" + name, Op: "load/planetoid", Lanes: c.Threads,
			Params: map[string]any{"dataset": name, "threads": c.Threads},
			Open:   func() (bench.Work, error) { return prepareReading(c.Data, name) },
		})
	}
	return out
}

// prepareReading finds the files, so that looking for them is not timed.
func prepareReading(data, name string) (bench.Work, error) {
	dir, err := datasets.Find(data, name)
	if err != nil {
		return bench.Work{}, err
	}
	return bench.Failing(func() error {
		_, err := datasets.Load(filepath.Join(dir, "ind."+name+".allx"))
		return err
	}), nil
}

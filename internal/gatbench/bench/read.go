package bench

import (
	"path/filepath"

	"github.com/edgewise-ml/edgewise/datasets"
)

// readBenchmarks read Planetoid's raw files from a folder, Cora's too.
func readBenchmarks(threads int, data string) []Benchmark {
	var out []Benchmark
	for _, name := range []string{"cora", "citeseer", "pubmed"} {
		out = append(out, Benchmark{
			name: "read/" + name, op: "load/planetoid", lanes: threads,
			params: map[string]any{"dataset": name, "threads": threads},
			open:   func() (workload, error) { return prepareReading(data, name) },
		})
	}
	return out
}

// prepareReading finds the files, so that looking for them is not timed.
func prepareReading(data, name string) (workload, error) {
	dir, err := datasets.Find(data, name)
	if err != nil {
		return workload{}, err
	}
	var failed error
	return workload{
		call: func() {
			if _, err := datasets.Read(filepath.Join(dir, "ind."+name+".allx")); err != nil {
				failed = err
			}
		},
		failed: func() error { return failed },
	}, nil
}

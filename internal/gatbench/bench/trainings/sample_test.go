package trainings

import (
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
)

// The family runs on the graph that was chosen.
func TestSample(t *testing.T) {
	g, err := bench.GraphOfSize("3000x20000")
	if err != nil {
		t.Fatal(err)
	}
	all := Samples(&bench.Choice{Threads: 1, Graph: g})
	if len(all) != len(sampledRows) {
		t.Fatalf("%d benchmarks, want one of each of %d", len(all), len(sampledRows))
	}
	for _, b := range all {
		if b.Params["nodes"] != 3000 || b.Params["batch"] != 1024 {
			t.Errorf("%s: %v", b.Name, b.Params)
		}
		line, err := bench.NewTimer("test", quick).Time(t.Context(), &b)
		if err != nil || !(line.MedianMS > 0) {
			t.Errorf("%s: %+v, %v", b.Name, line, err)
		}
	}
}

// quick is a budget for tests.
var quick = bench.Budget{WarmUps: 1, AtLeast: 2, AtMost: 3, Enough: time.Microsecond, Limit: time.Second}

package kernels

import (
	"math"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
)

// small are benchmarks that take no time, one of each kind.
func small() []bench.Benchmark {
	machine := bench.Machine(&bench.Choice{Threads: 1})
	return []bench.Benchmark{
		machine[0], machine[1],
		gemmBenchmark("gemm", [3]int{5, 7, 3}, 1), gemmBenchmark("gemm_ta", [3]int{5, 7, 3}, 1),
		gemmBenchmark("gemm_packed", [3]int{4, 8, 16}, 1),
		functions[0].benchmark(64, 1), addBenchmark(64, 1), axpyBenchmark(64, 1), sumBenchmark(64, 1), softmaxBenchmark(3, 5, 1),
		dropoutBenchmark(128, 1), wideDropoutBenchmark(8, 1), adamBenchmark(64, 1), ForkJoin(&bench.Choice{Threads: 1})[0],
	}
}

// A line has what the samples and the costs of a benchmark say.
func TestTime(t *testing.T) {
	lines := map[string]*bench.Line{}
	for _, b := range small() {
		l, err := bench.NewTimer("v1.2.3", quick).Time(t.Context(), &b)
		if err != nil {
			t.Fatal(err)
		}
		lines[b.Op] = l
		if l.Peer != "edgewise" || l.Version != "edgewise v1.2.3" || l.Op != b.Op || !(l.MinMS > 0) || l.MedianMS < l.MinMS || l.Reps < 2 || l.Reps > 3 {
			t.Errorf("%s: got %+v", b.Name, l)
		}
		if want := b.Flops / l.MedianMS / 1e6; math.Abs(l.Extra.GFLOPS-want) > 1e-9*want {
			t.Errorf("%s: %v GFLOP/s, want %v", b.Name, l.Extra.GFLOPS, want)
		}
	}
	for name, want := range map[string]any{"m": 5, "k": 7, "n": 3, "threads": 1} {
		if p := lines["dense/gemm_ta"].Params; p[name] != want {
			t.Errorf("the product's %s is %v, want %v", name, p[name], want)
		}
	}
}

// quick is a budget for tests.
var quick = bench.Budget{WarmUps: 1, AtLeast: 2, AtMost: 3, Enough: time.Microsecond, Limit: time.Second}

package bench

import (
	"math"
	"testing"
)

// small are benchmarks that take no time, one of each kind.
func small() []Benchmark {
	return []Benchmark{
		fmaBenchmark(1), copyBenchmark(levels[0], 1),
		gemmBenchmark("gemm", [3]int{5, 7, 3}, 1), gemmBenchmark("gemm_ta", [3]int{5, 7, 3}, 1),
		gemmBenchmark("gemm_packed", [3]int{4, 8, 16}, 1),
		expBenchmark(64, 1), addBenchmark(64, 1), axpyBenchmark(64, 1), sumBenchmark(64, 1), softmaxBenchmark(3, 5, 1),
		dropoutBenchmark(128, 1), wideDropoutBenchmark(8, 1), adamBenchmark(64, 1), forkJoinBenchmark(1),
	}
}

// A line has what the samples and the costs of a benchmark say.
func TestTime(t *testing.T) {
	lines := map[string]*Line{}
	for _, b := range small() {
		l, err := NewTimer("v1.2.3", quick).Time(t.Context(), &b)
		if err != nil {
			t.Fatal(err)
		}
		lines[b.op] = l
		if l.Peer != "edgewise" || l.Version != "edgewise v1.2.3" || l.Op != b.op || !(l.MinMS > 0) || l.MedianMS < l.MinMS || l.Reps < 2 || l.Reps > 3 {
			t.Errorf("%s: got %+v", b.name, l)
		}
		if want := b.flops / l.MedianMS / 1e6; math.Abs(l.Extra.GFLOPS-want) > 1e-9*want {
			t.Errorf("%s: %v GFLOP/s, want %v", b.name, l.Extra.GFLOPS, want)
		}
	}
	for name, want := range map[string]any{"m": 5, "k": 7, "n": 3, "threads": 1} {
		if p := lines["dense/gemm_ta"].Params; p[name] != want {
			t.Errorf("the product's %s is %v, want %v", name, p[name], want)
		}
	}
}

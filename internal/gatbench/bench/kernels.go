package bench

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Benchmark is one thing that can be timed. Its name is a path.
type Benchmark struct {
	name, op string
	params   map[string]any
	flops    float64 // of a call
	bytes    float64 // that a call cannot but read or write
	gathered float64 // that a call's edges ask for, of a kernel on a graph
	steps    float64 // that a call's walks take
	lanes    int     // threads that a call has work for
	at       placed  // where a kernel on a graph is timed
	swept    int     // its place in the sweep, from 1; 0: it is not in it
	unlisted bool    // the sweep or its own name selects it, and nothing else
	prepare  func() workload
	open     func() (workload, error)                                     // instead, of what is in files
	train    func(ctx context.Context, to *recorder) (*trainTimes, error) // instead, of epochs of a training
}

// Name returns the path of a benchmark.
func (b *Benchmark) Name() string { return b.name }

// workload is a benchmark with its operands.
type workload struct {
	call func()
	// of a kernel on a graph: what reads the rows that the call gathers; of a
	// call that computes gradients too: its forward pass alone
	walk, forward func()
	failed        func() error // why a call could not do its work; nil: none can fail
	way           string       // how a product runs; empty: it is none that chooses
	plain         reference    // a loop in Go, without assembly, on one thread
	rival         reference
	out           *tensor.Dense // what call, plain and rival of some write; nil: they do not share it
}

// reference is other code for the same work, or for a share of it where the
// whole would take minutes. Without a call there is none.
type reference struct {
	name  string
	share float64
	call  func()
	equal bool // timed for as long as the benchmark itself
}

const floatSize = int(unsafe.Sizeof(tensor.Float(0)))

// products are m, k and n of gemm and gemm_ta: layers and gradients of weights
// of networks on Cora, PubMed and a graph of arXiv's size.
var products = [][3]int{
	{1024, 1024, 1024}, {45000, 1024, 1024}, {169343, 128, 256}, {19717, 500, 64}, {2708, 1433, 64},
}

var transposed = [][3]int{
	{1433, 2708, 64}, {1024, 45000, 1024}, {128, 169343, 256}, {500, 19717, 64},
}

// narrow are products with few or odd columns, each beside its padded size.
var narrow = [][3]int{
	{2708, 1433, 7}, {2708, 1433, 8}, {2708, 1433, 9}, {2708, 1433, 16}, {2708, 1433, 17}, {2708, 1433, 32},
	{511, 513, 509}, {512, 516, 512},
}

// thin are products of which a side is one or few, of each kind: scores of attention, heads with
// one output, a batch of one, weight gradients of these.
var thin = map[string][][3]int{
	"gemm":    {{1024, 256, 1}, {169343, 64, 1}, {1, 1433, 256}, {64, 256, 64}, {20000, 16, 16}},
	"gemm_ta": {{1433, 64, 1}, {16, 169343, 1}, {256, 16, 256}, {256, 1024, 256}},
	"gemm_tb": {{1, 1433, 256}, {16, 1433, 64}, {64, 256, 64}},
}

// Choice says what to time benchmarks on.
type Choice struct {
	Threads   int    // of which there are names, and which calls have work for
	Graph     *Graph // kernels and layers on a graph: on this one; nil: each on its own
	Heads     int    // their heads; 0: each its own
	Dims      []int  // the columns of a head, each of which is timed; nil: each its own
	Data      string // folder of the datasets' files, for those that read them
	Trainings Trainings
}

// All returns all there are, the ceilings of the machine first. Some are unlisted:
// Choose selects them for the sweep, and by their names.
func All(c Choice) []Benchmark {
	on := sparseChoice{heads: c.Heads, dims: c.Dims, sizes: map[string]*Graph{}}
	if c.Graph != nil {
		on.graphs = []*Graph{c.Graph}
	}
	for _, s := range graphSizes {
		on.sizes[s.name] = s.graph()
	}
	return slices.Concat(denseBenchmarks(c.Threads), sparseBenchmarks(c.Threads, on), buildBenchmarks(c.Threads),
		layerBenchmarks(c.Threads, on), sequenceBenchmarks(c.Threads, c.Data), attendBenchmarks(c.Threads),
		ntmBenchmarks(c.Threads), memoryBenchmarks(c.Threads, c.Data),
		sampleBenchmarks(c.Threads, on), walkBenchmarks(c.Threads, on), trainBenchmarks(c.Threads, c.Trainings),
		ablationBenchmarks(c.Threads, c.Trainings), readBenchmarks(c.Threads, c.Data),
		moleculeBenchmarks(c.Threads, c.Data, c.Trainings))
}

// denseBenchmarks are the ceilings and what works on dense arrays.
func denseBenchmarks(threads int) []Benchmark {
	out := machineBenchmarks(threads)
	for _, s := range products {
		out = append(out, gemmBenchmark("gemm", s, threads))
	}
	for _, s := range transposed {
		out = append(out, gemmBenchmark("gemm_ta", s, threads))
	}
	for _, s := range narrow {
		out = append(out, gemmBenchmark("gemm_odd", s, threads))
	}
	for _, kind := range slices.Sorted(maps.Keys(thin)) {
		for _, s := range thin[kind] {
			out = append(out, gemmBenchmark(kind, s, threads))
		}
	}
	out = append(out, gemmBenchmark("gemm_packed", [3]int{64, 128, 512}, threads))
	return append(append(out, vectorBenchmarks(threads)...), forkJoinBenchmark(threads))
}

// newOperand returns random values of a fixed seed.
func newOperand(shape ...int) *tensor.Dense {
	d := tensor.New(shape...)
	d.Uniform(rand.New(rand.NewPCG(1, 2)), -1, 1)
	return d
}

// forkJoinBenchmark is a loop of two chunks that do nothing.
func forkJoinBenchmark(threads int) Benchmark {
	b := Benchmark{name: "par/forkjoin", op: "par/forkjoin", params: map[string]any{"threads": threads}, lanes: min(threads, 2)}
	b.prepare = func() workload { return workload{call: func() { par.Run(2, nothing{}) }} }
	return b
}

// nothing is a task without work.
type nothing struct{}

// Chunk returns.
func (nothing) Chunk(int) {}

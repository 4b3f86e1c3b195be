package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// benchmark is one thing that can be timed. Its name is a path.
type benchmark struct {
	name, op string
	params   map[string]any
	flops    float64 // of a call
	bytes    float64 // that a call cannot but read or write
	lanes    int     // threads that a call has work for
	prepare  func() workload
}

// workload is a benchmark with its operands.
type workload struct {
	call  func()
	plain reference // a loop in Go, without assembly, on one thread
	rival reference
}

// reference is other code for the same work, or for a share of it where the
// whole would take minutes. Without a call there is none.
type reference struct {
	name  string
	share float64
	call  func()
}

const (
	floatSize = int(unsafe.Sizeof(tensor.Float(0)))
	grain     = 16 << 10 // elements of a chunk of what is pointwise
)

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

// benchmarks returns all there are, the ceilings of the machine first.
func benchmarks(threads int) []benchmark {
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
	return append(out,
		gemmBenchmark("gemm_packed", [3]int{64, 128, 512}, threads),
		expBenchmark(2048, threads), expBenchmark(1<<20, threads),
		dropoutBenchmark(1<<20, threads), forkJoinBenchmark(threads))
}

// newOperand returns random values of a fixed seed.
func newOperand(shape ...int) *tensor.Dense {
	d := tensor.New(shape...)
	d.Uniform(rand.New(rand.NewPCG(1, 2)), -1, 1)
	return d
}

// expBenchmark is y = eˣ. What is longer than a chunk is shared by the threads.
func expBenchmark(n, threads int) benchmark {
	b := benchmark{name: fmt.Sprintf("exp/%d", n), op: "exp", params: map[string]any{"n": n, "threads": threads}}
	b.bytes, b.lanes = float64(2*n*floatSize), min(threads, (n-1)/grain+1)
	b.prepare = func() workload {
		x, y := newOperand(n).Data, make([]tensor.Float, n)
		task := func(lo, hi int) { simd.Exp.Forward(y[lo:hi], x[lo:hi], 0) }
		return workload{
			call: func() { par.For(n, grain, task) },
			plain: reference{share: 1, call: func() {
				for i, v := range x {
					y[i] = tensor.Float(math.Exp(float64(v)))
				}
			}},
		}
	}
	return b
}

// dropoutBenchmark drops 0.6 of n elements in rows of 64 into a cleared array;
// the rival is a copy, on as many threads.
func dropoutBenchmark(n, threads int) benchmark {
	const width = 64
	b := benchmark{name: fmt.Sprintf("dropout/%d", n), op: "dropout", params: map[string]any{"n": n, "p": 0.6, "threads": threads}}
	b.bytes, b.lanes = float64(2*n*floatSize), min(threads, (n-1)/grain+1)
	b.prepare = func() workload {
		x, y := newOperand(n).Data, make([]tensor.Float, n)
		mask := simd.NewDropout(1, 2, 3, 0.6)
		drop := func(lo, hi int) {
			clear(y[lo:hi])
			mask.Add(y[lo:hi], x[lo:hi], lo/width, width)
		}
		move := func(lo, hi int) { copy(y[lo:hi], x[lo:hi]) }
		return workload{
			call: func() { par.For(n, grain, drop) },
			plain: reference{share: 1, call: func() {
				defer simd.Disable()()
				drop(0, n)
			}},
			rival: reference{name: "copy", share: 1, call: func() { par.For(n, grain, move) }},
		}
	}
	return b
}

// forkJoinBenchmark is a loop of two chunks that do nothing.
func forkJoinBenchmark(threads int) benchmark {
	b := benchmark{name: "par/forkjoin", op: "par/forkjoin", params: map[string]any{"threads": threads}, lanes: min(threads, 2)}
	b.prepare = func() workload { return workload{call: func() { par.Run(2, nothing{}) }} }
	return b
}

// nothing is a task without work.
type nothing struct{}

// Chunk returns.
func (nothing) Chunk(int) {}

package bench

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// function is one of a slice, with the operations that its kernel does for an
// element.
type function struct {
	name  string
	f     vec.Unary
	flops float64
	plain func(x float64) float64
}

var functions = []function{
	{"exp", vec.Exp, 20, math.Exp},
	{"log", vec.Log, 31, math.Log},
	{"tanh", vec.Tanh, 23, math.Tanh},
	{"sigmoid", vec.Sigmoid, 22, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
	{"gelu", vec.GELU, 50, func(x float64) float64 { return x / 2 * math.Erfc(-x/math.Sqrt2) }},
}

// inCache, inL3 and inMemory are lengths of slices: of one in the first cache,
// and of ones whose kernels run on several threads.
const (
	inCache  = 2048
	inL3     = 1 << 20
	inMemory = 1 << 24
)

// vectorBenchmarks are the kernels on slices and rows.
func vectorBenchmarks(threads int) []Benchmark {
	var out []Benchmark
	for _, f := range functions {
		out = append(out, f.benchmark(inCache, threads), f.benchmark(inL3, threads))
	}
	for _, n := range []int{inL3, inMemory} {
		out = append(out, addBenchmark(n, threads), axpyBenchmark(n, threads), sumBenchmark(n, threads))
	}
	return append(out, softmaxBenchmark(inL3/64, 64, threads), dropoutBenchmark(inL3, threads), wideDropoutBenchmark(1024, threads), adamBenchmark(inL3, threads))
}

// vector is a benchmark of n elements of which a thread takes at least part.
func vector(op string, n, part, threads int) Benchmark {
	return Benchmark{
		name: fmt.Sprintf("%s/%d", op, n), op: op, params: map[string]any{"n": n, "threads": threads},
		lanes: min(threads, (n-1)/part+1),
	}
}

// parts are how many elements of a function and of a stream a thread takes.
const (
	functionPart = 8 << 10
	streamPart   = 32 << 10
)

// Benchmark is y = f(x) of positive numbers.
func (f function) benchmark(n, threads int) Benchmark {
	b := vector(f.name, n, functionPart, threads)
	b.bytes, b.flops = float64(2*n*floatSize), float64(n)*f.flops
	b.prepare = func() workload {
		x, y := newOperand(n), tensor.New(n)
		for i, v := range x.Data {
			x.Data[i] = tensor.Float(math.Abs(float64(v))) + 0.1
		}
		return workload{
			call: func() { tensor.Apply(y, x, tensor.Unary(f.f), 0) },
			plain: reference{share: 1, call: func() {
				for i, v := range x.Data {
					y.Data[i] = tensor.Float(f.plain(float64(v)))
				}
			}},
		}
	}
	return b
}

func expBenchmark(n, threads int) Benchmark { return functions[0].benchmark(n, threads) }

// addBenchmark is z = x + y.
func addBenchmark(n, threads int) Benchmark {
	b := vector("add", n, streamPart, threads)
	b.bytes, b.flops = float64(3*n*floatSize), float64(n)
	b.prepare = func() workload {
		x, y, z := newOperand(n), newOperand(n), tensor.New(n)
		return workload{call: func() { tensor.Add(z, x, y) }, plain: reference{share: 1, call: func() {
			for i, v := range x.Data {
				z.Data[i] = v + y.Data[i]
			}
		}}}
	}
	return b
}

// axpyBenchmark is y += c·x.
func axpyBenchmark(n, threads int) Benchmark {
	b := vector("axpy", n, streamPart, threads)
	b.bytes, b.flops = float64(3*n*floatSize), float64(2*n)
	b.prepare = func() workload {
		x, y := newOperand(n), tensor.New(n)
		return workload{call: func() { y.AddScaled(x, 1e-3) }, plain: reference{share: 1, call: func() { addScaled(y.Data, x.Data, 1e-3) }}}
	}
	return b
}

// sumBenchmark is Σx in float64.
func sumBenchmark(n, threads int) Benchmark {
	b := vector("sum", n, streamPart/2, threads)
	b.bytes, b.flops = float64(n*floatSize), float64(n)
	b.prepare = func() workload {
		x, sum := newOperand(n), 0.0
		return workload{call: func() { sum = tensor.Sum64(x) }, plain: reference{share: 1, call: func() {
			sum = 0
			for _, v := range x.Data {
				sum += float64(v)
			}
		}}}
	}
	return b
}

// softmaxBenchmark is a softmax of each row.
func softmaxBenchmark(rows, width, threads int) Benchmark {
	n := rows * width
	b := vector("softmax", n, functionPart, threads)
	b.name, b.params = fmt.Sprintf("softmax/%dx%d", rows, width), map[string]any{"rows": rows, "width": width, "threads": threads}
	b.bytes, b.flops = float64(2*n*floatSize), float64(n)*24
	b.prepare = func() workload {
		x, y := newOperand(rows, width), tensor.New(rows, width)
		return workload{call: func() { tensor.SoftmaxRows(y, x) }, plain: reference{share: 1, call: func() {
			for i := range rows {
				softmaxRow(y.Row(i), x.Row(i))
			}
		}}}
	}
	return b
}

// softmaxRow is the plain loop.
func softmaxRow(y, x []tensor.Float) {
	top, sum := x[0], tensor.Float(0)
	for _, v := range x {
		top = max(top, v)
	}
	for i, v := range x {
		y[i] = tensor.Float(math.Exp(float64(v - top)))
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
}

// dropoutBenchmark drops 0.6 of n elements in rows of up to 64, as the layers of
// a small network do.
func dropoutBenchmark(n, threads int) Benchmark {
	return dropoutOfRows(vector("dropout", n, streamPart/2, threads), n, min(n, 64))
}

// wideDropoutBenchmark is the same in n rows of n.
func wideDropoutBenchmark(n, threads int) Benchmark {
	b := vector("dropout", n*n, streamPart/2, threads)
	b.name = fmt.Sprintf("dropout/%dx%d", n, n)
	return dropoutOfRows(b, n*n, n)
}

// dropoutOfRows completes a benchmark of n elements in rows of a width; the rival
// is a copy, on as many threads.
func dropoutOfRows(b Benchmark, n, width int) Benchmark {
	b.params["width"] = width
	b.params["p"] = 0.6
	b.bytes = float64(2 * n * floatSize)
	b.prepare = func() workload {
		x, y := newOperand(n/width, width), tensor.New(n/width, width)
		drop := vec.NewDropout(1, 2, 3, 0.6)
		mask := tensor.Mask(drop)
		move := func(lo, hi int) { copy(y.Data[lo:hi], x.Data[lo:hi]) }
		return workload{
			call: func() { tensor.Dropout(y, x, &mask) },
			plain: reference{share: 1, call: func() {
				defer cpu.Disable()()
				drop.Set(y.Data, x.Data, 0, width)
			}},
			rival: reference{name: "copy", share: 1, call: func() { par.For(n, streamPart/2, move) }},
		}
	}
	return b
}

// adamBenchmark is the update of a Param of n numbers.
func adamBenchmark(n, threads int) Benchmark {
	b := vector("adam", n, functionPart, threads)
	b.bytes, b.flops = float64(7*n*floatSize), float64(13*n)
	b.prepare = func() workload {
		p := &grad.Param{Value: newOperand(n)}
		g, opt := grad.Grads{{Param: p, Value: newOperand(n)}}, train.Adam{LR: 1e-6}
		plain := train.Adam{LR: 1e-6}
		return workload{call: func() { opt.Step(g) }, plain: reference{share: 1, call: func() {
			defer cpu.Disable()()
			plain.Step(g)
		}}}
	}
	return b
}

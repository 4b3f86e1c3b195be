package kernels

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
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

// Vectors are the kernels on slices and rows.
func Vectors(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	n := c.Threads
	for _, f := range functions {
		out = append(out, f.benchmark(inCache, n), f.benchmark(inL3, n))
	}
	for _, length := range []int{inL3, inMemory} {
		out = append(out, addBenchmark(length, n), axpyBenchmark(length, n), sumBenchmark(length, n))
	}
	return append(out, softmaxBenchmark(inL3/64, 64, n), dropoutBenchmark(inL3, n), wideDropoutBenchmark(1024, n), adamBenchmark(inL3, n))
}

// vector is a benchmark of n elements of which a thread takes at least part.
func vector(op string, n, part, threads int) bench.Benchmark {
	return bench.Benchmark{
		Name: fmt.Sprintf("%s/%d", op, n), Op: op, Params: map[string]any{"n": n, "threads": threads},
		Lanes: min(threads, (n-1)/part+1),
	}
}

// parts are how many elements of a function and of a stream a thread takes.
const (
	functionPart = 8 << 10
	streamPart   = 32 << 10
)

// benchmark is y = f(x) of positive numbers.
func (f function) benchmark(n, threads int) bench.Benchmark {
	b := vector(f.name, n, functionPart, threads)
	b.Bytes, b.Flops = float64(2*n*bench.FloatSize), float64(n)*f.flops
	b.Prepare = func() bench.Work {
		x, y := bench.Operand(n), tensor.New(n)
		for i, v := range x.Data {
			x.Data[i] = tensor.Float(math.Abs(float64(v))) + 0.1
		}
		return bench.Work{
			Call: func() { tensor.Apply(y, x, tensor.Unary(f.f), 0) },
			Plain: bench.Reference{Share: 1, Call: func() {
				for i, v := range x.Data {
					y.Data[i] = tensor.Float(f.plain(float64(v)))
				}
			}},
		}
	}
	return b
}

// addBenchmark is z = x + y.
func addBenchmark(n, threads int) bench.Benchmark {
	b := vector("add", n, streamPart, threads)
	b.Bytes, b.Flops = float64(3*n*bench.FloatSize), float64(n)
	b.Prepare = func() bench.Work {
		x, y, z := bench.Operand(n), bench.Operand(n), tensor.New(n)
		return bench.Work{Call: func() { tensor.Add(z, x, y) }, Plain: bench.Reference{Share: 1, Call: func() {
			for i, v := range x.Data {
				z.Data[i] = v + y.Data[i]
			}
		}}}
	}
	return b
}

// axpyBenchmark is y += c·x.
func axpyBenchmark(n, threads int) bench.Benchmark {
	b := vector("axpy", n, streamPart, threads)
	b.Bytes, b.Flops = float64(3*n*bench.FloatSize), float64(2*n)
	b.Prepare = func() bench.Work {
		x, y := bench.Operand(n), tensor.New(n)
		return bench.Work{Call: func() { y.AddScaled(x, 1e-3) }, Plain: bench.Reference{Share: 1, Call: func() { addScaled(y.Data, x.Data, 1e-3) }}}
	}
	return b
}

// sumBenchmark is Σx in float64.
func sumBenchmark(n, threads int) bench.Benchmark {
	b := vector("sum", n, streamPart/2, threads)
	b.Bytes, b.Flops = float64(n*bench.FloatSize), float64(n)
	b.Prepare = func() bench.Work {
		x, sum := bench.Operand(n), 0.0
		return bench.Work{Call: func() { sum = tensor.Sum64(x) }, Plain: bench.Reference{Share: 1, Call: func() {
			sum = 0
			for _, v := range x.Data {
				sum += float64(v)
			}
		}}}
	}
	return b
}

// softmaxBenchmark is a softmax of each row.
func softmaxBenchmark(rows, width, threads int) bench.Benchmark {
	n := rows * width
	b := vector("softmax", n, functionPart, threads)
	b.Name, b.Params = fmt.Sprintf("softmax/%dx%d", rows, width), map[string]any{"rows": rows, "width": width, "threads": threads}
	b.Bytes, b.Flops = float64(2*n*bench.FloatSize), float64(n)*24
	b.Prepare = func() bench.Work {
		x, y := bench.Operand(rows, width), tensor.New(rows, width)
		return bench.Work{Call: func() { tensor.SoftmaxRows(y, x) }, Plain: bench.Reference{Share: 1, Call: func() {
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
func dropoutBenchmark(n, threads int) bench.Benchmark {
	return dropoutOfRows(vector("dropout", n, streamPart/2, threads), n, min(n, 64))
}

// wideDropoutBenchmark is the same in n rows of n.
func wideDropoutBenchmark(n, threads int) bench.Benchmark {
	b := vector("dropout", n*n, streamPart/2, threads)
	b.Name = fmt.Sprintf("dropout/%dx%d", n, n)
	return dropoutOfRows(b, n*n, n)
}

// dropoutOfRows completes a benchmark of n elements in rows of a width; the rival
// is a copy, on as many threads.
func dropoutOfRows(b bench.Benchmark, n, width int) bench.Benchmark {
	b.Params["width"] = width
	b.Params["p"] = 0.6
	b.Bytes = float64(2 * n * bench.FloatSize)
	b.Prepare = func() bench.Work {
		x, y := bench.Operand(n/width, width), tensor.New(n/width, width)
		drop := vec.NewDropout(1, 2, 3, 0.6)
		mask := tensor.Mask(drop)
		move := func(lo, hi int) { copy(y.Data[lo:hi], x.Data[lo:hi]) }
		return bench.Work{
			Call: func() { tensor.Dropout(y, x, &mask) },
			Plain: bench.Reference{Share: 1, Call: func() {
				defer cpu.Disable()()
				drop.Set(y.Data, x.Data, 0, width)
			}},
			Rival: bench.Reference{Name: "copy", Share: 1, Call: func() { par.For(n, streamPart/2, move) }},
		}
	}
	return b
}

// adamBenchmark is the update of a Param of n numbers.
func adamBenchmark(n, threads int) bench.Benchmark {
	b := vector("adam", n, functionPart, threads)
	b.Bytes, b.Flops = float64(7*n*bench.FloatSize), float64(13*n)
	b.Prepare = func() bench.Work {
		p := &grad.Param{Value: bench.Operand(n)}
		g, opt := grad.Grads{{Param: p, Value: bench.Operand(n)}}, train.Adam{LR: 1e-6}
		plain := train.Adam{LR: 1e-6}
		return bench.Work{Call: func() { opt.Step(g) }, Plain: bench.Reference{Share: 1, Call: func() {
			defer cpu.Disable()()
			plain.Step(g)
		}}}
	}
	return b
}

// ForkJoin is a loop of two chunks that do nothing.
func ForkJoin(c *bench.Choice) []bench.Benchmark {
	return []bench.Benchmark{{
		Name: "par/forkjoin", Op: "par/forkjoin", Params: map[string]any{"threads": c.Threads}, Lanes: min(c.Threads, 2),
		Prepare: func() bench.Work { return bench.Work{Call: func() { par.Run(2, nothing{}) }} },
	}}
}

// nothing is a task without work.
type nothing struct{}

// Chunk returns.
func (nothing) Chunk(int) {}

package bench

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// level is a part of the memory and how its copy bandwidth is measured.
type level struct {
	name  string
	holds int // bytes a thread that are taken to be in it
	size  int // bytes a thread of what is copied, half of them the source
	times int // how often a call copies it
}

// levels are the caches of usual processors; the last is the memory, of which
// the threads share the size.
var levels = []level{
	{"l1", 32 << 10, 16 << 10, 512},
	{"l2", 512 << 10, 256 << 10, 32},
	{"l3", 16 << 20, 4 << 20, 4},
	{"memory", 0, 256 << 20, 1},
}

// levelOf returns where so many bytes a thread are taken to be.
func levelOf(bytes float64) level {
	for _, l := range levels[:len(levels)-1] {
		if bytes <= float64(l.holds) {
			return l
		}
	}
	return levels[len(levels)-1]
}

// Machine are the ceilings that the kernels are compared with, on one thread and on all.
func Machine(c *Choice) []Benchmark {
	var out []Benchmark
	for _, n := range slices.Compact([]int{1, c.Threads}) {
		out = append(out, fmaBenchmark(n))
		for _, l := range levels {
			out = append(out, copyBenchmark(l, n))
		}
		for _, l := range levels[1:] {
			out = append(out, gatherBenchmark(l, n))
		}
	}
	return out
}

// machine reports whether b is a ceiling.
func (b *Benchmark) machine() bool { return strings.HasPrefix(b.Name, "machine/") }

// limited reports whether b is compared with a ceiling.
func (b *Benchmark) limited() bool { return b.Flops > 0 || b.Bytes > 0 }

// Limits returns the ceilings that the chosen ones are compared with, but for those
// that were chosen themselves. What only reads files or trains has none.
func Limits(all, chosen []Benchmark) []Benchmark {
	wanted := map[string]bool{}
	for _, b := range chosen {
		if b.limited() && !b.machine() {
			for _, what := range limits() {
				wanted[fmt.Sprintf("machine/%s/%d", what, b.Lanes)] = true
			}
		}
	}
	for _, b := range chosen {
		delete(wanted, b.Name)
	}
	return slices.DeleteFunc(slices.Clone(all), func(b Benchmark) bool { return !wanted[b.Name] })
}

// WithoutMachine returns all but the ceilings.
func WithoutMachine(all []Benchmark) []Benchmark {
	return slices.DeleteFunc(slices.Clone(all), func(b Benchmark) bool { return b.machine() })
}

// limits are what a call may be bound by: the operations, or the bytes at each level.
func limits() []string {
	out := []string{"fma"}
	for _, l := range levels {
		out = append(out, "copy/"+l.name)
	}
	return out
}

func machineBenchmark(what string, threads int) Benchmark {
	return Benchmark{
		Name: fmt.Sprintf("machine/%s/%d", what, threads), Op: "machine/" + what, Lanes: threads,
		Params: map[string]any{"threads": threads},
	}
}

// fmaBenchmark is the rate of multiply-adds where nothing else can bind: that
// of the micro-kernel of products, on operands in the first cache.
func fmaBenchmark(threads int) Benchmark {
	const times = 128
	b := machineBenchmark("fma", threads)
	b.Flops = float64(threads * times * 2 * fmaM * fmaK * fmaN)
	b.Prepare = func() Work {
		t := make(fmaTask, threads)
		for i := range t {
			t[i] = gemm.Product{
				A: Operand(fmaM, fmaK).Data, RS: fmaK, CS: 1, B: Operand(fmaK, fmaN).Data, LDB: fmaN,
				C: make([]tensor.Float, fmaM*fmaN), LDC: fmaN, M: fmaM, K: fmaK, N: fmaN,
			}
		}
		return Work{Call: func() { par.Run(threads, fmaCalls{t, times}) }}
	}
	return b
}

// The product of fmaBenchmark: 24 KiB, a multiple of every tile.
const fmaM, fmaK, fmaN = 12, 192, 16

// fmaTask has a product for each thread.
type fmaTask []gemm.Product

// fmaCalls computes the products a number of times.
type fmaCalls struct {
	fmaTask
	times int
}

// Chunk computes product i.
func (t fmaCalls) Chunk(i int) {
	p := &t.fmaTask[i]
	clear(p.C) // sums that grow for ever would end as infinities
	for range t.times {
		p.MulAdd()
	}
}

// copyBenchmark copies as much as a level of the memory holds.
func copyBenchmark(l level, threads int) Benchmark {
	size := l.size / 2 / FloatSize
	if l.holds == 0 {
		size /= threads
	}
	b := machineBenchmark("copy/"+l.name, threads)
	b.Bytes = float64(threads) * float64(l.times) * float64(2*size*FloatSize)
	b.Prepare = func() Work {
		t := &copyTask{times: l.times, piece: 4 << 10}
		if l.holds == 0 {
			t.piece = size // long enough to pass by the caches
		}
		for range threads {
			from, to := make([]tensor.Float, size), make([]tensor.Float, size)
			for i := range from {
				from[i] = 1 // a page that was never written is not there
			}
			t.from, t.to = append(t.from, from), append(t.to, to)
		}
		return Work{Call: func() { par.Run(threads, t) }}
	}
	return b
}

// copyTask has two arrays for each thread, which it copies in pieces.
type copyTask struct {
	from, to     [][]tensor.Float
	times, piece int
}

// Chunk copies the arrays of one thread.
func (t *copyTask) Chunk(i int) {
	for range t.times {
		for lo := 0; lo < len(t.from[i]); lo += t.piece {
			hi := min(lo+t.piece, len(t.from[i]))
			copy(t.to[i][lo:hi], t.from[i][lo:hi])
		}
	}
}

// Ceilings are the rates that were measured on this machine, in GFLOP/s or
// GB/s, by the name of the benchmark.
type Ceilings map[string]float64

// Compare takes note of a ceiling, or else says how near a call comes to those that
// were noted.
func (c Ceilings) Compare(b *Benchmark, l *Line) {
	c.learn(b, l)
	c.judge(b, l)
}

// said returns lines about the ceilings of each number of threads that were measured.
func (c Ceilings) said() []string {
	threads := map[int]bool{}
	for name := range c {
		if n, err := strconv.Atoi(path.Base(name)); err == nil {
			threads[n] = true
		}
	}
	var out []string
	for _, n := range slices.Sorted(maps.Keys(threads)) {
		if rate := c[fmt.Sprintf("machine/fma/%d", n)]; rate > 0 {
			out = append(out, fmt.Sprintf("this machine, %s: fma %s GFLOP/s", plural(n, "thread"), some(rate)))
		}
		var rates []string
		for _, l := range levels {
			if rate := c[fmt.Sprintf("machine/copy/%s/%d", l.name, n)]; rate > 0 {
				rates = append(rates, fmt.Sprintf("%s %s", l.name, some(rate)))
			}
		}
		if len(rates) > 0 {
			out = append(out, fmt.Sprintf("this machine, %s: copies %s GB/s", plural(n, "thread"), strings.Join(rates, ", ")))
		}
	}
	return out
}

// learn takes note of a ceiling: the best call counts.
func (c Ceilings) learn(b *Benchmark, l *Line) {
	if b.machine() {
		c[b.Name] = max(b.Flops, b.Bytes) / l.MinMS / 1e6
	}
}

// judge says which ceiling binds a call, and how near the median comes to it.
// The time it leaves is at least that of its operations at the peak, and that of
// its bytes at the bandwidth of where they are; and, where that was measured, that of gathering
// its rows from the second cache.
func (c Ceilings) judge(b *Benchmark, l *Line) {
	if b.machine() {
		return
	}
	where := levelOf(b.Bytes / float64(b.Lanes))
	most := 0.0
	for _, of := range []struct {
		what, ceiling string
		amount        float64
	}{
		{"fma", "fma", b.Flops}, {"copy/" + where.name, "copy/" + where.name, b.Bytes},
		{"gather", b.table().near().path(), b.Gathered},
	} {
		ceiling := c[fmt.Sprintf("machine/%s/%d", of.ceiling, b.Lanes)]
		if ceiling == 0 || of.amount == 0 {
			continue
		}
		if ms := of.amount / ceiling / 1e6; ms > most {
			most = ms
			l.Extra.Limit, l.Extra.LimitPct = fmt.Sprintf("%s/%d", of.what, b.Lanes), 100*ms/l.MedianMS
		}
	}
	t := b.table()
	if rate := c[fmt.Sprintf("machine/%s/%d", t.path(), b.Lanes)]; rate > 0 {
		l.Extra.Table, l.Extra.TableRate = levelOf(t.bytes()/float64(b.Lanes)).name, rate
		l.Extra.TablePct = 100 * l.Extra.Gathered / rate
	}
}

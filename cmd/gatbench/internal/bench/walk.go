package bench

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// walkParts is how many rows the sources of all edges are put into, so that
// threads can share them.
const walkParts = 64

// walk reads the row of x of every edge's source, in the order of the edges, and
// writes next to nothing: what any kernel that gathers these rows has to do.
func walk(g *graph.Graph, x *tensor.Dense, parts int) func() {
	call, _ := walkInto(g, x, parts)
	return call
}

// walkInto is walk, and where it adds up what it reads.
func walkInto(g *graph.Graph, x *tensor.Dense, parts int) (call func(), sums *tensor.Dense) {
	cols := g.In().Cols
	offsets := make([]int64, parts+1)
	for i := range offsets {
		offsets[i] = int64(len(cols)) * int64(i) / int64(parts)
	}
	a, err := sparse.New(parts, g.NumSrc(), offsets, cols, nil)
	if err != nil {
		panic(err) // the offsets above rise from 0 to the end
	}
	sums = tensor.New(parts, x.RowLen())
	return func() {
		sums.Zero()
		sparse.Product{A: a, Add: true}.Into(sums, x)
	}, sums
}

// gatherBenchmark is the rate at which rows of 256 bytes are read at random from
// a table that fits a level of the memory.
func gatherBenchmark(l level, threads int) Benchmark {
	const width, reads = 64, 1 << 18
	size := l.size
	if l.holds == 0 {
		size /= threads
	}
	t := table{threads * size / (width * floatSize), width}
	return t.gathers("gather/"+l.name, reads, 1, threads)
}

// table is rows of a width that are gathered.
type table struct{ rows, width int }

// gathers is the rate at which rows of a table are read at random: so many, the same ones a
// number of times.
func (t table) gathers(what string, reads, times, threads int) Benchmark {
	b := machineBenchmark(what, threads)
	b.bytes = float64(times) * float64(reads) * float64(t.width*floatSize+indexBytes)
	b.prepare = func() workload {
		g := graph.Must(graph.Uniform(rand.New(rand.NewPCG(1, 2)), t.rows, reads))
		parts := walkParts
		if threads == 1 {
			parts = 1 // which no second thread can take from
		}
		once := walk(g, newOperand(t.rows, t.width), parts)
		return workload{call: func() {
			for range times {
				once()
			}
		}}
	}
	return b
}

package bench

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// walkParts is how many rows the sources of all edges are put into, so that
// threads can share them.
const walkParts = 64

// Walk reads the row of x of every edge's source, in the order of the edges, and
// writes next to nothing: what any kernel that gathers these rows has to do.
func Walk(g *graph.Graph, x *tensor.Dense) func() {
	call, _ := walkInto(g, x, walkParts)
	return call
}

// walkInto is Walk into so many rows, and where it adds up what it reads.
func walkInto(g *graph.Graph, x *tensor.Dense, parts int) (call func(), sums *tensor.Dense) {
	p := walkProduct(g, parts)
	sums = tensor.New(parts, x.RowLen())
	return func() {
		sums.Zero()
		p.Into(sums, x)
	}, sums
}

// walkProduct is the sum of a walk.
func walkProduct(g *graph.Graph, parts int) sparse.Product {
	cols := g.In().Cols
	offsets := make([]int64, parts+1)
	for i := range offsets {
		offsets[i] = int64(len(cols)) * int64(i) / int64(parts)
	}
	a, err := sparse.New(parts, g.NumSrc(), offsets, cols, nil)
	if err != nil {
		panic(err) // the offsets above rise from 0 to the end
	}
	return sparse.Product{A: a, Add: true}
}

// gatherBenchmark is the rate at which rows of 256 bytes are read at random from
// a table that fits a level of the memory.
func gatherBenchmark(l level, threads int) Benchmark {
	const width, reads = 64, 1 << 18
	size := l.size
	if l.name == "l3" { // which all share; of the second cache each has its own, with all of the table
		size *= threads
	}
	return tableOf(size, width).gathers("gather/"+l.name, reads, threads)
}

// table is rows of a width that are gathered.
type table struct{ rows, width int }

// tableOf is one of so many bytes.
func tableOf(size, width int) table { return table{size / (width * FloatSize), width} }

// bytes is what it takes.
func (t table) bytes() float64 { return float64(t.rows * t.width * FloatSize) }

// gathers is the rate at which so many rows of a table are read at random.
func (t table) gathers(what string, reads, threads int) Benchmark {
	b := machineBenchmark(what, threads)
	b.Bytes = float64(reads) * float64(t.width*FloatSize+IndexBytes)
	b.Prepare = func() Work {
		parts := walkParts
		if threads == 1 {
			parts = 1 // which no second thread can take from
		}
		x, times := Operand(t.rows, t.width), 1
		draw := func(reads int) *graph.Graph {
			return random.Uniform(rand.New(rand.NewPCG(1, 2)), t.rows, reads)
		}
		g := draw(reads)
		if walkProduct(g, parts).Way(x) != (sparse.Way{}) { // rows are asked for too often: it would read them from a nearer cache
			times = max(1, reads/t.rows)
			g = draw(reads / times)
		}
		once, _ := walkInto(g, x, parts)
		return Work{Call: func() {
			for range times {
				once()
			}
		}}
	}
	return b
}

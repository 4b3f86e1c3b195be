package bench

import (
	"fmt"
	"slices"
)

// sparseKernel is a kernel on the edges of a graph.
type sparseKernel struct {
	name string
	on   []sparseCase // where it is timed unless the command line says otherwise

	// flops, bytes and gathered are of a call: the bytes that it cannot but move,
	// and those that its edges ask for.
	cost    func(g *Graph, s sparseShape) (flops, bytes, gathered float64)
	prepare func(g *Graph, s sparseShape) workload
}

// sparseCase is a graph's size and a width.
type sparseCase struct {
	graph string
	sparseShape
}

// sparseChoice is what the command line says of graphs and widths; empty fields
// leave the kernel's own.
type sparseChoice struct {
	graphs []*Graph
	heads  int
	dims   []int

	sizes map[string]*Graph // those of graphSizes, each made at most once
}

// sparseKernels returns all of them, in the order of the table.
func sparseKernels() []sparseKernel {
	return slices.Concat(sumKernels(), extremeKernels(), edgeKernels(), attentionKernels(), messageKernels())
}

// sparseBenchmarks are the kernels on the graphs that were chosen.
func sparseBenchmarks(threads int, c sparseChoice) []Benchmark {
	swept := 0
	var out []Benchmark
	for _, k := range sparseKernels() {
		listed := c.places(k, k.on)
		for _, at := range listed {
			out = append(out, k.benchmark(at, threads))
		}
		for _, at := range k.sweep(c) {
			i := slices.Index(listed, at)
			if i < 0 {
				i, out = len(listed), append(out, k.benchmark(at, threads))
				listed = append(listed, at)
				out[len(out)-1].unlisted = true
			}
			swept++
			out[len(out)-len(listed)+i].swept = swept
		}
	}
	return out
}

// places is cases, of a kernel whose work does not depend on columns one a graph.
func (c sparseChoice) places(k sparseKernel, on []sparseCase) []placed {
	out, met := c.cases(on), map[*Graph]bool{}
	return slices.DeleteFunc(out, func(p placed) bool {
		_, _, gathered := k.cost(p.g, p.shape)
		again := gathered == 0 && len(c.dims) > 1 && met[p.g]
		met[p.g] = true
		return again
	})
}

// placed is a graph and a width.
type placed struct {
	g     *Graph
	shape sparseShape
}

// cases returns where a kernel is timed, each place once.
func (c sparseChoice) cases(on []sparseCase) []placed {
	var out []placed
	for _, at := range on {
		shape := at.sparseShape
		if c.heads > 0 {
			shape = sparseShape{c.heads, max(1, shape.width()/c.heads)}
		}
		dims := c.dims
		if dims == nil {
			dims = []int{shape.dim}
		}
		graphs := c.graphs
		if graphs == nil {
			graphs = []*Graph{c.sizes[at.graph]}
		}
		for _, g := range graphs {
			for _, dim := range dims {
				if p := (placed{g, sparseShape{shape.heads, dim}}); !slices.Contains(out, p) {
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// Benchmark is the kernel at one place.
func (k sparseKernel) benchmark(at placed, threads int) Benchmark {
	g, s := at.g, at.shape
	b := Benchmark{
		name: fmt.Sprintf("%s/%s/%s", k.name, g.name, s), op: "kernel/" + k.name, lanes: threads, at: at,
		params: map[string]any{"graph": g.name, "nodes": g.nodes, "edges": g.edges, "heads": s.heads, "dim": s.width(), "threads": threads},
	}
	if g.rows != g.nodes {
		b.params["rows"] = g.rows
	}
	b.flops, b.bytes, b.gathered = k.cost(g, s)
	b.prepare = func() workload { return k.prepare(g, s) }
	return b
}

// indexBytes is what an edge's source takes.
const indexBytes = 4

// rowCost is the cost of a kernel that reads, for each edge, perEdge elements
// beside a source's row and its index, and writes a row for each destination.
func rowCost(perFlop, perEdge func(s sparseShape) int) func(g *Graph, s sparseShape) (flops, bytes, gathered float64) {
	return func(g *Graph, s sparseShape) (flops, bytes, gathered float64) {
		return costOfRows(g, s, g.rows, perFlop(s), perEdge(s))
	}
}

// costOfRows is the cost of what reads the rows of sources and reads or writes so many of
// destinations. Rows of nodes that have no edges are not read.
func costOfRows(g *Graph, s sparseShape, rows, perFlop, perEdge int) (flops, bytes, gathered float64) {
	from, to, e, f := float64(g.sources), float64(rows), float64(g.edges), float64(s.width()*floatSize)
	own, offsets := float64(indexBytes+perEdge*floatSize), float64(8*g.rows)
	return e * float64(perFlop), (from+to)*f + e*own + offsets, e*(f+own) + to*f + offsets
}

package kernels

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
)

// kernel is a kernel on the edges of a graph.
type kernel struct {
	name string
	on   []bench.Case // where it is timed unless the command line says otherwise

	// sweep are the heads and their columns in the sweep, whose tables compare kernels on more
	// graphs; nil: it is not in it.
	sweep [][2]int

	// flops, bytes and gathered are of a call: the bytes that it cannot but move,
	// and those that its edges ask for.
	cost    func(g *bench.Graph, s bench.Shape) (flops, bytes, gathered float64)
	prepare func(g *bench.Graph, s bench.Shape) bench.Work
}

// all returns all of them, in the order of the table.
func all() []kernel {
	return slices.Concat(sumKernels(), extremeKernels(), edgeKernels(), attentionKernels(), messageKernels())
}

// OnGraphs are the kernels on the graphs that were chosen, and those of the sweep.
func OnGraphs(c *bench.Choice) []bench.Benchmark {
	swept := 0
	var out []bench.Benchmark
	for _, k := range all() {
		listed := k.places(c, k.on)
		for _, at := range listed {
			out = append(out, k.benchmark(at, c.Threads))
		}
		for _, at := range k.sweptAt(*c) {
			i := slices.Index(listed, at)
			if i < 0 {
				i, out = len(listed), append(out, k.benchmark(at, c.Threads))
				listed = append(listed, at)
				out[len(out)-1].Unlisted = true
			}
			swept++
			out[len(out)-len(listed)+i].Swept = swept
		}
	}
	return out
}

// The widths of the sweep, of kernels on rows and of those with heads. A softmax has no columns, so its
// heads are timed once a graph.
var wideSweep, headSweep = [][2]int{{1, 16}, {1, 64}, {1, 128}}, [][2]int{{8, 8}}

// sweepGraphs are those of the sweep, from few edges a node to many.
var sweepGraphs = []string{"grid", "pubmed", "arxiv", "reddit-tenth", "proteins-small", "reddit-small"}

// sweptAt returns where a kernel is timed in the sweep. The columns of a head that are chosen are
// those of kernels with one head, unless heads are chosen too: 64 are not to become 512.
func (k kernel) sweptAt(c bench.Choice) []bench.Place {
	var on []bench.Case
	for _, g := range sweepGraphs {
		for _, s := range k.sweep {
			if on = append(on, bench.At(s[0], s[1], g)...); s[0] > 1 && c.Heads == 0 {
				c.Dims = nil
			}
		}
	}
	return k.places(&c, on)
}

// places are those of cases, of a kernel whose work does not depend on columns one a graph.
func (k kernel) places(c *bench.Choice, on []bench.Case) []bench.Place {
	out, met := c.Cases(on), map[*bench.Graph]bool{}
	return slices.DeleteFunc(out, func(p bench.Place) bool {
		_, _, gathered := k.cost(p.Graph, p.Shape)
		again := gathered == 0 && len(c.Dims) > 1 && met[p.Graph]
		met[p.Graph] = true
		return again
	})
}

// benchmark is the kernel at one place.
func (k kernel) benchmark(at bench.Place, threads int) bench.Benchmark {
	g, s := at.Graph, at.Shape
	b := bench.Benchmark{
		Name: fmt.Sprintf("%s/%s/%s", k.name, g.Name, s), Op: "kernel/" + k.name, Lanes: threads, At: at,
		Params: map[string]any{"graph": g.Name, "nodes": g.Nodes, "edges": g.Edges, "heads": s.Heads, "dim": s.Width(), "threads": threads},
	}
	if g.Rows != g.Nodes {
		b.Params["rows"] = g.Rows
	}
	b.Flops, b.Bytes, b.Gathered = k.cost(g, s)
	b.Prepare = func() bench.Work { return k.prepare(g, s) }
	return b
}

// rowCost is the cost of a kernel that reads, for each edge, perEdge elements
// beside a source's row and its index, and writes a row for each destination.
func rowCost(perFlop, perEdge func(s bench.Shape) int) func(g *bench.Graph, s bench.Shape) (flops, bytes, gathered float64) {
	return func(g *bench.Graph, s bench.Shape) (flops, bytes, gathered float64) {
		return costOfRows(g, s, g.Rows, perFlop(s), perEdge(s))
	}
}

// costOfRows is the cost of what reads the rows of sources and reads or writes so many of
// destinations. Rows of nodes that have no edges are not read.
func costOfRows(g *bench.Graph, s bench.Shape, rows, perFlop, perEdge int) (flops, bytes, gathered float64) {
	from, to, e, f := float64(g.Sources), float64(rows), float64(g.Edges), float64(s.Width()*bench.FloatSize)
	own, offsets := float64(bench.IndexBytes+perEdge*bench.FloatSize), float64(8*g.Rows)
	return e * float64(perFlop), (from+to)*f + e*own + offsets, e*(f+own) + to*f + offsets
}

package kernels

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"gonum.org/v1/gonum/graph/simple"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Around are what happens around the kernels: making matrices, walking graphs, and products with
// features that are mostly zeros.
func Around(c *bench.Choice) []bench.Benchmark {
	out := []bench.Benchmark{fromCOOBenchmark(10_000_000, c.Threads), neighboursBenchmark()}
	for _, f := range featureSizes {
		out = append(out, f.benchmark("features", c.Threads), f.benchmark("features_ta", c.Threads))
	}
	return out
}

// fromCOOBenchmark makes a matrix of a million rows from n pairs in no order.
func fromCOOBenchmark(n, threads int) bench.Benchmark {
	const rows = 1_000_000
	b := bench.Benchmark{
		Name: fmt.Sprintf("from_coo/%d", n), Op: "from_coo", Lanes: threads,
		Params: map[string]any{"rows": rows, "edges": n, "threads": threads},
		Bytes:  float64(n*(2*bench.IndexBytes+2*bench.IndexBytes) + 8*rows), // the pairs; columns and the order
	}
	b.Prepare = func() bench.Work {
		rng := rand.New(rand.NewPCG(1, 2))
		r, c := make([]int32, n), make([]int32, n)
		for i := range r {
			r[i], c[i] = rng.Int32N(rows), rng.Int32N(rows)
		}
		return bench.Work{Call: func() {
			if _, _, err := sparse.FromCOO(rows, rows, r, c, nil); err != nil {
				panic(err) // all are below rows
			}
		}}
	}
	return b
}

// neighboursBenchmark walks all in-neighbours of a graph of Cora's size, without
// loops; the rival does so through gonum's interfaces on gonum's own graph of the
// same edges.
func neighboursBenchmark() bench.Benchmark {
	b := bench.Benchmark{Name: "neighbours/cora", Op: "neighbours", Lanes: 1, Params: map[string]any{"graph": "cora", "threads": 1}}
	b.Prepare = func() bench.Work {
		g := graph.WithoutSelfLoops(new(bench.Choice).GraphOr("cora").Get())
		theirs := gonumGraph(g)
		return bench.Work{
			Call: func() { visited.Add(sumOfSources(g)) },
			Rival: bench.Reference{Name: bench.Gonum, Share: 1, Call: func() {
				sum := int64(0)
				for v := range g.NumDst() {
					for it := theirs.To(int64(v)); it.Next(); {
						sum += it.Node().ID()
					}
				}
				visited.Add(sum)
			}},
		}
	}
	return b
}

// sumOfSources walks the edges into every node.
func sumOfSources(g *graph.Graph) int64 {
	sum := int64(0)
	for v := range g.NumDst() {
		for _, u := range g.Sources(v) {
			sum += int64(u)
		}
	}
	return sum
}

// visited keeps the compiler from leaving out a walk.
var visited atomic.Int64

// featureSize is the size of a dataset's bag of words.
type featureSize struct {
	name                string
	rows, cols, nonzero int
}

var featureSizes = []featureSize{
	{"cora", 2708, 1433, 49216}, {"citeseer", 3327, 3703, 105165}, {"pubmed", 19717, 500, 988031},
}

// benchmark is a product of sparse features with weights for 64 columns, or with
// features_ta that of their transpose with a gradient; the rival takes the same
// features as a dense array.
func (f featureSize) benchmark(kind string, threads int) bench.Benchmark {
	const out = 64
	b := bench.Benchmark{
		Name: fmt.Sprintf("%s/%s/%d", kind, f.name, out), Op: kind, Lanes: threads,
		Params: map[string]any{"rows": f.rows, "cols": f.cols, "nonzeros": f.nonzero, "dim": out, "threads": threads},
		Flops:  2 * float64(f.nonzero) * out,
		Bytes:  float64(f.nonzero*(bench.IndexBytes+bench.FloatSize) + (f.rows+f.cols)*out*bench.FloatSize),
	}
	b.Prepare = func() bench.Work {
		x := f.random()
		d := x.Dense()
		if kind == "features" {
			w, y := bench.Operand(f.cols, out), tensor.New(f.rows, out)
			return bench.Work{
				Call:  func() { sparse.Product{A: x}.Into(y, w) },
				Rival: bench.Reference{Name: "dense", Share: 1, Call: func() { y.Zero(); tensor.MatMul(y, d, w, 0) }},
			}
		}
		dy, dw := bench.Operand(f.rows, out), tensor.New(f.cols, out)
		return bench.Work{
			Call:  func() { sparse.Product{A: x, Transpose: true}.Into(dw, dy) },
			Rival: bench.Reference{Name: "dense", Share: 1, Call: func() { dw.Zero(); tensor.MatMul(dw, d, dy, tensor.TransA) }},
		}
	}
	return b
}

// random returns features of that size whose nonzeros are anywhere.
func (f featureSize) random() *sparse.CSR {
	g := graph.Must(graph.NewBipartite(f.cols, f.rows, randomIDs(f.cols, f.nonzero), randomIDs(f.rows, f.nonzero)))
	in := g.In()
	values := bench.Operand(f.nonzero).Data
	x, err := sparse.New(f.rows, f.cols, in.Offsets, in.Cols, values)
	if err != nil {
		panic(err) // the structure is a graph's
	}
	return x
}

func randomIDs(below, n int) []int32 {
	rng := rand.New(rand.NewPCG(uint64(below), uint64(n)))
	out := make([]int32, n)
	for i := range out {
		out[i] = rng.Int32N(int32(below))
	}
	return out
}

// gonumGraph returns a copy of g, which has no loops, as gonum keeps graphs. It
// has no parallel edges, which gonum's has no room for.
func gonumGraph(g *graph.Graph) *simple.DirectedGraph {
	out := simple.NewDirectedGraph()
	for v := range g.NumDst() {
		out.AddNode(simple.Node(v))
	}
	for v := range g.NumDst() {
		for _, u := range g.In().Cols[g.In().Offsets[v]:g.In().Offsets[v+1]] {
			out.SetEdge(simple.Edge{F: simple.Node(u), T: simple.Node(v)})
		}
	}
	return out
}

package gonumgraph

import (
	"fmt"
	"math/rand/v2"
	"testing"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/community"
	"gonum.org/v1/gonum/graph/network"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/graph/random"
)

// BenchmarkWalk goes over all in-neighbours of a graph of about Cora's size, without
// loops and parallel edges as gonum's is: with the graph's own iterator, over its
// rows, through its gonum view, and in a gonum graph.
func BenchmarkWalk(b *testing.B) {
	g := random.BarabasiAlbert(rand.New(rand.NewPCG(1, 1)), 2708, 2)
	theirs := simple.NewDirectedGraph()
	gonum.Copy(theirs, Of(g))
	want := 0
	for _, u := range g.In().Cols {
		want += int(u)
	}
	for _, c := range []struct {
		name string
		walk func() int
	}{
		{"sources", func() int { return walkSources(g) }},
		{"rows", func() int { return walkRows(g) }},
		{"view", func() int { return walkGonum(Of(g)) }},
		{"gonum", func() int { return walkGonum(theirs) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if c.walk() != want {
					b.Fatal("the walk missed a node")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*g.NumEdges()), "ns/edge")
		})
	}
}

// BenchmarkOfNodes gives the times that the comments of PageRank, CoreNumbers and Communities
// name: of 20,000 nodes and 200,000 edges by this package and by gonum on a graph of its own,
// and of communities of 2,708 nodes too, as gonum's Modularize takes minutes for 20,000.
func BenchmarkOfNodes(b *testing.B) {
	for _, n := range []int{2708, 20_000} {
		g := graph.Undirected(random.BarabasiAlbert(rand.New(rand.NewPCG(1, 1)), n, 5))
		directed, both := simple.NewDirectedGraph(), simple.NewUndirectedGraph()
		gonum.Copy(directed, Of(g))
		for e, u := range g.In().Cols {
			if v := g.Destinations()[e]; u < v {
				both.SetEdge(simple.Edge{F: simple.Node(u), T: simple.Node(v)})
			}
		}
		for _, c := range []struct {
			name string
			run  func()
		}{
			{"PageRank/edgewise", func() { analysis.PageRank(g, 0.85) }},
			{"PageRank/gonum", func() { network.PageRankSparse(directed, 0.85, 1e-9) }},
			{"core/edgewise", func() { analysis.CoreNumbers(g) }},
			{"core/gonum", func() { topo.DegeneracyOrdering(both) }},
			{"louvain/edgewise", func() { analysis.Communities(rand.New(rand.NewPCG(1, 1)), g, 1) }},
			{"louvain/gonum", func() { community.Modularize(both, 1, rand.NewPCG(1, 1)) }},
		} {
			if n > 10_000 && c.name == "louvain/gonum" {
				continue
			}
			b.Run(fmt.Sprintf("%d/%s", n, c.name), func(b *testing.B) {
				for b.Loop() {
					c.run()
				}
			})
		}
	}
}

func walkSources(g *graph.Graph) int {
	sum := 0
	for v := range g.NumNodes() {
		for _, u := range g.Sources(v) {
			sum += int(u)
		}
	}
	return sum
}

func walkRows(g *graph.Graph) int {
	in, sum := g.In(), 0
	for v := range g.NumNodes() {
		for _, u := range in.Cols[in.Offsets[v]:in.Offsets[v+1]] {
			sum += int(u)
		}
	}
	return sum
}

func walkGonum(g gonum.Directed) int {
	sum := 0
	for nodes := g.Nodes(); nodes.Next(); {
		for sources := g.To(nodes.Node().ID()); sources.Next(); {
			sum += int(sources.Node().ID())
		}
	}
	return sum
}

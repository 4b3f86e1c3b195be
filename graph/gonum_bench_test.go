package graph_test

import (
	"math/rand/v2"
	"testing"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/edgewise-ml/edgewise/graph"
)

// BenchmarkWalk goes over all in-neighbours of a graph of about Cora's size, without
// loops and parallel edges as gonum's is: with the graph's own iterator, over its
// rows, through its gonum view, and in a gonum graph.
func BenchmarkWalk(b *testing.B) {
	g := graph.Must(graph.BarabasiAlbert(rand.New(rand.NewPCG(1, 1)), 2708, 2))
	theirs := simple.NewDirectedGraph()
	gonum.Copy(theirs, g.Gonum())
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
		{"view", func() int { return walkGonum(g.Gonum()) }},
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

package sample

import (
	"fmt"
	"math/bits"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Corruptions draws false edges that resemble true ones: each has one of its ends
// replaced by a node drawn at random, and keeps its kind. Models of knowledge graphs
// and skip-grams learn from them. That a drawn edge is true after all is possible and
// rare, as in the papers.
type Corruptions struct {
	Number int    // for each edge
	Ends   Ends   // which end is replaced; empty: the source of every second false edge, the destination of the others
	Seed   uint64 // of what is drawn
}

// Ends says which end of an edge is replaced.
type Ends string

// The ends that may be replaced.
const (
	ReplaceSource      Ends = "source"
	ReplaceDestination Ends = "destination"
)

// Draw returns the graph of the false edges, Number for each edge of g, and where they
// stand in it: that of edge e of g with number i is edge at[e·Number+i]. It follows from
// Seed and step alone. It panics with a [*tensor.ShapeError] if Number is negative or Ends is
// none of the ends.
func (c Corruptions) Draw(g *graph.Graph, step uint64) (*graph.Graph, []int32) {
	given("sample.Corruptions.Draw", g)
	switch {
	case c.Number < 0:
		panic(&tensor.ShapeError{Op: "sample.Corruptions.Draw", Why: fmt.Sprintf("Number is %d; want 0 false edges or more for each edge", c.Number)})
	case c.Ends != "" && c.Ends != ReplaceSource && c.Ends != ReplaceDestination:
		panic(&tensor.ShapeError{Op: "sample.Corruptions.Draw", Why: fmt.Sprintf("Ends is %q; want %q, %q or nothing, which replaces either in turn", string(c.Ends), ReplaceSource, ReplaceDestination)})
	}
	edges, kinds := g.NumEdges()*c.Number, g.Kinds()
	src, dst, of := make([]int32, edges), make([]int32, edges), make([]int32, edges)
	key := mix(mix(c.Seed) ^ step)
	for e, v := range g.Destinations() {
		for i := range c.Number {
			k := e*c.Number + i
			src[k], dst[k] = g.In().Cols[e], v
			if kinds != nil {
				of[k] = kinds[e]
			}
			if c.Ends == ReplaceSource || c.Ends == "" && k%2 == 0 {
				src[k] = drawn(key, k, g.NumSrc())
			} else {
				dst[k] = drawn(key, k, g.NumDst())
			}
		}
	}
	not := graph.Must(graph.NewBipartite(g.NumSrc(), g.NumDst(), src, dst))
	if !g.Bipartite() {
		not = graph.Must(graph.New(g.NumNodes(), src, dst))
	}
	at := make([]int32, edges)
	for e, k := range not.EdgeOrder() {
		at[k] = int32(e)
	}
	if kinds != nil {
		not = graph.Must(graph.WithKinds(not, of))
	}
	return not, at
}

// drawn returns draw number k of a key, below n.
func drawn(key uint64, k, n int) int32 {
	v, _ := bits.Mul64(mix(key^uint64(k)), uint64(n))
	return int32(v)
}

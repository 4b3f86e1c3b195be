package random

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
	"github.com/edgewise-ml/edgewise/sparse"
)

// Uniform returns a random graph of so many nodes and edges in which both ends
// of each edge are any node, so that it may have loops and parallel edges.
//
// Like the other random graphs it is a function of rng alone, its sources ascend
// within a destination, and its list is its own order. It panics with a
// [*tensor.ShapeError] that names a number that cannot be.
func Uniform(rng *rand.Rand, nodes, edges int) *graph.Graph {
	check("random.Uniform", nodes, edges)
	return randomPairs(nodes, edges, func() int { return rng.IntN(nodes) })
}

// PowerLaw returns a random graph of so many nodes and edges in which an end is
// the node of rank r = 1, 2, … with a probability proportional to r^−alpha. Ranks
// are spread over the nodes at random. It may have loops and parallel edges. At
// 0.75 it has hubs like those of a citation network.
func PowerLaw(rng *rand.Rand, nodes, edges int, alpha float64) *graph.Graph {
	check("random.PowerLaw", nodes, edges)
	if !(alpha >= 0) || math.IsInf(alpha, 1) {
		mistake.Panic("random.PowerLaw", nil, "a power law with the exponent %v, want a finite number from 0 up", alpha)
	}
	ids, ranks := rng.Perm(nodes), newRanks(rng, nodes, alpha)
	return randomPairs(nodes, edges, func() int { return ids[ranks.draw()] })
}

// RMAT returns a random graph of so many nodes and edges as the Graph500
// benchmark has it: each bit of the numbers of source and destination picks a
// quadrant of the adjacency matrix, with the probabilities 0.57, 0.19, 0.19 and
// 0.05. Nodes are renumbered at random. It may have loops and parallel edges.
//
// The paper: Chakrabarti, Zhan and Faloutsos, R-MAT: a recursive model for graph
// mining, 2004.
func RMAT(rng *rand.Rand, nodes, edges int) *graph.Graph {
	check("random.RMAT", nodes, edges)
	ids, depth := rng.Perm(nodes), bits.Len(uint(max(nodes, 2)-1))
	src, dst := make([]int32, 0, edges), make([]int32, 0, edges)
	for len(src) < edges {
		u, v := quadrants(rng, depth)
		if u < nodes && v < nodes {
			src, dst = append(src, int32(ids[u])), append(dst, int32(ids[v]))
		}
	}
	return ascending(nodes, src, dst)
}

// quadrants draws a source and a destination of so many bits.
func quadrants(rng *rand.Rand, depth int) (u, v int) {
	const a, b, c = 0.57, 0.19, 0.19
	for range depth {
		u, v = 2*u, 2*v
		switch r := rng.Float64(); {
		case r < a:
		case r < a+b:
			v++
		case r < a+b+c:
			u++
		default:
			u, v = u+1, v+1
		}
	}
	return u, v
}

// Citation returns a random graph like a citation network prepared for training:
// symmetric, without parallel edges, a loop on each node. Degrees fall off as the
// square root of the rank, and seven of ten links stay in a community of fifty
// nodes. edges counts both directions and the loops.
//
// It panics with a [*tensor.ShapeError] if edges − nodes is odd or negative, or if
// a half of all pairs would be joined.
func Citation(rng *rand.Rand, nodes, edges int) *graph.Graph {
	check("random.Citation", nodes, edges)
	links := (edges - nodes) / 2
	if edges < nodes || (edges-nodes)%2 != 0 {
		mistake.Panic("random.Citation", []int{nodes, edges}, "a citation network of %d edges and %d nodes: a link counts twice and a node has a loop, so edges − nodes must be even and not negative", edges, nodes)
	}
	if links > nodes*(nodes-1)/4 {
		mistake.Panic("random.Citation", []int{nodes, edges}, "a citation network of %d edges and %d nodes joins more than a half of all pairs", edges, nodes)
	}
	c := citation{rng: rng, nodes: nodes, ids: rng.Perm(nodes), ranks: newRanks(rng, nodes, 0.5)}
	seen := make(map[[2]int32]bool, links)
	src, dst := make([]int32, nodes), make([]int32, nodes)
	for v := range src {
		src[v], dst[v] = int32(v), int32(v)
	}
	for len(seen) < links {
		u, v := c.link()
		if u == v || seen[[2]int32{min(u, v), max(u, v)}] {
			continue
		}
		seen[[2]int32{min(u, v), max(u, v)}] = true
		src, dst = append(src, u, v), append(dst, v, u)
	}
	ids := rng.Perm(nodes)
	for i := range src {
		src[i], dst[i] = int32(ids[src[i]]), int32(ids[dst[i]])
	}
	return ascending(nodes, src, dst)
}

// citation draws the links of [Citation]. Communities are runs of numbers.
type citation struct {
	rng   *rand.Rand
	nodes int
	ids   []int // of each rank, the node
	ranks *ranking
}

// link draws the ends of a link, which may be the same.
func (c *citation) link() (u, v int32) {
	const community, inside = 50, 0.7
	from := c.ids[c.ranks.draw()]
	if c.rng.Float64() >= inside {
		return int32(from), int32(c.ids[c.ranks.draw()])
	}
	to := from/community*community + c.rng.IntN(community)
	return int32(from), int32(min(to, c.nodes-1))
}

// BarabasiAlbert returns a random graph that has grown by preferential
// attachment: it starts as a [graph.Star] of degree+1 nodes, and each further node
// joins so many different ones, each with a probability proportional to its
// degree. Edges go both ways; there are no loops and no parallel edges.
//
// It panics with a [*tensor.ShapeError] unless 1 ≤ degree < nodes. The paper: Barabási and Albert,
// Emergence of scaling in random networks, 1999.
func BarabasiAlbert(rng *rand.Rand, nodes, degree int) *graph.Graph {
	if degree < 1 || degree >= nodes {
		mistake.Panic("random.BarabasiAlbert", []int{nodes}, "nodes that join %d others in a graph of %d nodes, want from 1 to below the number of nodes", degree, nodes)
	}
	check("random.BarabasiAlbert", nodes, 2*int64(degree)*int64(nodes-degree)) // which an int of 32 bits may not hold
	links := degree * (nodes - degree)
	src, dst := make([]int32, 0, 2*links), make([]int32, 0, 2*links)
	join := func(u, v int32) { src, dst = append(src, u, v), append(dst, v, u) }
	for v := int32(1); int(v) <= degree; v++ {
		join(0, v)
	}
	joined := make([]bool, nodes)
	chosen := make([]int32, 0, degree)
	for v := int32(degree + 1); int(v) < nodes; v++ {
		for chosen = chosen[:0]; len(chosen) < degree; {
			u := src[rng.IntN(len(src))] // each node is there once for each of its links
			if !joined[u] {
				joined[u] = true
				chosen = append(chosen, u)
			}
		}
		for _, u := range chosen {
			joined[u] = false
			join(v, u)
		}
	}
	return ascending(nodes, src, dst)
}

// check panics in the name of op unless there can be a graph of such a size.
func check[E int | int64](op string, nodes int, edges E) {
	mistake.NotNegative(op, "nodes", nodes)
	mistake.NotNegative(op, "edges", int(min(0, edges)))
	if err := mistake.Counts(nodes, nodes, edges); err != nil {
		mistake.Panic(op, []int{nodes}, "%v", err)
	}
	if nodes == 0 && edges > 0 {
		mistake.Panic(op, []int{nodes}, "%d edges between no nodes", edges)
	}
}

// randomPairs returns the graph of so many edges with drawn ends.
func randomPairs(nodes, edges int, draw func() int) *graph.Graph {
	src, dst := make([]int32, edges), make([]int32, edges)
	for i := range src {
		src[i] = int32(draw())
	}
	for i := range dst {
		dst[i] = int32(draw())
	}
	return ascending(nodes, src, dst)
}

// ascending returns the graph of edges whose ends are in range, by destination
// and then by source; the list is that order.
func ascending(nodes int, src, dst []int32) *graph.Graph {
	out, _, err := sparse.FromCOO(nodes, nodes, src, dst, nil)
	if err != nil {
		panic(err) // the ends were not in range
	}
	in, _ := out.Transpose()
	return graph.Must(graph.FromCSR(in))
}

// ranking draws ranks from 0 up in proportion to (rank+1)^−alpha.
type ranking struct {
	rng   *rand.Rand
	sums  []float64 // up to each rank; the last is 1
	start []int32   // where to look in sums for a number from i/len(start) up
}

// newRanks returns a ranking of n.
func newRanks(rng *rand.Rand, n int, alpha float64) *ranking {
	r := &ranking{rng: rng, sums: make([]float64, n), start: make([]int32, n)}
	total := 0.0
	for i := range r.sums {
		total += math.Pow(float64(i+1), -alpha)
		r.sums[i] = total
	}
	at := 0
	for i := range r.sums {
		r.sums[i] /= total
	}
	for i := range r.start {
		for at < n-1 && r.sums[at] < float64(i)/float64(n) {
			at++
		}
		r.start[i] = int32(at)
	}
	return r
}

// draw draws a rank.
func (r *ranking) draw() int {
	x := r.rng.Float64()
	i := int(r.start[int(x*float64(len(r.start)))])
	for i < len(r.sums)-1 && r.sums[i] < x {
		i++
	}
	return i
}

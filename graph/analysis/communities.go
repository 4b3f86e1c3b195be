package analysis

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
)

// Communities returns the number of each node's community: groups with more edges inside
// than a random graph of the same degrees would have there, found by the method of Blondel
// and others, "Fast unfolding of communities in large networks" (2008), known as Louvain's.
// Each member of a batch is divided by itself, and its communities are numbered from 0, the
// largest first. A resolution of 1 is usual; a larger one makes smaller communities.
// Directions do not count, parallel edges do, and rng decides the order in which nodes are
// looked at.
//
// It does what gonum's community.Modularize does: on 2,708 nodes and 27,030 edges to 0.2829 of
// modularity beside 0.2845, in 14 ms beside 2.5 s. 20,000 nodes and 200,000 edges take 0.5 s,
// and gonum's had not ended after two minutes. It panics with a [*tensor.ShapeError] if g is bipartite, or resolution is not
// positive.
func Communities(rng *rand.Rand, g *graph.Graph, resolution float64) []int32 {
	mistake.Homogeneous("analysis.Communities", g)
	if !(resolution > 0) || math.IsInf(resolution, 0) {
		mistake.Panic("analysis.Communities", nil, "a resolution of %v, want a positive number", resolution)
	}
	of, at := make([]int32, g.NumNodes()), g.NodeOffsets()
	for m := range len(at) - 1 {
		louvainOf(g, at[m], at[m+1]).divide(rng, resolution, of[at[m]:at[m+1]])
	}
	return of
}

// divide sets of to the communities of the nodes.
func (l *louvain) divide(rng *rand.Rand, resolution float64, of []int32) {
	for v := range of {
		of[v] = int32(v)
	}
	for {
		next, n := l.moved(rng, resolution)
		for v, c := range of {
			of[v] = next[c]
		}
		if n == len(next) { // nobody has moved
			bySize(of)
			return
		}
		l = l.merged(next, n)
	}
}

// louvain is a weighted graph without directions: of nodes, or of communities of them.
type louvain struct {
	offsets []int
	to      []int32
	weight  []float64 // of the edges to others, a number each way
	degree  []float64 // a node's edges, twice those within it
	whole   float64   // the sum of degree
}

// louvainOf returns that of the member of g that has the nodes lo to hi.
func louvainOf(g *graph.Graph, lo, hi int) *louvain {
	var lists weightedLists
	for v := lo; v < hi; v++ {
		for _, u := range g.Sources(v) {
			lists.add(u-int32(lo), int32(v-lo), 1)
		}
	}
	return lists.graph(hi - lo)
}

// weightedLists are edges that are being collected.
type weightedLists struct {
	u, v []int32
	w    []float64
}

func (l *weightedLists) add(u, v int32, w float64) {
	l.u, l.v, l.w = append(l.u, u), append(l.v, v), append(l.w, w)
}

// graph returns the graph of n nodes with these edges.
func (l *weightedLists) graph(n int) *louvain {
	g := &louvain{offsets: make([]int, n+1), degree: make([]float64, n)}
	for i, u := range l.u {
		g.degree[u] += l.w[i]
		g.degree[l.v[i]] += l.w[i]
		g.whole += 2 * l.w[i]
		if u != l.v[i] {
			g.offsets[u+1]++
			g.offsets[l.v[i]+1]++
		}
	}
	for v := range n {
		g.offsets[v+1] += g.offsets[v]
	}
	g.to, g.weight = make([]int32, g.offsets[n]), make([]float64, g.offsets[n])
	at := slices.Clone(g.offsets[:n])
	for i, u := range l.u {
		if v := l.v[i]; u != v {
			g.to[at[u]], g.weight[at[u]] = v, l.w[i]
			g.to[at[v]], g.weight[at[v]] = u, l.w[i]
			at[u]++
			at[v]++
		}
	}
	return g
}

// leastGain is half the modularity that looking at all nodes once must have gained for them
// to be looked at again: later looks gain less and less.
const leastGain = 1e-6

// moved returns the communities, numbered from 0 without a gap, that nodes come to when
// each joins that of a neighbour as long as modularity grows by it, and how many there are.
func (l *louvain) moved(rng *rand.Rand, resolution float64) (of []int32, n int) {
	of = make([]int32, len(l.degree))
	total, links := slices.Clone(l.degree), make([]float64, len(l.degree))
	for v := range of {
		of[v] = int32(v)
	}
	var near []int32 // communities that v has edges to
	for gained := math.Inf(1); gained > leastGain*l.whole; {
		gained = 0
		for _, v := range rng.Perm(len(of)) {
			home := of[v]
			near = append(near[:0], home)
			for k := l.offsets[v]; k < l.offsets[v+1]; k++ {
				c := of[l.to[k]]
				if links[c] == 0 && c != home {
					near = append(near, c)
				}
				links[c] += l.weight[k]
			}
			total[home] -= l.degree[v]
			best, most, stay := home, 0.0, 0.0
			for _, c := range near { // home comes first
				gain := links[c] - resolution*l.degree[v]*total[c]/l.whole
				if c == home {
					most, stay = gain, gain
				} else if gain > most {
					best, most = c, gain
				}
				links[c] = 0
			}
			total[best] += l.degree[v]
			of[v], gained = best, gained+most-stay
		}
	}
	number := make([]int32, len(of))
	for v, c := range of {
		if number[c] == 0 {
			n++
			number[c] = int32(n)
		}
		of[v] = number[c] - 1
	}
	return of, n
}

// merged returns the graph of n communities.
func (l *louvain) merged(of []int32, n int) *louvain {
	members := make([][]int32, n)
	for v, c := range of {
		members[c] = append(members[c], int32(v))
	}
	var lists weightedLists
	links, inside := make([]float64, n), 0.0
	var near []int32
	for c, nodes := range members {
		near, inside = near[:0], 0
		for _, v := range nodes {
			inside += l.degree[v]
			for k := l.offsets[v]; k < l.offsets[v+1]; k++ {
				d := of[l.to[k]]
				if links[d] == 0 {
					near = append(near, d)
				}
				links[d] += l.weight[k]
			}
		}
		for _, d := range near {
			if inside -= links[d]; int(d) == c {
				inside += links[d] // both ends of each are here
			} else if int(d) > c {
				lists.add(int32(c), d, links[d])
			}
			links[d] = 0
		}
		lists.add(int32(c), int32(c), inside/2)
	}
	return lists.graph(n)
}

// bySize numbers communities from the largest on; of two as large, the one whose first node
// comes first is first.
func bySize(of []int32) {
	size, seen := map[int32]int{}, []int32(nil)
	for _, c := range of {
		if size[c]++; size[c] == 1 {
			seen = append(seen, c)
		}
	}
	slices.SortStableFunc(seen, func(a, b int32) int { return cmp.Compare(size[b], size[a]) })
	place := make(map[int32]int32, len(seen))
	for i, c := range seen {
		place[c] = int32(i)
	}
	for v, c := range of {
		of[v] = place[c]
	}
}

package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
)

// Levels is the nodes of an acyclic graph by level. A root has level 0, any
// other node one more than the highest of its predecessors.
//
// Within a level the nodes with the longest way still to go come first; then
// those whose first predecessor stands earlier in Order; then the lower number.
// So of [Chains] the predecessors of a level are a prefix of the level before.
type Levels struct {
	Order   []int32 // all nodes, level by level
	Offsets []int   // level l is Order[Offsets[l]:Offsets[l+1]]
	Rank    []int32 // the place of each node in Order
}

// Len returns the number of levels.
func (l *Levels) Len() int { return len(l.Offsets) - 1 }

// CycleError reports a cycle in a graph that must not have one.
type CycleError struct {
	Cycle []int32 // nodes, each with an edge to the next and the last to the first
}

// Mistake says that the program is wrong, where it sweeps over the cycle.
func (e *CycleError) Mistake() {}

func (e *CycleError) Error() string {
	const most = 16
	var b strings.Builder
	b.WriteString("graph: cycle through nodes ")
	for i, v := range e.Cycle {
		if i == most {
			fmt.Fprintf(&b, "… (%d in all) → ", len(e.Cycle))
			break
		}
		fmt.Fprintf(&b, "%d → ", v)
	}
	fmt.Fprint(&b, e.Cycle[0])
	return b.String()
}

// Levels returns the levels of an acyclic graph. It is computed once, on first
// use. The error is a [*CycleError] that names one cycle; a self-loop is one.
// It panics with a [*tensor.ShapeError] if g is bipartite.
func (g *Graph) Levels() (*Levels, error) {
	g.wantHomogeneous("graph.Levels")
	g.top().levelsOnce.Do(func() { g.top().levels, g.top().cycle = g.sortLevels() })
	return g.top().levels, g.top().cycle
}

// Positions returns the number of each node's level: of [Chains], the position
// in the chain. It panics with a [*tensor.ShapeError] if g is bipartite or, as
// [Graph.Levels] says beforehand, has a cycle.
func (g *Graph) Positions() []int32 {
	l, err := g.Levels()
	if err != nil {
		mistake.Panic("graph.Positions", []int{g.NumNodes()}, "%v", err)
	}
	p := make([]int32, len(l.Order))
	for n := range l.Len() {
		for _, v := range l.Order[l.Offsets[n]:l.Offsets[n+1]] {
			p[v] = int32(n)
		}
	}
	return p
}

// sortLevels computes the levels.
func (g *Graph) sortLevels() (*Levels, error) {
	order, level, err := g.topological()
	if err != nil {
		return nil, err
	}
	l := &Levels{Order: make([]int32, len(order)), Offsets: []int{0}, Rank: make([]int32, len(order))}
	for _, v := range order {
		for int(level[v]) >= l.Len() {
			l.Offsets = append(l.Offsets, 0)
		}
		l.Offsets[level[v]+1]++
	}
	for n := range l.Len() {
		l.Offsets[n+1] += l.Offsets[n]
	}
	next := slices.Clone(l.Offsets)
	for _, v := range order {
		l.Order[next[level[v]]] = v
		next[level[v]]++
	}
	height := g.heights(order)
	for n := range l.Len() {
		lo, hi := l.Offsets[n], l.Offsets[n+1]
		slices.SortFunc(l.Order[lo:hi], func(a, b int32) int {
			return cmp.Or(cmp.Compare(height[b], height[a]), cmp.Compare(g.firstRank(l, a), g.firstRank(l, b)), cmp.Compare(a, b))
		})
		for i, v := range l.Order[lo:hi] {
			l.Rank[v] = int32(lo + i)
		}
	}
	return l, nil
}

// firstRank returns the rank of v's first predecessor, 0 if v is a root. The
// levels below v's must be ranked.
func (g *Graph) firstRank(l *Levels, v int32) int32 {
	if src := g.sources(int(v)); len(src) > 0 {
		return l.Rank[src[0]]
	}
	return 0
}

// topological returns the nodes so that each comes after its predecessors, and
// the level of each.
func (g *Graph) topological() (order, level []int32, err error) {
	out, _ := g.Out()
	level = make([]int32, g.NumDst())
	left := make([]int32, g.NumDst()) // in-edges whose source is not in order yet
	for v := range left {
		left[v] = int32(g.InDegree(v))
	}
	order = append(make([]int32, 0, len(left)), g.Roots()...)
	for i := 0; i < len(order); i++ {
		u := order[i]
		for _, v := range out.Cols[out.Offsets[u]:out.Offsets[u+1]] {
			level[v] = max(level[v], level[u]+1)
			if left[v]--; left[v] == 0 {
				order = append(order, v)
			}
		}
	}
	if len(order) < len(left) {
		return nil, nil, &CycleError{g.cycleAmong(left)}
	}
	return order, level, nil
}

// heights returns the length of the longest path from each node to a sink.
func (g *Graph) heights(order []int32) []int32 {
	height := make([]int32, len(order))
	for _, v := range slices.Backward(order) {
		for _, u := range g.sources(int(v)) {
			height[u] = max(height[u], height[v]+1)
		}
	}
	return height
}

// cycleAmong returns a cycle among the nodes with something left: each of them
// has a predecessor that is one of them, so a walk backwards must close.
func (g *Graph) cycleAmong(left []int32) []int32 {
	v := int32(slices.IndexFunc(left, func(n int32) bool { return n > 0 }))
	at := make(map[int32]int) // where the walk met a node
	var walk []int32
	for {
		if i, ok := at[v]; ok {
			walk = walk[i:]
			break
		}
		at[v] = len(walk)
		walk = append(walk, v)
		src := g.sources(int(v))
		v = src[slices.IndexFunc(src, func(u int32) bool { return left[u] > 0 })]
	}
	slices.Reverse(walk)
	first := slices.Index(walk, slices.Min(walk))
	return append(slices.Clone(walk[first:]), walk[:first]...)
}

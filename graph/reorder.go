package graph

import "slices"

// Reorder returns g with its nodes renumbered so that nodes with many edges in
// common stand together: its [Graph.Permute] by clusters, which are found by
// label propagation. Kernels then read rows that lie close to each other. That
// pays where the rows of all nodes do not fit the cache, the graph has
// communities, and its numbering does not follow them yet; the work is some ten
// to some hundred sums over all edges. Rows x of g's nodes become
// y[i] = x[From().Src[i]].
//
// It panics with a [*tensor.ShapeError] if g is bipartite.
//
// The paper: Raghavan, Albert and Kumara, Near linear time algorithm to detect
// community structures in large-scale networks, 2007.
func (g *Graph) Reorder() *Graph {
	g.wantHomogeneous("graph.Reorder")
	label := g.propagate()
	nodes := iota32(len(label))
	slices.SortStableFunc(nodes, func(u, v int32) int { return int(label[u]) - int(label[v]) })
	return Must(g.Permute(nodes))
}

// propagate returns a label for each node: of a few rounds in which each node in
// turn takes the label that most of its in-edges bring. Among equals it keeps
// its own if it can, or else takes the lowest.
func (g *Graph) propagate() []int32 {
	const rounds = 8
	label := iota32(g.NumNodes())
	votes := borrowMarks(g.NumNodes())
	for changed, round := len(label), 0; round < rounds && changed > len(label)/1000; round++ {
		changed = 0
		for v := range label {
			if best := g.elect(v, label, votes.at); best != label[v] {
				label[v] = best
				changed++
			}
		}
	}
	votes.giveBack(nil)
	return label
}

// elect returns the label of most in-edges of v. votes is all 0, before and
// after.
func (g *Graph) elect(v int, label, votes []int32) int32 {
	src := g.sources(v)
	for _, u := range src {
		votes[label[u]]++
	}
	best := label[v]
	for _, u := range src {
		if l := label[u]; votes[l] > votes[best] || votes[l] == votes[best] && best != label[v] && l < best {
			best = l
		}
	}
	for _, u := range src {
		votes[label[u]] = 0
	}
	return best
}

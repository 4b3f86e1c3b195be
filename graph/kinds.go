package graph

import (
	"fmt"
	"math"
)

// Kinds returns the kind of each edge, or nil if edges have none. A kind is a
// small number from 0 up: a relation, a child's ordinal, a shift.
func (g *Graph) Kinds() []int32 { return g.kinds }

// WithKinds returns g with kinds for its edges, given in the order of g's list:
// edge e gets kinds[g.EdgeOrder()[e]]. Kinds that g had are replaced. The error
// names the first kind that is negative or 2³¹−1.
func (g *Graph) WithKinds(kinds []int32) (*Graph, error) {
	if len(kinds) != g.NumEdges() {
		return nil, fmt.Errorf("graph: %d kinds for %d edges", len(kinds), g.NumEdges())
	}
	for i, k := range kinds {
		if k < 0 || k == math.MaxInt32 { // the last is left for the loops of WithSelfLoops
			return nil, fmt.Errorf("graph: edge %d of %d has kind %d, want 0 to %d", i, len(kinds), k, math.MaxInt32-1)
		}
	}
	h := *g
	h.kinds = append(make([]int32, 0, len(kinds)), kinds...)
	if g.relisted() {
		h.kinds = gather(kinds, g.EdgeOrder())
	}
	return &h, nil
}

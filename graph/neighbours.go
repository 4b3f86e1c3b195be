package graph

import "iter"

// InDegree returns the number of edges into destination v.
func (g *Graph) InDegree(v int) int {
	if g.top().spans != nil {
		return g.spanDegree(v)
	}
	in := g.In()
	return int(in.Offsets[v+1] - in.Offsets[v])
}

// OutDegree returns the number of edges out of source u.
func (g *Graph) OutDegree(u int) int {
	out, _ := g.Out()
	return int(out.Offsets[u+1] - out.Offsets[u])
}

// InDegrees returns the number of edges into each destination.
func (g *Graph) InDegrees() []int32 {
	d := make([]int32, g.NumDst())
	for v := range d {
		d[v] = int32(g.InDegree(v))
	}
	return d
}

// OutDegrees returns the number of edges out of each source.
func (g *Graph) OutDegrees() []int32 {
	d := make([]int32, g.NumSrc())
	for _, u := range g.In().Cols {
		d[u]++
	}
	return d
}

// Sources returns the in-edges of destination v, ascending, each with the
// source it comes from. To range over it allocates nothing:
//
//	for e, u := range g.Sources(v) { // edge e is u → v
func (g *Graph) Sources(v int) iter.Seq2[int32, int32] {
	// All of it stands in the closure: that is how a loop over it is inlined.
	return func(yield func(edge, u int32) bool) {
		in := g.csr
		if in == nil {
			in = g.listed()
		}
		lo, hi := in.Offsets[v], in.Offsets[v+1]
		for i, u := range in.Cols[lo:hi] {
			if !yield(int32(lo)+int32(i), u) {
				return
			}
		}
	}
}

// Targets returns the out-edges of source u, ascending, each with the
// destination it leads to. To range over it allocates nothing, once the edges
// are there by source ([Graph.Out]).
func (g *Graph) Targets(u int) iter.Seq2[int32, int32] {
	return func(yield func(edge, v int32) bool) {
		out := g.top().out.Load()
		if out == nil {
			out = g.bySource()
		}
		lo, hi := out.Offsets[u], out.Offsets[u+1]
		edges := out.edges[lo:hi]
		for i, v := range out.Cols[lo:hi] {
			if !yield(edges[i], v) {
				return
			}
		}
	}
}

// sources returns the sources of the in-edges of v.
func (g *Graph) sources(v int) []int32 {
	in := g.In()
	lo, hi := in.Offsets[v], in.Offsets[v+1]
	return in.Cols[lo:hi:hi]
}

// targets returns the destinations of the out-edges of u.
func (g *Graph) targets(u int) []int32 {
	out, _ := g.Out()
	lo, hi := out.Offsets[u], out.Offsets[u+1]
	return out.Cols[lo:hi:hi]
}

package message

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Level is one level of a [Sweep]: nodes whose predecessors are all computed.
type Level struct {
	N  int          // its number; the roots are level 0
	In *graph.Graph // from the rows of prev to the level's nodes

	sweep *sweep
	at    *place
}

// place is where a level stands: the rows of the frame that it reads, the graph
// from them, and the edge of g that each of that graph's edges is.
type place struct {
	lo, hi int
	in     *graph.Graph
	edges  []int32 // −1: the edge from a root's init
}

// Nodes returns the level's nodes, in the order of l.In's destinations.
func (l *Level) Nodes() []int32 {
	o := l.sweep.levels.Offsets
	return l.sweep.levels.Order[o[l.N]:o[l.N+1]]
}

// Rows returns the level's rows of x, which has one for each node of the graph.
// All levels share one arranged copy of x.
func (l *Level) Rows(x *grad.Var) *grad.Var {
	sw := l.sweep
	y := sw.arranged[x]
	if y == nil {
		y = x.Rows(sw.levels.Order)
		sw.arranged[x] = y
	}
	o := sw.levels.Offsets
	return y.RowRange(o[l.N], o[l.N+1])
}

// Edges returns the rows of x, which has one for each edge of the graph, for the
// edges of l.In. The edge from a root's init has a row of zeros.
func (l *Level) Edges(x *grad.Var) *grad.Var {
	if x.Value().Rows() != l.sweep.g.NumEdges() {
		panic(&tensor.ShapeError{Op: "message.Level.Edges", Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("the graph has %d edges", l.sweep.g.NumEdges())})
	}
	if l.N > 0 {
		return x.Rows(l.at.edges)
	}
	shape := slices.Clone(x.Shape())
	shape[0] = len(l.at.edges)
	return grad.Begin("Level.Edges", x).New(shape...)
}

// Of returns the level's part of a bipartite graph whose destinations are the
// nodes of the swept graph: its sources stay, its destinations are the level's
// nodes. Through it a decoder attends to its inputs inside its sweep.
func (l *Level) Of(att *graph.Graph) *graph.Graph {
	if att.NumDst() != l.sweep.g.NumDst() {
		panic(&tensor.ShapeError{Op: "message.Level.Of", Shapes: [][]int{{att.NumSrc(), att.NumDst()}}, Why: fmt.Sprintf("the swept graph has %d nodes", l.sweep.g.NumDst())})
	}
	parts := att.Derived(partsKey{l.sweep.levels}, func() any {
		out := make([]*graph.Graph, l.sweep.levels.Len())
		o := l.sweep.levels.Offsets
		for n := range out {
			out[n] = graph.Must(att.Dst(l.sweep.levels.Order[o[n]:o[n+1]]))
		}
		return out
	})
	return parts.([]*graph.Graph)[l.N]
}

type partsKey struct{ levels *graph.Levels }

type scheduleKey struct {
	shared bool
	kinds  *int32
}

// schedule returns the place of each level. It is worked out once a graph.
func schedule(g *graph.Graph, l *graph.Levels, shared bool) []*place {
	key := scheduleKey{shared: shared}
	if k := g.Kinds(); len(k) > 0 {
		key.kinds = &k[0]
	}
	return g.Derived(key, func() any {
		out := make([]*place, l.Len())
		for n := range out {
			nodes := l.Order[l.Offsets[n]:l.Offsets[n+1]]
			if n == 0 {
				out[n] = placeRoots(g, nodes, shared)
			} else {
				out[n] = placeLevel(g, l, nodes)
			}
		}
		return out
	}).([]*place)
}

// placeRoots connects each root with its row of init.
func placeRoots(g *graph.Graph, nodes []int32, shared bool) *place {
	p := &place{edges: make([]int32, len(nodes))}
	in := &sparse.CSR{NumRows: len(nodes), NumCols: len(nodes), Offsets: make([]int64, len(nodes)+1), Cols: make([]int32, len(nodes))}
	if shared {
		in.NumCols = 1
	}
	row := map[int32]int32{}
	for i, v := range g.Roots() {
		row[v] = int32(i)
	}
	for i, v := range nodes {
		p.edges[i] = -1
		in.Offsets[i+1] = int64(i + 1)
		if !shared {
			in.Cols[i] = row[v]
		}
	}
	p.in = graph.Must(graph.FromCSR(in))
	return p
}

// placeLevel finds the rows of the frame that a level reads: from its first
// predecessor's to its last. Of chains these are a prefix of the level before.
func placeLevel(g *graph.Graph, l *graph.Levels, nodes []int32) *place {
	p := &place{lo: len(l.Order)}
	in := &sparse.CSR{NumRows: len(nodes), Offsets: []int64{0}}
	var kinds []int32
	for _, v := range nodes {
		off := g.In().Offsets
		for e := off[v]; e < off[v+1]; e++ {
			at := l.Rank[g.In().Cols[e]]
			p.lo, p.hi = min(p.lo, int(at)), max(p.hi, int(at)+1)
			in.Cols, p.edges = append(in.Cols, at), append(p.edges, int32(e))
			if k := g.Kinds(); k != nil {
				kinds = append(kinds, k[e])
			}
		}
		in.Offsets = append(in.Offsets, int64(len(in.Cols)))
	}
	for i := range in.Cols {
		in.Cols[i] -= int32(p.lo)
	}
	in.NumCols = p.hi - p.lo
	p.in = graph.Must(graph.FromCSR(in))
	if kinds != nil {
		p.in = graph.Must(p.in.WithKinds(kinds))
	}
	return p
}

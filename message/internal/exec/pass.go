package exec

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// pass is one pass of an evaluation over all edges, forward or backward. Workers
// share it.
type pass struct {
	eval      *evaluation
	plan      *plan.Plan   // the evaluation's
	graph     *graph.Graph // the evaluation's
	backward  bool         // the statistics stand, and all values are kept
	number    int          // among all passes
	stats     stats
	reduction reduction
	vars      []*grad.Var
	data      [][]tensor.Float // of the Vars
	turned    []tensor.Float   // matrices that backward reads turned; see turnMatrices
	dOut      []tensor.Float   // backward: the gradient of the result
	fit       int              // edges a tile; see tileEdges
	limit     int              // edges a destination may have before it comes in parts
	partition *partition       // forward
	task      chunkTask        // forward, of a chunk
}

// stats is what stays of every step across the in-edges, for each destination
// and column; see [ops.Stats].
type stats struct {
	columns  int
	top, sum []tensor.Float
	edges    []int32
}

// reduction is where the messages of each destination go, under one reducer or several side by
// side.
type reduction struct {
	rs    []*ops.Reducer
	width int            // of a message
	last  int            // its last axis: results of several reducers alternate in these
	out   []tensor.Float // a row is, for each run of last elements, one run a reducer
	kept  []tensor.Float // what reducers keep beside: arrays of an element for each of a message at each destination
	edges []int32
	off   []int64
}

// newReduction is that of an evaluation, in what it keeps.
func newReduction(e *evaluation, kept []tensor.Float, edges []int32) reduction {
	s := e.plan.Out()
	r := reduction{
		rs: e.plan.Reducers(), width: s.Width, last: s.Shape[len(s.Shape)-1], out: e.y.Value().Data, kept: kept, edges: edges, off: e.graph.In().Offsets,
	}
	if len(r.rs) == 1 {
		r.last = r.width
	}
	return r
}

// kindsOf sets room to which of the rows of its row each edge takes, of edges from lo on,
// or returns the list that says so. They are in-edges of the destinations from r0 to r1.
func (p *pass) kindsOf(s *plan.Step, c chunk, room []int32) []int32 {
	x := p.eval.attribute(s)
	if !x.ByOffset {
		return x.Rows[c.lo:c.hi]
	}
	room = room[:c.hi-c.lo]
	src, dst := p.graph.Places()
	in := p.graph.In()
	for v := c.r0; v < c.r1; v++ {
		lo, hi := max(int(in.Offsets[v]), c.lo), min(int(in.Offsets[v+1]), c.hi)
		for e := lo; e < hi; e++ {
			u := in.Cols[e]
			if src != nil {
				u = src[u]
			}
			room[e-c.lo] = x.OffsetRow(u, dst[v])
		}
	}
	return room
}

// eachRow calls f with every destination of the tile that has edges there, and
// with the range of its edges, counted from the tile's first.
func (p *pass) eachRow(t tile, f func(v, lo, hi int)) {
	off := p.graph.In().Offsets
	for v := t.r0; v < t.r1; v++ {
		lo, hi := max(int(off[v]), t.lo), min(int(off[v+1]), t.hi)
		if lo < hi {
			f(v, lo-t.lo, hi-t.lo)
		}
	}
}

// resultRows are the results of the destinations from r0 to r1.
func (p *pass) resultRows(r0, r1 int) []tensor.Float {
	n := p.plan.Out().Width * len(p.plan.Reducers())
	return p.eval.y.Value().Data[r0*n : r1*n]
}

// tiles calls f with the tiles of a chunk, one after another. A destination with
// more than limit edges comes alone and in parts: for such a one, hub is called
// first.
func (p *pass) tiles(c chunk, hub func(v int), f func(t tile)) {
	off := p.graph.In().Offsets
	if c.hub >= 0 {
		parts(p.fit, c.lo, c.hi, c.r0, f)
		return
	}
	for r0 := c.r0; r0 < c.r1; {
		lo := int(off[r0])
		if int(off[r0+1])-lo > p.limit {
			hub(r0)
			parts(p.fit, lo, int(off[r0+1]), r0, f)
			r0++
			continue
		}
		r1 := r0 + 1
		for r1 < c.r1 && int(off[r1+1])-lo <= p.fit {
			r1++
		}
		f(tile{lo: lo, hi: int(off[r1]), r0: r0, r1: r1})
		r0 = r1
	}
}

// begins reports whether no tile before had edges of the tile's destinations.
func (p *pass) begins(t tile) bool { return !t.part || t.lo == int(p.graph.In().Offsets[t.r0]) }

// addBias adds the bias to the rows of the destinations from r0 to r1, while they are
// near.
func (p *pass) addBias(r0, r1 int) {
	if p.eval.bias == nil {
		return
	}
	b, y := p.eval.bias.Value().Data, p.eval.y.Value().Data
	rows := y[r0*len(b) : r1*len(b)]
	vec.Add.ForwardRows(rows, rows, b)
}

package exec

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/sparse"
)

// compactGrad is what the window keeps of each edge for a leaf whose rows are both
// scored and summed, as in GATv2: two numbers a head and a sign for each element. The
// thread that adds an edge's gradient to its source makes the row from these. They are
// less than a third of it: rows would have to travel from the processors that make
// them to those that add them.
//
// The edges of a chunk are kept in the places of its source order, those of one
// bucket side by side.
type compactGrad struct {
	order  *sourceOrder // of every chunk
	places []int32      // the place of each edge of the window
	signs  []uint8      // of each place, what attend.EdgeRows.ScoreBrief keeps,
	dst    []int32      // and the destination
}

// place gives the edges of a chunk places in order by bucket, from number first on, and
// says of each place where it comes from, in from, and goes to.
func (k *compactGrad) place(in *sparse.CSR, c chunk, first int, from []int32) {
	places := k.places[first : first+c.hi-c.lo]
	for p, e := range k.order.order[c.lo:c.hi] {
		places[e] = int32(first + p)
	}
	for v := c.r0; v < c.r1; v++ {
		lo, hi := max(int(in.Offsets[v]), c.lo), min(int(in.Offsets[v+1]), c.hi)
		for e := lo; e < hi; e++ {
			p := places[e-c.lo]
			from[p], k.dst[p] = in.Cols[e], int32(v)
		}
	}
}

// scatter adds a bucket's part of the window, whose chunks are numbered from first on, to
// the gradient of the leaf.
func (k *compactGrad) scatter(leaf *leafGrad, chunks []chunk, first, bucket int) {
	list := placeLists.Get().(*[]int32)
	places := (*list)[:0]
	for i, c := range chunks {
		from, to := k.order.span(first+i, bucket)
		for p := from; p < to; p++ {
			places = append(places, int32(c.lo-chunks[0].lo+p))
		}
	}
	s, p := leaf.compact, leaf.pass
	r := attend.CompactGrads{
		DU: leaf.dx, R: p.dOut, A: p.data[p.plan.Steps[s.Near.W].Var], Z: leaf.window, Signs: k.signs,
		To: leaf.to, From: k.dst, Width: s.Run, H: s.Width, Slope: s.C,
	}
	r.Add(places)
	*list = places
	placeLists.Put(list)
}

// placeLists keeps lists of places between calls.
var placeLists = sync.Pool{New: func() any { return new([]int32) }}

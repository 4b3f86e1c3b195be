package exec

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
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
	signs  []uint8      // of each place, what simd.Fan.ScoreBrief keeps,
	dst    []int32      // and the destination
}

// makeRoom makes room for a window of the pass.
func (k *compactGrad) makeRoom(b *backPass, heads int) {
	k.places, k.dst = b.op.Ints(b.room), b.op.Ints(b.room)
	if !b.op.Measuring() {
		k.signs = resize(k.signs, b.room*heads/8)
	}
}

// placesOf are those of edges of the window.
func (k *compactGrad) placesOf(b *backPass, lo, hi int) []int32 {
	return k.places[lo-b.base : hi-b.base]
}

// place gives a chunk's edges places in order by bucket, and says of each place where
// it comes from and goes to.
func (k *compactGrad) place(b *backPass, c chunk) {
	in, to, first := b.graph.In(), b.leafOf[b.plan.Out().A].to, int32(c.lo-b.base)
	places := k.placesOf(b, c.lo, c.hi)
	for p, e := range k.order.order[c.lo:c.hi] {
		places[e] = first + int32(p)
	}
	for v := c.r0; v < c.r1; v++ {
		lo, hi := max(int(in.Offsets[v]), c.lo), min(int(in.Offsets[v+1]), c.hi)
		for e := lo; e < hi; e++ {
			p := places[e-c.lo]
			to[p], k.dst[p] = in.Cols[e], int32(v)
		}
	}
}

// scatter adds a bucket's part of the window to the gradient of the leaf.
func (k *compactGrad) scatter(b *backPass, leaf *leafGrad, bucket int) {
	list := placeLists.Get().(*[]int32)
	places := (*list)[:0]
	for i := b.first; i < b.end; i++ {
		first := b.chunks[i].lo - b.base
		from, to := k.order.span(i, bucket)
		for p := from; p < to; p++ {
			places = append(places, int32(first+p))
		}
	}
	s := leaf.compact
	r := simd.Returns{
		DU: leaf.dx, R: b.pass.dOut, A: b.data(s.Near.W), Z: leaf.window, Signs: k.signs,
		To: leaf.to, From: k.dst, Width: s.Run, H: s.Width, Slope: s.C,
	}
	r.Add(places)
	*list = places
	placeLists.Put(list)
}

// data is what a leaf's step reads.
func (b *backPass) data(step int) []tensor.Float { return b.pass.data[b.plan.Steps[step].Var] }

// placeLists keeps lists of places between calls.
var placeLists = sync.Pool{New: func() any { return new([]int32) }}

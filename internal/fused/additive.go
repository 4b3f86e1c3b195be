package fused

import (
	"cmp"
	"slices"
	"sort"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Additive is the additive score on a graph of blocks, where no edge is listed:
//
//	z[e] = Σ_j tanh(K[u,j] + Q[v,j])·V[j]
//
// Keys of a query stand one after the other, so they are read where they are.
type Additive struct {
	On      *AdditiveBlocks
	K, Q, V []tensor.Float
}

// AdditiveBlocks is how scores of one width go over a graph's blocks. It follows from
// these alone.
type AdditiveBlocks struct {
	width int
	spans []graph.Span
	first []int // of each block the first edge, and the end

	// Blocks that share sources are a family, whose gradients of keys are sums in one
	// order. A part is some families.
	family []int // the blocks, family by family
	parts  []int // where in family each part begins, and the end
}

const (
	// additiveWork is how many elements a chunk forward has, and a part backward at least.
	additiveWork = 1 << 16
	// additiveParts are so many that none is cut into columns.
	additiveParts = 16
	// additiveColumns are the fewest that a part is cut into, 16 of which fill a line.
	additiveColumns = 32
	// additiveCall is how many elements a kernel is called for: none stops before its end.
	additiveCall = 1 << 15
)

// NewAdditiveBlocks is for scores of rows of so many elements.
func NewAdditiveBlocks(spans []graph.Span, width int) *AdditiveBlocks {
	b := &AdditiveBlocks{width: width, spans: spans, first: make([]int, 1, len(spans)+1)}
	for i, s := range spans {
		b.first = append(b.first, b.first[i]+s.NumEdges())
		b.family = append(b.family, i)
	}
	slices.SortStableFunc(b.family, func(i, j int) int { return cmp.Compare(spans[i].Src, spans[j].Src) })
	b.parts = []int{0}
	begin, end, work := 0, 0, 0 // of a family: its first block; of its sources the last; the part's edges
	for k, i := range b.family {
		if s := spans[i]; s.Src >= end {
			slices.Sort(b.family[begin:k])
			if begin = k; work*width >= additiveWork {
				b.parts, work = append(b.parts, k), 0
			}
		}
		end = max(end, spans[i].Src+spans[i].NumSrc)
		work += spans[i].NumEdges()
	}
	slices.Sort(b.family[begin:])
	if len(spans) > 0 {
		b.parts = append(b.parts, len(spans))
	}
	return b
}

// NumEdges is how many edges the blocks have.
func (b *AdditiveBlocks) NumEdges() int { return b.first[len(b.spans)] }

// keysOf are the keys of a query v that stand one after the other, n from u on, and the
// first of their edges.
type keysOf struct{ v, u, e, n int }

// each calls f with the keys of each query of a block, as far as their edges are from lo
// to hi, in the order of the edges.
func (b *AdditiveBlocks) each(block, lo, hi int, f func(keysOf)) {
	s, e := b.spans[block], b.first[block]
	j := sort.Search(s.NumDst, func(j int) bool { return e+s.EdgesBefore(j+1) > lo })
	for e += s.EdgesBefore(j); j < s.NumDst && e < hi; j++ {
		u, end, skip := s.Sources(j)
		if skip >= 0 {
			e = b.cut(keysOf{s.Dst + j, u, e, skip - u}, lo, hi, f)
			u = skip + 1
		}
		e = b.cut(keysOf{s.Dst + j, u, e, end - u}, lo, hi, f)
	}
}

// cut calls f with those of some keys whose edges are from lo to hi, not too many at
// once. It returns the edge after the last.
func (b *AdditiveBlocks) cut(k keysOf, lo, hi int, f func(keysOf)) (next int) {
	next = k.e + max(k.n, 0)
	least := max(k.e, lo)
	k.u, k.e = k.u+least-k.e, least
	for end := min(next, hi); k.e < end; {
		k.n = min(end-k.e, max(1, additiveCall/b.width))
		f(k)
		k.u, k.e = k.u+k.n, k.e+k.n
	}
	return next
}

// Logits sets z, which has a number for each edge.
func (a *Additive) Logits(z []tensor.Float) {
	b, w := a.On, a.On.width
	par.For(b.NumEdges(), max(1, additiveWork/w), func(lo, hi int) {
		k := attend.Additive{V: a.V, KStride: w, Width: w}
		block := sort.Search(len(b.spans), func(i int) bool { return b.first[i+1] > lo })
		for ; block < len(b.spans) && b.first[block] < hi; block++ {
			b.each(block, lo, hi, func(at keysOf) {
				k.K, k.Q, k.Z = a.K[at.u*w:], a.Q[at.v*w:], z[at.e:]
				k.Logits(at.n)
			})
		}
	})
}

// AdditiveGrads are the gradient of the logits, and those that it is added to; nil is
// not wanted.
type AdditiveGrads struct{ Z, K, Q, V []tensor.Float }

// Room is how much scratch Backward needs.
func (b *AdditiveBlocks) Room() int { return 3 * (len(b.parts) - 1) * b.width }

// Backward adds the gradients, in scratch of [AdditiveBlocks.Room]. The tanh of each edge
// is made anew.
func (a *Additive) Backward(to *AdditiveGrads, buf []tensor.Float) {
	b, w := a.On, a.On.width
	parts := len(b.parts) - 1
	if parts < 1 {
		return
	}
	// Columns have nothing to do with each other: where parts are few they are cut.
	cuts := max(1, min(w/additiveColumns, additiveParts/parts))
	columns := ((w+cuts-1)/cuts + 15) / 16 * 16
	cuts = (w + columns - 1) / columns
	clear(buf)
	par.For(parts*cuts, 1, func(i, _ int) {
		part, lo := i/cuts, i%cuts*columns
		a.pull(to, part, lo, min(lo+columns, w), buf[3*part*w:][:3*w])
	})
	if to.V == nil {
		return
	}
	for part := range parts {
		for j, x := range buf[3*part*w:][:w] {
			to.V[j] += x
		}
	}
}

// pull is Backward of columns of a part. Room has a row for the gradient of V, and one
// for each of the others that is not wanted.
func (a *Additive) pull(to *AdditiveGrads, part, lo, hi int, room []tensor.Float) {
	b, w := a.On, a.On.width
	k := attend.Additive{V: a.V[lo:hi], DV: room[lo:hi], KStride: w, DKStride: w, Width: hi - lo}
	if k.DQ = room[w+lo : w+hi]; to.K == nil {
		k.DK, k.DKStride = room[2*w+lo:2*w+hi], 0
	}
	for _, block := range b.family[b.parts[part]:b.parts[part+1]] {
		b.each(block, b.first[block], b.first[block+1], func(at keysOf) {
			k.K, k.Q, k.Z = a.K[at.u*w+lo:], a.Q[at.v*w+lo:at.v*w+hi], to.Z[at.e:]
			if to.K != nil {
				k.DK = to.K[at.u*w+lo:]
			}
			if to.Q != nil {
				k.DQ = to.Q[at.v*w+lo : at.v*w+hi]
			}
			k.Grad(at.n)
		})
	}
}

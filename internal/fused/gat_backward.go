package fused

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// pairRows is how many destinations make a part of the loops over these: some
// microseconds with eight heads.
const pairRows = 256

// gatBackward is a backward pass, in parts of sources. What a part adds to the gradient of Er
// is its own, see erSums.
type gatBackward struct {
	headBlocks
	k      *GAT
	into   *GATGrads
	dOut   *tensor.Dense
	out    []tensor.Float
	bias   []tensor.Float // in out; nil: none
	rec    Records
	layout recordLayout
	el     []tensor.Float
	buf    *[]tensor.Float // of el
	turned *sparse.CSR
	perm   []int32
	groups int             // of sources, see erGroups
	cuts   []int           // of these
	apart  bool            // edges have places
	places erPlaces        // of apart
	der    *[]tensor.Float // the places, or a copy for each group
	tiles  *[]tensor.Float // of rec, where it is not the caller's; nil: it is
}

var gatBackwards = sync.Pool{New: func() any { return new(gatBackward) }}

func (t *gatBackward) prepare(k *GAT, dOut *tensor.Dense, rec *Records, into *GATGrads) {
	t.headBlocks, t.k, t.into, t.dOut, t.rec = k.heads(), k, into, dOut, *rec
	if rec.Kind == Exponentials && (rec.Mixed || into.Ee != nil || into.Weight != nil) {
		t.rec, t.tiles = rec.inTiles(k)
	}
	t.layout = t.headBlocks.layout(t.rec.Kind)
	t.el, t.buf = t.pad(k.El)
	t.turned, t.perm = transpose(k.In)
	t.groups = erGroups(k.In.NNZ())
	t.cuts = par.Split(t.turned.Offsets, t.groups, t.cuts)
	threads := par.Threads()
	chunks := min(k.parts(), erChunks*threads)
	if t.apart = threads > t.groups && chunks > t.groups; t.apart {
		t.places.plan(t.turned.Offsets, t.cuts, chunks, t.padded, k.In.NumRows)
		t.der = scratch.Borrow(len(t.places.rows) * t.padded)
	} else {
		t.der = scratch.Borrow(k.derLen())
	}
}

// transpose returns the structure of a's transpose, which a keeps.
func transpose(a *sparse.CSR) (t *sparse.CSR, perm []int32) {
	if a.Values != nil {
		a = a.WithValues(nil)
	}
	return a.Transpose()
}

func (t *gatBackward) release() {
	if t.buf != nil {
		scratch.Repay(t.buf)
	}
	if t.tiles != nil {
		scratch.Repay(t.tiles)
	}
	scratch.Repay(t.der)
	*t = gatBackward{cuts: t.cuts, places: t.places}
}

// narrow reports whether there is one head, of node exponentials.
func (t *gatBackward) narrow() bool { return t.rec.Kind == Exponentials && t.heads == 1 }

// parts is the number of parts of a loop over destinations.
func (t *gatBackward) parts() int { return partsOfRows(t.k.In.NumRows, t.narrow()) }

// partsOfRows is the number of parts of a loop over rows.
func partsOfRows(rows int, narrow bool) int {
	per := rowsOfPart(narrow)
	return (rows + per - 1) / per
}

// part is the destinations of one.
func (t *gatBackward) part(i int) (lo, hi int) {
	per := rowsOfPart(t.narrow())
	return i * per, min((i+1)*per, t.k.In.NumRows)
}

// rowsOfPart is the number of rows of a part, which are narrow where they have one
// head of node exponentials.
func rowsOfPart(narrow bool) int {
	if narrow {
		return 8 * pairRows
	}
	return pairRows
}

// scored reports whether the gradient of the logits is wanted.
func (t *gatBackward) scored() bool { return t.into.El != nil || t.into.Er != nil || t.into.Ee != nil }

// Chunk does one part of the sources.
func (t *gatBackward) Chunk(i int) {
	rows, from, to := t.k.In.NumRows, 0, 0
	der := *t.der
	s := newSpace(t.headBlocks, t.turned.Cols, t.k.Slope)
	if t.apart {
		c := t.places.rounds[t.places.round] + i
		from, to = t.places.chunks[c], t.places.chunks[c+1]
		rows, first := t.sort(c), int(t.turned.Offsets[from])
		s.tile.Rows, s.tile.First, s.nodeExp.Rows, s.nodeExp.First = rows, first, rows, first
	} else {
		from, to = t.cuts[i], t.cuts[i+1]
		der = der[i*rows*t.padded : (i+1)*rows*t.padded]
		clear(der)
	}
	if t.rec.Kind == Exponentials {
		t.byExps(s, from, to, der)
		s.put()
		return
	}
	s.tile.Perm, s.tile.FarStride, s.tile.RecStride = t.perm, t.layout.stride, t.lanes
	s.tile.DerStride = t.padded
	s.tile.Ahead = ahead(len(t.rec.Data))
	f := t.k.Ft.RowLen()
	s.mul.XStride, s.mul.YStride, s.mul.Width = f, f, f/t.heads
	s.mul.Ahead = ahead(len(t.dOut.Data))
	if t.scored() && s.mul.Ahead > 0 {
		s.ask(t.dOut, s.mul.Ahead+tileGroups, 2)
	}
	for u, next := from, 0; u < to; u = next {
		next = s.begin(t.turned.Offsets, u, to)
		for first := true; s.next(); first = false {
			t.tile(s, u, der, first)
		}
	}
	s.put()
}

// tile does a tile of the sources from u on, all heads; it is the first of their edges, or not.
func (t *gatBackward) tile(s *space, u int, der []tensor.Float, first bool) {
	for lane := 0; lane < t.padded; lane += t.lanes {
		s.tile.Der = der[lane:]
		s.mul.Set = t.sets(SetFt, first)
		t.recall(s, u, lane)
		t.carried(s, u, lane)
		if t.scored() {
			t.score(s, u, lane, t.sets(SetEl, first) != 0)
		}
	}
}

// sets returns 1 if a gradient is set now, in the first of a source's pieces, and
// else 0.
func (t *gatBackward) sets(which Sets, first bool) int {
	if first && t.into.Sets&which != 0 {
		return 1
	}
	return 0
}

// recall sets A to the softmax under mask and weights, T to that without them times the
// slope, and B to T·Σ α·dα. The tile's rows start at source u.
func (t *gatBackward) recall(s *space, u, lane int) {
	s.tile.Far, s.tile.Near = t.rec.Data[t.layout.at(0, lane):], t.el[u*t.padded+lane:]
	s.tile.Recall()
	s.addEdges(t.k.Ee, lane)
	s.tile.Weigh()
	if mask := t.k.mask(); mask != nil {
		s.tile.Column = uint32(lane)
		s.tile.Mask(mask)
		s.multiply(s.tile.A, s.tile.M)
	}
	if t.into.Weight != nil {
		copy(s.past, s.slots(s.tile.A))
	}
	s.weighEdges(s.tile.A, t.k, lane)
}

// carried adds to the gradient of Ft, sets G to g, and adds to the gradient of
// the weights.
func (t *gatBackward) carried(s *space, u, lane int) {
	f, d := s.mul.XStride, s.mul.Width
	s.mul.H, s.mul.X = t.in(lane), t.dOut.Data[lane*d:]
	dots := t.scored() || t.into.Weight != nil
	s.mul.V, s.mul.G, s.mul.Y, s.mul.W, s.mul.S = nil, nil, nil, nil, nil
	if dots {
		s.mul.V, s.mul.G = t.k.Ft.Data[u*f+lane*d:], s.tile.G
	}
	if t.into.Ft != nil {
		s.mul.Y, s.mul.W, s.mul.S = t.into.Ft.Data[u*f+lane*d:], s.tile.A, s.ones[:]
	}
	switch {
	case dots && t.into.Ft != nil:
		s.mul.Both()
	case dots:
		s.mul.Dots()
	case t.into.Ft != nil:
		s.mul.Sum()
	}
	if w := t.into.Weight; w != nil {
		n, row := s.in(lane), w.RowLen()
		s.each(func(at, edge int) {
			for h := range n {
				w.Data[edge*row+min(lane+h, row-1)] += s.tile.G[at+h] * s.past[at+h]
			}
		})
	}
}

// score adds to the gradients of the three parts of the logits, and sets that of
// El if so told.
func (t *gatBackward) score(s *space, u, lane int, set bool) {
	if t.k.drops() { // as lone has it, so that what is equal is taken off whole
		s.multiply(s.tile.G, s.tile.M)
	}
	s.weighEdges(s.tile.G, t.k, lane)
	s.tile.Rec = s.sum
	s.tile.Score()
	n := s.in(lane)
	if to := t.into.El; to != nil {
		rows := len(s.tile.Offsets) - 1
		if set {
			for r := range rows {
				clear(to.Data[(u+r)*t.heads+lane:][:n])
			}
		}
		if t.heads == t.lanes {
			add(to.Data[u*n:(u+rows)*n], s.sum[:rows*n])
		} else {
			for r := range rows {
				add(to.Data[(u+r)*t.heads+lane:][:n], s.sum[r*t.lanes:][:n])
			}
		}
	}
	if to := t.into.Ee; to != nil {
		s.each(func(at, edge int) {
			row := to.Data[edge*t.heads+lane:][:n]
			for h := range row {
				row[h] += s.tile.G[at+h]
			}
		})
	}
}

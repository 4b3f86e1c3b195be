package attend

import (
	"math/bits"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// Tile is what graph attention has at hand: some rows of a CSR matrix, and for
// each of their nonzeros, the edges, the numbers of up to eight heads. Those of
// an edge stand in a slot of Lanes numbers. The slots of a row follow each
// other and fill up whole groups of eight numbers, so a row of 1, 2 or 4 lanes
// may end in slots without an edge, which weigh nothing.
//
// A step of attention is a method. Each costs one call for all rows, and leaves
// the fields as they are.
type Tile struct {
	Offsets []int64 // of the rows and the end
	Cols    []int32 // of all edges of the matrix
	Perm    []int32 // Recall: the numbers of all edges
	Edge    []int32 // the number of the edge in each slot

	Far  []Float // of each column: El, or in Recall the record
	Near []Float // of each row: Er, or in Recall El
	Rec  []Float // of each row: the record, or in Score the gradient of El
	Der  []Float // Score: of each column, the gradient of Er, or where there are Rows that of each edge

	Z, A, B, G, T []Float // slots
	M             []Float // Mask: the slots to set

	FarStride, NearStride, RecStride, DerStride int

	Rows  []int32 // Score: the rows of Der that edges set, each its own; nil: Der has a row for each column
	First int     // the edge that the first of Rows is of

	Ahead int // how many edges ahead to ask memory for columns' rows; 0: not
	Last  int // the last edge of the matrix
	Slots int // groups of eight numbers in the rows' slots

	Slope  Float // of LeakyReLU
	scale  Float
	k0, k1 uint32
	drop   uint32
	Column uint32 // of the first lane, for Mask

	Ask       []Float // of each column: what will be read soon, so that memory is asked for it already
	AskStride int
	AskAhead  int // as Ahead; 0: not

	Lanes int // 1, 2, 4 or 8
}

// Record is the number of elements in a row's record, of a number of lanes: Er,
// the largest logit, the inverse of the sum of the weights, and the sum. In a
// backward pass the last is Σ α·dα.
const Record = 4

// Groups returns how many groups of eight numbers a row of d edges fills.
func Groups(d, lanes int) int { return (d*lanes + 7) >> 3 }

// slots calls f for each row with its first edge, the end, and its first slot.
func (t *Tile) slots(f func(r, lo, hi, slot int)) {
	slot := 0
	for r := range len(t.Offsets) - 1 {
		lo, hi := int(t.Offsets[r]), int(t.Offsets[r+1])
		f(r, lo, hi, slot)
		slot += Groups(hi-lo, t.Lanes) * 8 / t.Lanes
	}
}

// check panics if a slice is too short for the rows.
func (t *Tile) check(slots ...[]Float) {
	rows, w := len(t.Offsets)-1, t.Lanes
	if w < 1 || w > 8 || bits.OnesCount(uint(w)) != 1 {
		panic("attend: a Tile has 1, 2, 4 or 8 lanes")
	}
	if rows <= 0 {
		return
	}
	_ = t.Cols[:t.Offsets[rows]]
	for _, s := range slots {
		_ = s[:t.Slots*8]
	}
}

// inside panics if the last of rows records of n numbers ends beyond x.
func inside(x []Float, rows, stride, n int) { _ = x[:(rows-1)*stride+n] }

// Gather sets Z to Far + Near of each edge, Edge to its place, and the first
// part of each row's record to Near:
//
//	Z[e,h] = Far[Cols[e],h] + Near[r,h]
func (t *Tile) Gather() {
	t.check(t.Z)
	if rows := len(t.Offsets) - 1; rows > 0 {
		inside(t.Near, rows, t.NearStride, t.Lanes)
		inside(t.Rec, rows, t.RecStride, Record*t.Lanes)
		_ = t.Edge[:t.Slots*8/t.Lanes]
	}
	if cpu.Fast && t.gatherFast() {
		return
	}
	w := t.Lanes
	t.slots(func(r, lo, hi, slot int) {
		near := t.Near[r*t.NearStride:][:w]
		copy(t.Rec[r*t.RecStride:], near)
		for e := lo; e < hi; e++ {
			far, z := t.Far[int(t.Cols[e])*t.FarStride:][:w], t.Z[(slot+e-lo)*w:][:w]
			for h, v := range near {
				z[h] = far[h] + v
			}
			t.Edge[slot+e-lo] = int32(e)
		}
	})
}

// Soften turns Z into the weights of a softmax over each row, before they are
// divided by their sum, and completes the records:
//
//	s[e,h]   = LeakyReLU(Z[e,h])
//	top[r,h] = max_e s[e,h]
//	Z[e,h]   = Weigh(s[e,h], top[r,h])
//	sum[r,h] = Σ_e Z[e,h]
//
// Slots without an edge get zero. A sum of zero has the inverse 1. The record of
// a row without edges is zero, but for its first part.
func (t *Tile) Soften() {
	t.check(t.Z)
	if rows := len(t.Offsets) - 1; rows > 0 {
		inside(t.Rec, rows, t.RecStride, Record*t.Lanes)
	}
	if cpu.Fast && t.softenFast() {
		return
	}
	w := t.Lanes
	t.slots(func(r, lo, hi, slot int) {
		rec, z := t.Rec[r*t.RecStride:][:Record*w], t.Z[slot*w:][:(hi-lo)*w]
		clear(rec[w:])
		if lo == hi {
			return
		}
		top, inverse, sum := rec[w:2*w], rec[2*w:3*w], rec[3*w:]
		vec.LeakyReLU.Forward(z, z, t.Slope)
		vec.NoTop(top)
		vec.TopRows(top, z)
		vec.WeighRows(z, z, top, sum)
		for h, s := range sum {
			inverse[h] = Inverse(s)
		}
		clear(t.Z[slot*w+len(z) : slot*w+Groups(hi-lo, w)*8])
	})
}

// Inverse is 1/sum, and 1 for a sum of zero.
func Inverse(sum Float) Float {
	if sum == 0 {
		return 1
	}
	return 1 / sum
}

func (t *Tile) leaky(z Float) Float {
	if z > 0 {
		return z
	}
	return t.Slope * z
}

// Mask sets M to the factors of a dropout, whose rows are edges and columns
// heads.
func (t *Tile) Mask(d *vec.Dropout) {
	t.check(t.M)
	_ = t.Edge[:t.Slots*8/t.Lanes]
	t.k0, t.k1, t.drop, t.scale = d.K0, d.K1, d.Below, Float(d.Scale)
	if cpu.Fast && t.maskFast() {
		return
	}
	w := t.Lanes
	for i := range t.Slots * 8 {
		t.M[i] = 0
		if d.Keep(d.Row(int(t.Edge[i/w])), i%w+int(t.Column)) {
			t.M[i] = t.scale
		}
	}
}

// Recall sets, for each edge, Z as Gather does, from the records of the
// columns, and T, A and B to the other parts of the record: the largest logit,
// the inverse of the sum, Σ α·dα. It clears G, and sets Edge to Perm. The arrays
// of slots must have eight elements beyond those of the rows, which it may
// overwrite.
func (t *Tile) Recall() {
	t.check(t.Z, t.A, t.B, t.G, t.T)
	for _, x := range [...][]Float{t.Z, t.A, t.B, t.G, t.T} {
		_ = x[:8*t.Slots+8]
	}
	if rows := len(t.Offsets) - 1; rows > 0 {
		inside(t.Near, rows, t.NearStride, t.Lanes)
		_, _ = t.Edge[:t.Slots*8/t.Lanes], t.Perm[:t.Offsets[rows]]
	}
	if cpu.Fast && t.recallFast() {
		return
	}
	w := t.Lanes
	t.slots(func(r, lo, hi, slot int) {
		near := t.Near[r*t.NearStride:][:w]
		for e := lo; e < hi; e++ {
			rec, at := t.Far[int(t.Cols[e])*t.FarStride:][:Record*w], (slot+e-lo)*w
			for h, v := range near {
				t.Z[at+h], t.T[at+h], t.A[at+h], t.B[at+h] = rec[h]+v, rec[w+h], rec[2*w+h], rec[3*w+h]
			}
			t.Edge[slot+e-lo] = t.Perm[e]
		}
		from, to := slot*w, slot*w+Groups(hi-lo, w)*8
		clear(t.G[from:to])
		for i := from + (hi-lo)*w; i < to; i++ {
			t.Z[i], t.A[i], t.B[i], t.T[i] = 0, 0, 0, 0
		}
	})
}

// Weigh turns what Recall left into the softmax and its slope:
//
//	A = Weigh(LeakyReLU(Z), T)·A
//	T = A·LeakyReLU'(Z)
//	B = T·B
func (t *Tile) Weigh() {
	t.check(t.Z, t.A, t.B, t.T)
	if cpu.Fast && t.weighFast() {
		return
	}
	for i := range t.Slots * 8 {
		z := t.Z[i]
		t.A[i] *= vec.Weigh(t.leaky(z), t.T[i])
		t.T[i] = t.A[i]
		if !(z > 0) {
			t.T[i] *= t.Slope
		}
		t.B[i] *= t.T[i]
	}
}

// Score sets G to the gradient of the logits, from that of the weights, and
// sums it up for rows and columns:
//
//	G[e,h]             = T[e,h]·G[e,h] − B[e,h]
//	Rec[r,h]           = Σ_e G[e,h]
//	Der[Cols[e],h]    += G[e,h]    in order, or Der[Rows[e−First],h] = G[e,h] where there are Rows
func (t *Tile) Score() {
	t.check(t.B, t.G, t.T)
	if rows := len(t.Offsets) - 1; rows > 0 {
		inside(t.Rec, rows, t.RecStride, t.Lanes)
	}
	if lo, hi := int(t.Offsets[0]), int(t.Offsets[len(t.Offsets)-1]); t.Rows != nil && lo < hi {
		_ = t.Rows[lo-t.First : hi-t.First]
	}
	if cpu.Fast && t.scoreFast() {
		return
	}
	w := t.Lanes
	t.slots(func(r, lo, hi, slot int) {
		del := t.Rec[r*t.RecStride:][:w]
		clear(del)
		for e := lo; e < hi; e++ {
			at, row := (slot+e-lo)*w, int(t.Cols[e])
			if t.Rows != nil {
				row = int(t.Rows[e-t.First])
			}
			der := t.Der[row*t.DerStride:][:w]
			for h := range del {
				dz := Float(t.T[at+h]*t.G[at+h]) - t.B[at+h]
				t.G[at+h] = dz
				del[h] += dz
				if t.Rows != nil {
					der[h] = dz
				} else {
					der[h] += dz
				}
			}
		}
	})
}

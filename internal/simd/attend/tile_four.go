//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package attend

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/four"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// tilePiece is how many numbers are taken through all steps while they are near.
const tilePiece = 512

// part sets numbers of edges to part i of the records of columns, and adds near unless that is nil.
func (t *Tile) part(to []Float, i int, near []Float, slot, lo, hi int) {
	var add unsafe.Pointer
	if near != nil {
		add = place(near, 0)
	}
	if lo < hi {
		four.Gathered(place(to, slot*t.Lanes), place(t.Far, i*t.Lanes), add, place(t.Cols, lo), hi-lo, t.Lanes, t.FarStride*floatSize)
	}
}

// gatherFast is Gather of four lanes and of eight.
func (t *Tile) gatherFast() bool {
	if t.Lanes < 4 {
		return false
	}
	t.slots(func(r, lo, hi, slot int) {
		near := t.Near[r*t.NearStride:][:t.Lanes]
		copy(t.Rec[r*t.RecStride:], near)
		t.part(t.Z, 0, near, slot, lo, hi)
		for e := lo; e < hi; e++ {
			t.Edge[slot+e-lo] = int32(e)
		}
	})
	return true
}

// recallFast is Recall of four lanes and of eight.
func (t *Tile) recallFast() bool {
	if t.Lanes < 4 {
		return false
	}
	t.slots(func(r, lo, hi, slot int) {
		t.part(t.Z, 0, t.Near[r*t.NearStride:][:t.Lanes], slot, lo, hi)
		t.part(t.T, 1, nil, slot, lo, hi)
		t.part(t.A, 2, nil, slot, lo, hi)
		t.part(t.B, 3, nil, slot, lo, hi)
		copy(t.Edge[slot:], t.Perm[lo:hi])
		from, to := slot*t.Lanes, slot*t.Lanes+8*Groups(hi-lo, t.Lanes)
		clear(t.G[from:to])
		for _, x := range [...][]Float{t.Z, t.A, t.B, t.T} {
			clear(x[from+(hi-lo)*t.Lanes : to])
		}
	})
	return true
}

// scoreFast is Score of four lanes and of eight.
func (t *Tile) scoreFast() bool {
	if t.Lanes < 4 {
		return false
	}
	t.slots(func(r, lo, hi, slot int) {
		at, rec := slot*t.Lanes, t.Rec[r*t.RecStride:][:t.Lanes]
		switch {
		case lo == hi:
			clear(rec)
		case t.Rows != nil:
			four.Scored(place(t.G, at), place(t.T, at), place(t.B, at), place(t.Der, 0), place(rec, 0), place(t.Rows, lo-t.First), hi-lo, t.Lanes, t.DerStride*floatSize, 0)
		default:
			four.Scored(place(t.G, at), place(t.T, at), place(t.B, at), place(t.Der, 0), place(rec, 0), place(t.Cols, lo), hi-lo, t.Lanes, t.DerStride*floatSize, 1)
		}
	})
	return true
}

// weighFast makes Weigh of steps, for some slots at a time.
func (t *Tile) weighFast() bool {
	var room [tilePiece]Float
	for lo := 0; lo < 8*t.Slots; lo += tilePiece {
		hi := min(lo+tilePiece, 8*t.Slots)
		z, a, b, top, x := t.Z[lo:hi], t.A[lo:hi], t.B[lo:hi], t.T[lo:hi], room[:hi-lo]
		vec.LeakyReLU.Forward(x, z, t.Slope)
		vec.ExpRows(x, x, top)
		vec.Mul.Forward(a, a, x, 1, 1)
		vec.LeakyReLU.SetBackward(top, a, z, z, t.Slope)
		vec.Mul.Forward(b, b, top, 1, 1)
	}
	return true
}

// maskFast is Mask of four lanes, or of twice four.
func (t *Tile) maskFast() bool {
	if t.Lanes < 4 {
		return false
	}
	var halves [2][tilePiece]Float
	for lo, edges := 0, 8*t.Slots/t.Lanes; lo < edges; lo += tilePiece / 4 {
		n := min(tilePiece/4, edges-lo)
		for h := 0; h < t.Lanes; h += 4 {
			mask := four.NewMask(t.k0, t.k1, t.drop, vec.ColumnKey, t.scale, int(t.Column)+h)
			to := unsafe.Pointer(&halves[h/4])
			if t.Lanes == 4 {
				to = place(t.M, 4*lo)
			}
			four.Factors(to, place(t.Edge, lo), unsafe.Pointer(&mask), n, 0)
		}
		for e := 0; e < n && t.Lanes == 8; e++ {
			to := (*[8]Float)(t.M[8*(lo+e):])
			*(*[4]Float)(to[:4]), *(*[4]Float)(to[4:]) = [4]Float(halves[0][4*e:]), [4]Float(halves[1][4*e:])
		}
	}
	return true
}

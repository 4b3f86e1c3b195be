package spmm

import (
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// Values are the nonzeros of some rows of a CSR matrix, from Row on.
type Values struct {
	Offsets []int64 // of the rows and the end
	Cols    []int32 // of all nonzeros of the matrix
	From    []Float // the value of each
	To      []Float // of Drop alone: what becomes of it; may be From
	Row     int

	k0, k1, drop uint32
	scale        Float

	// Of Keep alone:
	ToCols []int32 // the columns of what is kept
	Kept   []Float // their values, scaled
	Starts []int64 // where each row starts in both, and the end; the first is given

	inner int64 // of the assembly: a row that ends here or before has eight elements after it
}

// KeepRoom is how many elements [Values.Keep] may use beyond those it keeps.
const KeepRoom = 8

// Drop drops nonzeros as [Dropout.Add] drops the elements of a matrix:
//
//	To[k] = From[k]·scale where Keep, else 0
func (v *Values) Drop(d *vec.Dropout) {
	rows := len(v.Offsets) - 1
	if rows < 1 {
		return
	}
	n := v.Offsets[rows]
	_, _, _ = v.Cols[:n], v.From[:n], v.To[:n]
	v.set(d)
	if cpu.Fast && v.dropFast() {
		return
	}
	v.dropGo(d)
}

// set takes over the numbers of d.
func (v *Values) set(d *vec.Dropout) {
	v.k0, v.k1, v.drop, v.scale = d.K0, d.K1, d.Below, Float(d.Scale)
}

// dropGo is the truth of Drop.
func (v *Values) dropGo(d *vec.Dropout) {
	for r := range len(v.Offsets) - 1 {
		key := d.Row(v.Row + r)
		for k := v.Offsets[r]; k < v.Offsets[r+1]; k++ {
			if x := v.From[k]; d.Keep(key, int(v.Cols[k])) {
				v.To[k] = x * v.scale
			} else {
				v.To[k] = 0
			}
		}
	}
}

// Keep copies the nonzeros that [Values.Drop] would not make zero, one row behind
// the other from Starts[0] on: a smaller matrix, with the same products. ToCols and
// Kept hold as many elements from there as there are nonzeros, and KeepRoom more.
// To is left alone:
//
//	ToCols[n], Kept[n] = Cols[k], From[k]·scale    for the k where Keep and that is not 0, in order
func (v *Values) Keep(d *vec.Dropout) {
	rows := len(v.Offsets) - 1
	if rows < 1 {
		return
	}
	n := v.Offsets[rows]
	end := v.Starts[0] + n - v.Offsets[0] + KeepRoom
	_, _, _, _, _ = v.Cols[:n], v.From[:n], v.ToCols[:end], v.Kept[:end], v.Starts[rows]
	v.set(d)
	if cpu.Fast && v.keepFast() {
		return
	}
	v.keepGo(d)
}

// keepGo is the truth of Keep.
func (v *Values) keepGo(d *vec.Dropout) {
	at := v.Starts[0]
	for r := range len(v.Offsets) - 1 {
		key := d.Row(v.Row + r)
		for k := v.Offsets[r]; k < v.Offsets[r+1]; k++ {
			if x := v.From[k] * v.scale; x != 0 && d.Keep(key, int(v.Cols[k])) {
				v.ToCols[at], v.Kept[at] = v.Cols[k], x
				at++
			}
		}
		v.Starts[r+1] = at
	}
}

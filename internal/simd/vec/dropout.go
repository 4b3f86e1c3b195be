package vec

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// Dropout is the mask of one dropout in one step: which elements are kept is a
// hash of (seed, step, op, row, column), so any part of the mask can be
// computed anywhere and again. It uses 32-bit operations only. The numbers in
// it are part of the format of a run: changing one changes every result. Its
// fields are those of tensor.Mask, which converts to it.
type Dropout struct {
	K0, K1 uint32  // the keys of the hash
	Below  uint32  // an element is dropped if its hash is below
	Off    bool    // nothing is dropped
	Scale  float64 // of what is kept: 1/(1−p)
}

// NewDropout returns the mask that drops a fraction p of the elements. A p of
// at least 1 drops all.
func NewDropout(seed, step uint64, op uint32, p float64) Dropout {
	a := mix(uint32(seed)) ^ uint32(seed>>32)
	b := mix(uint32(step)+0x9e3779b9) ^ uint32(step>>32)
	k0 := mix(mix(a) + b)
	k1 := mix(k0 + mix(op+0x7f4a7c15))
	d := Dropout{K0: mix(k1 ^ a), K1: k1}
	switch {
	case p <= 0:
		d.Off, d.Scale = true, 1
	case p >= 1:
		d.Below, d.Scale = ^uint32(0), 0
	default:
		d.Below, d.Scale = uint32(p*(1<<32)), 1/(1-p)
	}
	return d
}

// On reports whether d drops anything.
func (d *Dropout) On() bool { return d.Scale != 0 && !d.Off || d.Below != 0 }

// Row returns the key of a row, for [Dropout.Keep].
func (d *Dropout) Row(row int) uint32 { return mix(uint32(row)+d.K0) ^ d.K1 }

// Keep reports whether the element of a column is kept in the row of that key.
func (d *Dropout) Keep(rowKey uint32, col int) bool {
	return mix(rowKey+uint32(col)*ColumnKey) >= d.Below && d.Scale != 0
}

// Uniform returns the element of a column as a number between 0 and 1, without
// either.
func (d *Dropout) Uniform(rowKey uint32, col int) float64 {
	return (float64(mix(rowKey+uint32(col)*ColumnKey)) + 0.5) / (1 << 32)
}

// ColumnKey tells the columns of a row apart.
const ColumnKey = 0x9e3779b9

// Add adds what is kept of src, scaled, to dst: rows of a width, whose numbers
// count from row.
//
//	dst[i] += src[i]·scale where Keep
func (d *Dropout) Add(dst, src []Float, row, width int) {
	if d.Scale != 0 {
		d.rows(dst, src, row, width, false)
	}
}

// Set is Add to zeros: what is dropped becomes zero. dst may be src.
//
//	dst[i] = src[i]·scale where Keep, else 0
func (d *Dropout) Set(dst, src []Float, row, width int) {
	if d.Scale == 0 {
		clear(dst[:len(src)])
		return
	}
	d.rows(dst, src, row, width, true)
}

// rows checks that src is whole rows, and is Set or Add.
func (d *Dropout) rows(dst, src []Float, row, width int, set bool) {
	if len(src) == 0 {
		return
	}
	if width <= 0 || len(src)%width != 0 {
		panic(fmt.Sprintf("vec: dropout of %d elements in rows of %d", len(src), width))
	}
	dst = dst[:len(src)]
	if cpu.Fast && d.rowsFast(dst, src, row, width, set) {
		return
	}
	for ; len(src) > 0; dst, src, row = dst[width:], src[width:], row+1 {
		d.rowGo(dst[:width], src[:width], d.Row(row), set)
	}
}

// rowGo is the truth of rows.
func (d *Dropout) rowGo(dst, src []Float, key uint32, set bool) {
	scale := Float(d.Scale)
	for j, v := range src {
		switch keep := d.Keep(key, j); {
		case keep && set:
			dst[j] = v * scale
		case keep:
			dst[j] += v * scale
		case set:
			dst[j] = 0
		}
	}
}

// mix is a bijection of 32 bits in which each input bit moves every output bit
// (the "lowbias32" constants).
func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	x ^= x >> 16
	return x
}

//go:build !noasm && !f64

package gemm

import "unsafe"

// tallWork is about how many multiply-adds a call does, which cannot be preempted.
const tallWork = 1 << 21

// tallFast adds the product of rows, a multiple of a tile's, with one panel or two. The
// assembly moves the pointers on, so it is given a copy; between calls they are inside
// their arrays.
func (p *Product) tallFast(panels, rows int) {
	c := *p
	step := max(tallWork/(2*ProductPanel*p.K)/tallRows, 1) * tallRows
	for left := rows; left > 0; left -= step {
		c.M = min(step, left)
		if panels == 1 {
			gemmOne512(&c)
		} else {
			gemm512(&c)
		}
	}
	p.Ahead = c.Ahead + rows/ProductGroup*p.Tile*int(unsafe.Sizeof(p.A[0])) // counted from where A began
}

// aim makes the tiles of so many rows prefetch two panels, the first so many elements after
// that at B: in all of four prefetches, half of them for each, a line of both.
func (p *Product) aim(rows, after int) {
	const line = 64
	p.Ahead = int(uintptr(unsafe.Pointer(&p.B[0]))-uintptr(unsafe.Pointer(&p.A[0]))) + after*size
	p.beside = p.panel * size
	tiles := rows / tallRows
	p.AheadStep = min((line+tiles-1)/tiles, line/2)
}

// fewFast adds the product of the rows from lo up to hi, less than a tile's, with one panel
// or two.
func (p *Product) fewFast(panels, lo, hi int) {
	c := *p
	c.M, c.A, c.C = hi-lo, p.A[lo/ProductGroup*p.Tile:], p.C[lo*p.LDC:]
	if panels == 1 {
		gemmFewOne512(&c)
	} else {
		gemmFew512(&c)
	}
}

// lineFast adds the product of up to lineRows rows with linePanels panels.
func (p *Product) lineFast() { gemmLine512(p) }

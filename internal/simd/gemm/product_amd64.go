//go:build !noasm && !f64

package gemm

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// mulAddFast is MulAdd of a product that is ready.
func (p *Product) mulAddFast() bool {
	if p.N == 1 && p.CS == 1 && p.LDB == 1 && p.LDC == 1 && p.Tile == ProductGroup*p.RS {
		p.dots()
		return true
	}
	j, at := 0, p // the generator knows no type of ours
	if p.M == 1 && p.N >= rowColumns {
		j = p.oneRow()
	}
	for ; p.N-j >= 16; j += 16 {
		gemm16(at, j)
	}
	switch rest := p.N - j; {
	case rest > 8:
		gemm16cut(at, j)
	case rest > 0:
		gemm8cut(at, j)
	}
	return true
}

// One row of A and at least so many columns are a product of a vector and a matrix, whose time
// is that of reading B: a call has about rowWork elements of it.
const (
	rowColumns = 64
	rowWork    = 1 << 17
)

// oneRow computes the columns of a product of one row, but for those past a multiple of 16, and
// returns how many.
func (p *Product) oneRow() int {
	one := *p
	one.N = p.N &^ 15
	if p.Set {
		clear(p.C[:one.N])
	}
	step := max(rowWork/one.N&^7, 8)
	for k := 0; k < p.K; k += step {
		one.K = min(step, p.K-k)
		one.A, one.B = p.A[k*p.CS:], p.B[k*p.LDB:]
		gemmRow(&one)
	}
	return one.N
}

// A column of B and rows of A that are contiguous are a product of a matrix and a vector, whose
// time is that of reading A: a call has about dotsWork elements of it, in ProductDots rows at a time.
// Rows that are a multiple of dotsAlias apart lie in one set of the first cache, which keeps
// eight lines of it: they come in eights.
const (
	dotsWork  = 1 << 17
	dotsAlias = 1024
)

// dots computes a product of one contiguous column and contiguous rows.
func (p *Product) dots() {
	if p.Set {
		clear(p.C[:p.M])
	}
	one := *p
	step := max(dotsWork/p.K, ProductDots) &^ (ProductDots - 1)
	whole, few := p.M&^(ProductDots-1), ProductDots
	if p.RS%dotsAlias == 0 {
		whole, few = 0, ProductDots/2
	}
	for i := 0; i < whole; i += step {
		one.A, one.C, one.M = p.A[i*p.RS:], p.C[i:], min(step, whole-i)
		gemmDots(&one, 4*p.RS*size, 8*p.RS*size, 12*p.RS*size)
	}
	for i := whole; i < p.M; i += few {
		one.A, one.RS = p.A[i*p.RS:], p.RS
		one.lastDots(p.C[i:min(i+few, p.M)])
	}
}

// lastDots is dots of up to ProductDots rows, to c. Where there are four, the fours of the
// kernel overlap, and elements that are computed twice come to the same; else a row stands for
// four.
func (p *Product) lastDots(c []Float) {
	var sums [ProductDots]Float
	var at [4]int
	each := 4
	if len(c) < each {
		each = 1
	}
	for i := range at {
		at[i] = min(i*each, len(c)-each)
		copy(sums[4*i:], c[at[i]:at[i]+each])
	}
	bytes := p.RS * size
	if each == 1 {
		p.RS = 0
	}
	p.M, p.C = ProductDots, sums[:]
	gemmDots(p, at[1]*bytes, at[2]*bytes, at[3]*bytes)
	for i, to := range at {
		copy(c[to:], sums[4*i:4*i+each])
	}
}

// The kernels of AVX-512 take two panels, or the last, and tiles of twelve rows or fewer, or
// a line of panels where there are too few rows for that.
const (
	tallRows   = 2 * ProductGroup
	lineRows   = 3
	linePanels = 8
)

// together is how many of so many whole panels the kernels of AVX-512 compute at once.
func (p *Product) together(panels int) int {
	switch {
	case !cpu.AVX512 || panels < 1 || panels == 1 && p.M <= lineRows:
		return 0
	case p.M <= lineRows && panels >= linePanels:
		return linePanels
	}
	return min(panels, 2)
}

// panelsFast adds the product with as many of so many whole panels as are computed at once, of
// which B is at the first, and returns how many. Of a far B those that the next call takes are
// next elements after it.
func (p *Product) panelsFast(panels, pitch, next int) (done int) {
	done = p.together(panels)
	if done == 0 || !p.ready() {
		return done
	}
	p.panel = pitch
	_ = p.B[(done-1)*pitch+(p.K-1)*p.LDB+ProductPanel-1]
	_ = p.C[(p.M-1)*p.LDC+done*ProductPanel-1]
	if done == linePanels {
		gemmLine512(p)
		return done
	}
	tall, few := p.cut()
	if tall > 0 {
		if p.Far {
			if panels >= 4 {
				next = 2 * pitch
			}
			p.aim(tall, next)
		}
		p.tallFast(done, tall)
	}
	for lo := tall; lo < p.M; lo, few = few, p.M {
		p.fewFast(done, lo, few)
	}
	return done
}

// cut returns how many rows are computed in twelves, and where the first tile of fewer
// ends. One or two of these leave none of so few rows that the kernel would wait for its
// own results.
func (p *Product) cut() (tall, next int) {
	tall = p.M / tallRows * tallRows
	if rest := p.M - tall; rest == 0 || rest >= ProductGroup || tall == 0 {
		return tall, p.M
	}
	return tall - tallRows, tall - ProductGroup
}

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

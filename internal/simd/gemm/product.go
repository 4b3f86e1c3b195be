package gemm

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// ProductGroup is how many rows of A a [Product] finds at the stride RS of each
// other.
const ProductGroup = 6

// ProductDots is how many rows of A a [Product] reads side by side where B has one column.
const ProductDots = 16

// size is how many bytes an element has.
const size = int(unsafe.Sizeof(Float(0)))

// Product is a product of matrices inside larger arrays, which it adds to C.
// Rows of B and C are LDB and LDC apart. A is in groups of six rows that are
// Tile apart, so element (i, k) of A is A[i/6·Tile + i%6·RS + k·CS]; a Tile of
// 0 stands for 6·RS. C overlaps neither A nor B. The strides are not negative.
type Product struct {
	A, B, C  []Float
	RS, CS   int
	LDB, LDC int
	M, N, K  int
	Tile     int

	// The kernels of 16 columns, and of 32 and twelve rows, prefetch places every four steps of k, so many
	// bytes after &A[0], go on by so many bytes, and leave Ahead where they end.
	// Nothing is read there, so it need not exist.
	Ahead, AheadStep int

	// With Far the panels of B lie beyond the second cache: the kernel of 32 columns and
	// twelve rows prefetches the two after those that it takes, and not what Ahead says.
	// Those that the next call takes are Next elements after B.
	Far  bool
	Next int

	Set bool // C is set to the product, whatever it was

	panel  int // elements from one panel of B to the next, of Panels
	beside int // bytes from each place that is prefetched to another one
}

// Fetch has the kernels prefetch x in the course of a product that asks so many times.
func (p *Product) Fetch(x []Float, asks int) {
	const line = 64
	p.Ahead = int(uintptr(unsafe.Pointer(&x[0])) - uintptr(unsafe.Pointer(&p.A[0])))
	p.AheadStep = min((len(x)*size+asks-1)/asks, line)
}

// Asks is how many times a product prefetches a place.
func (p *Product) Asks() int {
	return p.M / ProductGroup * ((p.N + ProductPanel - 1) / ProductPanel) * (p.K / 4)
}

// MulAdd adds the product:
//
//	C[i·LDC + j] += Σ_k A[i/6·Tile + i%6·RS + k·CS]·B[k·LDB + j]
//
// An element is one chain of fused multiply-adds in the order of k, which
// starts at the element of C or, with Set, at 0; in plain Go, a chain of
// multiplications and additions. A call cannot be preempted: cut what takes
// more than 50 µs.
func (p *Product) MulAdd() {
	if !p.ready() {
		return
	}
	if !cpu.AVX2 {
		p.mulAddGo()
		return
	}
	if p.N == 1 && p.CS == 1 && p.LDB == 1 && p.LDC == 1 && p.Tile == ProductGroup*p.RS {
		p.dots()
		return
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

// ready reports whether there is a product to add. It panics where a slice is too
// short for it.
func (p *Product) ready() bool {
	if !p.some() {
		return false
	}
	if p.Tile == 0 {
		p.Tile = ProductGroup * p.RS
	}
	if p.RS|p.CS|p.LDB|p.LDC|p.Tile < 0 {
		panic("gemm: negative stride in a Product")
	}
	last := p.M - 1
	end := last/ProductGroup*p.Tile + last%ProductGroup*p.RS
	if last >= ProductGroup { // the group before the last may end after it
		end = max(end, (last/ProductGroup-1)*p.Tile+(ProductGroup-1)*p.RS)
	}
	_ = p.A[end+(p.K-1)*p.CS]
	_ = p.B[(p.K-1)*p.LDB+p.N-1]
	_ = p.C[last*p.LDC+p.N-1]
	return true
}

// Panels is MulAdd of a B that is in panels of 16 columns, so many elements apart: LDB is 16
// where each was laid out by itself, and 16 apart they are a matrix's own columns.
func (p *Product) Panels(pitch int) {
	if !p.some() {
		return
	}
	b, c, n := p.B, p.C, p.N
	for j := 0; j < n; {
		p.B, p.C, p.N = b[j/ProductPanel*pitch:], c[j:], min(ProductPanel, n-j)
		left := (n - j) / ProductPanel
		if together := p.together(left); together > 0 {
			after := 2 * pitch
			if left < 4 {
				after = p.Next - j/ProductPanel*pitch
			}
			p.wide(together, pitch, after)
			j += together * ProductPanel
			continue
		}
		p.MulAdd()
		j += ProductPanel
	}
	p.B, p.C, p.N = b, c, n
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
	case !cpu.AVX2 || !cpu.AVX512 || panels == 1 && p.M <= lineRows:
		return 0
	case p.M <= lineRows && panels >= linePanels:
		return linePanels
	}
	return min(panels, 2)
}

// wide adds the product with so many panels, of which B is at the first. Of a far B those
// that are next are so many elements after it.
func (p *Product) wide(panels, pitch, after int) {
	if !p.ready() {
		return
	}
	p.panel = pitch
	_ = p.B[(panels-1)*pitch+(p.K-1)*p.LDB+ProductPanel-1]
	_ = p.C[(p.M-1)*p.LDC+panels*ProductPanel-1]
	if panels == linePanels {
		p.lineFast()
		return
	}
	tall, next := p.cut()
	if tall > 0 {
		if p.Far {
			p.aim(tall, after)
		}
		p.tallFast(panels, tall)
	}
	for lo := tall; lo < p.M; lo, next = next, p.M {
		p.fewFast(panels, lo, next)
	}
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

// some reports whether there is anything to add, and sets C if not.
func (p *Product) some() bool {
	if p.M > 0 && p.N > 0 && p.K > 0 {
		return true
	}
	for i := 0; p.Set && p.N > 0 && i < p.M; i++ {
		clear(p.C[i*p.LDC : i*p.LDC+p.N])
	}
	return false
}

// mulAddGo is the truth of MulAdd.
func (p *Product) mulAddGo() {
	for i := range p.M {
		c := p.C[i*p.LDC : i*p.LDC+p.N]
		if p.Set {
			clear(c)
		}
		row := p.A[i/ProductGroup*p.Tile+i%ProductGroup*p.RS:]
		for k := range p.K {
			a := row[k*p.CS]
			b := p.B[k*p.LDB : k*p.LDB+p.N]
			for j, v := range b {
				c[j] += a * v
			}
		}
	}
}

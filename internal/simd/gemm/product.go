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
	if !cpu.Fast || !p.mulAddFast() {
		p.mulAddGo()
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
		if cpu.Fast {
			if done := p.panelsFast((n-j)/ProductPanel, pitch, p.Next-j/ProductPanel*pitch); done > 0 {
				j += done * ProductPanel
				continue
			}
		}
		p.MulAdd()
		j += ProductPanel
	}
	p.B, p.C, p.N = b, c, n
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

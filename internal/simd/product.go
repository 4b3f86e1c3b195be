package simd

import "unsafe"

// Product is a product of matrices inside larger arrays, which it adds to C.
// Element (i, k) of A is A[i·RS + k·CS]; rows of B and C are LDB and LDC apart.
// C overlaps neither A nor B. The strides are not negative.
type Product struct {
	A, B, C  []Float
	RS, CS   int
	LDB, LDC int
	M, N, K  int
}

// MulAdd adds the product:
//
//	C[i·LDC + j] += Σ_k A[i·RS + k·CS]·B[k·LDB + j]
//
// An element is one chain of fused multiply-adds in the order of k, which
// starts at the element of C; in plain Go, a chain of multiplications and
// additions. A call cannot be preempted: cut what takes more than 50 µs.
func (p *Product) MulAdd() {
	if p.M <= 0 || p.N <= 0 || p.K <= 0 {
		return
	}
	if p.RS|p.CS|p.LDB|p.LDC < 0 {
		panic("simd: negative stride in a Product")
	}
	_ = p.A[(p.M-1)*p.RS+(p.K-1)*p.CS]
	_ = p.B[(p.K-1)*p.LDB+p.N-1]
	_ = p.C[(p.M-1)*p.LDC+p.N-1]
	if !fast {
		p.mulAddGo()
		return
	}
	j, at := 0, (*byte)(unsafe.Pointer(p)) // the generator knows no type of ours
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

// mulAddGo is the truth of MulAdd.
func (p *Product) mulAddGo() {
	for i := range p.M {
		c := p.C[i*p.LDC : i*p.LDC+p.N]
		for k := range p.K {
			a := p.A[i*p.RS+k*p.CS]
			b := p.B[k*p.LDB : k*p.LDB+p.N]
			for j, v := range b {
				c[j] += a * v
			}
		}
	}
}

package tensor

// Flags chooses a variant of [MatMul].
type Flags uint8

// The transpositions of MatMul.
const (
	TransA Flags = 1 << iota // use the transpose of a
	TransB                   // use the transpose of b
)

// MatMul adds the product of two matrices to dst:
//
//	dst[i,j] += Σ_k a[i,k]·b[k,j]
//
// An element depends on its row, its column and the length of k alone: it is
// one chain of fused multiply-adds in the order of k that starts at dst[i,j],
// whatever the other sizes are. So a row of a product equals the product of the
// row. With TransA alone, which gradients of weights use, a k of 4096 or more is
// cut into parts by its length; each is a chain, and they are added in order.
//
// Every operand is read as a matrix of its rows; dst must not overlap a or b.
func MatMul(dst, a, b *Dense, f Flags) {
	m, k := a.Rows(), a.RowLen()
	if f&TransA != 0 {
		m, k = k, m
	}
	kb, n := b.Rows(), b.RowLen()
	if f&TransB != 0 {
		kb, n = n, kb
	}
	if k != kb || dst.Rows() != m || dst.RowLen() != n {
		panic(Mismatch("tensor.MatMul", a, b, dst))
	}
	g := gemm{m: m, n: n, k: k, a: viewOf(a, f&TransA != 0), b: viewOf(b, f&TransB != 0), c: dst.Data}
	if f == TransA && k >= splitFrom {
		g.split()
		return
	}
	g.run()
}

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
// one chain of additions in the order of k that starts at dst[i,j], whatever
// the other sizes are. So a row of a product equals the product of the row.
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
	switch {
	case f == TransA|TransB:
		for i := range m {
			row := dst.Row(i)
			for j := range row {
				for l, v := range b.Row(j) {
					row[j] += a.Data[l*m+i] * v
				}
			}
		}
	case f == TransA:
		for l := range k {
			x := b.Row(l)
			for i, v := range a.Row(l) {
				axpy(dst.Row(i), v, x)
			}
		}
	case f == TransB:
		for i := range m {
			x, row := a.Row(i), dst.Row(i)
			for j := range row {
				row[j] = dotFrom(row[j], x, b.Row(j))
			}
		}
	default:
		for i := range m {
			row := dst.Row(i)
			for l, v := range a.Row(i) {
				axpy(row, v, b.Row(l))
			}
		}
	}
}

// axpy is y += a·x.
func axpy(y []Float, a Float, x []Float) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += a * v
	}
}

// dotFrom is s + Σ x·y, added in order.
func dotFrom(s Float, x, y []Float) Float {
	y = y[:len(x)]
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

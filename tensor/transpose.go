package tensor

import "slices"

// side is the edge of the square blocks of a transpose: two of them fit the
// first cache.
const side = 32

// Transpose sets dst to x with its last two axes exchanged; the axes before
// them count matrices. dst must not overlap x.
func Transpose(dst, x *Dense) {
	k := x.axes - 2
	if k < 0 || dst.axes != x.axes || !slices.Equal(dst.dims[:k], x.dims[:k]) || dst.dims[k] != x.dims[k+1] || dst.dims[k+1] != x.dims[k] {
		panic(Mismatch("tensor.Transpose", x, dst))
	}
	apart("Transpose", dst, x)
	m, n := x.dims[k], x.dims[k+1]
	if len(x.Data) == 0 {
		return
	}
	for at := 0; at < len(x.Data); at += m * n {
		for i := 0; i < m; i += side {
			for j := 0; j < n; j += side {
				b := x.Data[at+i*n+j : at+m*n]
				turn(dst.Data[at+j*m+i:at+m*n], b, square{min(side, m-i), min(side, n-j), m, n})
			}
		}
	}
}

// square is a block of rows×cols elements of a matrix of m rows of n.
type square struct{ rows, cols, m, n int }

// turn transposes one block.
func turn(to, from []Float, b square) {
	for i := range b.rows {
		for j, v := range from[i*b.n : i*b.n+b.cols] {
			to[j*b.m+i] = v
		}
	}
}

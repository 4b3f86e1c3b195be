package tensor

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// Concat sets dst to the arrays xs, joined along an axis; a negative axis counts
// from the last. All other axes must agree. dst must not overlap them.
func Concat(dst *Dense, axis int, xs ...*Dense) {
	joined("Concat", dst, axis, xs, func(whole, part []Float) { copy(whole, part) })
}

// Split cuts x along an axis into parts, whose lengths there say where; a
// negative axis counts from the last. The lengths add up to x's. It is the
// inverse of [Concat]. The parts must not overlap x.
func Split(x *Dense, axis int, parts ...*Dense) {
	joined("Split", x, axis, parts, func(whole, part []Float) { copy(part, whole) })
}

// joined calls f with each contiguous piece of the parts and where it lies in
// the whole.
func joined(op string, whole *Dense, axis int, parts []*Dense, f func(whole, part []Float)) {
	i := axisOf(op, whole, axis)
	checkParts(op, whole, i, parts)
	a, at := alongAxis(whole, i), 0
	for _, p := range parts {
		n := p.dims[i] * a.inner
		for j := range a.outer {
			lo := (j*a.n)*a.inner + at
			f(whole.Data[lo:lo+n], p.Data[j*n:(j+1)*n])
		}
		at += n
	}
}

// checkParts panics unless the parts make up the whole along axis i.
func checkParts(op string, whole *Dense, i int, parts []*Dense) {
	n := 0
	for _, p := range parts {
		apart(op, whole, p)
		if p.axes != whole.axes || !slices.Equal(p.Shape()[:i], whole.Shape()[:i]) || !slices.Equal(p.Shape()[i+1:], whole.Shape()[i+1:]) {
			panic(Mismatch("tensor."+op, whole, p))
		}
		n += p.dims[i]
	}
	if n != whole.dims[i] {
		e := Mismatch("tensor."+op, whole)
		for _, p := range parts {
			e.Shapes = append(e.Shapes, slices.Clone(p.Shape()))
		}
		e.Why = "the lengths of the parts do not add up"
		panic(e)
	}
}

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

// Roll sets dst to x rolled along an axis: element i moves to i+shift, and what
// falls off one end enters at the other. A negative axis counts from the last.
// dst has x's shape and must not overlap it.
func Roll(dst, x *Dense, axis, shift int) {
	rolled("Roll", dst, x, axis, shift, func(to, from []Float) { copy(to, from) })
}

// RollAdd is [Roll] that adds to dst: the gradient of Roll, with −shift.
func RollAdd(dst, x *Dense, axis, shift int) {
	rolled("RollAdd", dst, x, axis, shift, func(to, from []Float) { vec.Axpy(to, 1, from) })
}

func rolled(op string, dst, x *Dense, axis, shift int, put func(to, from []Float)) {
	a := alongAxis(x, axisOf(op, x, axis))
	sameShape(op, dst, x)
	apart(op, dst, x)
	if len(x.Data) == 0 {
		return
	}
	size := a.n * a.inner
	cut := size - (shift%a.n+a.n)%a.n*a.inner // what stands from here on comes first
	for at := 0; at < len(x.Data); at += size {
		from, to := x.Data[at:at+size], dst.Data[at:at+size]
		put(to[:size-cut], from[cut:])
		put(to[size-cut:], from[:cut])
	}
}

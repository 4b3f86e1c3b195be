package tensor

import "github.com/edgewise-ml/edgewise/internal/simd"

// The functions here set dst to a function of the elements of a and b under
// NumPy's broadcasting: shapes are aligned at the last axis, and a length of 1
// stretches. dst has the shape that a and b share. It may be a or b itself,
// where that has this shape too, but must not overlap them otherwise.

// Add sets dst to a + b, with broadcasting.
func Add(dst, a, b *Dense) { pointwise(simd.Add, dst, a, b) }

// Sub sets dst to a − b, with broadcasting.
func Sub(dst, a, b *Dense) { pointwise(simd.Sub, dst, a, b) }

// Mul sets dst to the product of a and b, element by element, with broadcasting.
func Mul(dst, a, b *Dense) { pointwise(simd.Mul, dst, a, b) }

// Div sets dst to the quotient of a and b, element by element, with
// broadcasting.
func Div(dst, a, b *Dense) { pointwise(simd.Div, dst, a, b) }

// Min sets dst to the smaller of a and b, and to NaN where either is, with
// broadcasting.
func Min(dst, a, b *Dense) { pointwise(simd.Min, dst, a, b) }

// Max sets dst to the larger of a and b, and to NaN where either is, with
// broadcasting.
func Max(dst, a, b *Dense) { pointwise(simd.Max, dst, a, b) }

func pointwise(f simd.Binary, dst, a, b *Dense) {
	if !broadcasts(dst.Shape(), a.Shape(), b.Shape()) {
		panic(Mismatch("tensor."+f.String(), a, b, dst))
	}
	inPlace(f.String(), dst, a)
	inPlace(f.String(), dst, b)
	p := Pair(a.Shape(), b.Shape(), dst.Shape())
	p.Rows(func(z, x, y int) {
		f.Forward(dst.Data[z:z+p.N], a.Data[x:], b.Data[y:], p.SX, p.SY)
	})
}

// broadcasts reports whether a and b share the shape to. It is [Broadcast]
// without the memory for a shape.
func broadcasts(to, a, b []int) bool {
	if len(to) != max(len(a), len(b)) {
		return false
	}
	for i, n := range to {
		x, y := 1, 1
		if j := i - len(to) + len(a); j >= 0 {
			x = a[j]
		}
		if j := i - len(to) + len(b); j >= 0 {
			y = b[j]
		}
		if x == 1 {
			x = y
		}
		if n != x || y != 1 && y != x {
			return false
		}
	}
	return true
}

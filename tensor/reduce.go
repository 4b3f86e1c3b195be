package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd"
)

// The functions here reduce one axis of x. A negative axis counts from the
// last. dst has x's shape without the axis, or with length 1 there; of the only
// axis one element is left. It must not overlap x.

// SumAxis sets dst to the sums of x along an axis; of an empty axis zero.
func SumAxis(dst, x *Dense, axis int) { sumAxis("SumAxis", dst, x, axis) }

// MeanAxis sets dst to the means of x along an axis; of an empty axis zero.
func MeanAxis(dst, x *Dense, axis int) {
	n := sumAxis("MeanAxis", dst, x, axis)
	simd.Scale.Forward(dst.Data, dst.Data, 1/Float(max(n, 1)))
}

// sumAxis returns the length of the axis.
func sumAxis(op string, dst, x *Dense, axis int) int {
	a := reduction(op, dst, x, axis)
	if a.inner == 1 {
		for i := range dst.Data {
			dst.Data[i] = simd.Sum(x.Data[i*a.n : (i+1)*a.n])
		}
		return a.n
	}
	dst.Zero()
	a.fold(simd.Add, dst, x)
	return a.n
}

// MaxAxis sets dst to the largest elements of x along an axis: NaN where there
// is one, and −Inf of an empty axis.
func MaxAxis(dst, x *Dense, axis int) {
	a := reduction("MaxAxis", dst, x, axis)
	if a.inner == 1 {
		for i := range dst.Data {
			dst.Data[i] = simd.MaxOf(x.Data[i*a.n : (i+1)*a.n])
		}
		return
	}
	dst.Fill(Float(math.Inf(-1)))
	a.fold(simd.Max, dst, x)
}

// fold takes the runs of x into those of dst, in order.
func (a along) fold(f simd.Binary, dst, x *Dense) {
	for i := range a.outer {
		to := dst.Data[i*a.inner : (i+1)*a.inner]
		for j := i * a.n; j < (i+1)*a.n; j++ {
			f.Forward(to, to, x.Data[j*a.inner:(j+1)*a.inner], 1, 1)
		}
	}
}

// reduction checks the operands and returns x along the axis.
func reduction(op string, dst, x *Dense, axis int) along {
	i := axisOf(op, x, axis)
	if !reduces(dst.Shape(), x.Shape(), i) {
		e := Mismatch("tensor."+op, x, dst)
		e.Why = fmt.Sprintf("the destination does not fit x without axis %d", i)
		panic(e)
	}
	apart(op, dst, x)
	return alongAxis(x, i)
}

// reduces reports whether to is the shape x without axis i, or with length 1
// there.
func reduces(to, x []int, i int) bool {
	if len(x) > 1 && len(to) == len(x)-1 {
		return slices.Equal(to[:i], x[:i]) && slices.Equal(to[i:], x[i+1:])
	}
	return len(to) == len(x) && to[i] == 1 && slices.Equal(to[:i], x[:i]) && slices.Equal(to[i+1:], x[i+1:])
}

// ArgMax sets dst to the places of the largest elements of x along an axis, in
// the order of the other axes. Of equal ones it is the first; NaN counts as the
// largest. It panics with a [*ShapeError] if the axis is empty, or dst has not
// one place for each of the other elements.
func ArgMax(dst []int32, x *Dense, axis int) {
	i := axisOf("ArgMax", x, axis)
	a := alongAxis(x, i)
	if len(dst) != a.outer*a.inner || a.n == 0 && len(dst) > 0 {
		panic(&ShapeError{Op: "tensor.ArgMax", Shapes: [][]int{slices.Clone(x.Shape()), {len(dst)}}, Why: fmt.Sprintf("%d places along axis %d of length %d", a.outer*a.inner, i, a.n)})
	}
	for k := range dst {
		block := x.Data[k/a.inner*a.n*a.inner+k%a.inner:]
		best := 0
		for j := 1; j < a.n; j++ {
			if above(block[j*a.inner], block[best*a.inner]) {
				best = j
			}
		}
		dst[k] = int32(best)
	}
}

// above reports whether x ranks before y: NaN ranks before every number, and
// with NaN.
func above(x, y Float) bool { return x > y || x != x && y == y }

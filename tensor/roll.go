package tensor

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

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

package tensor

import "slices"

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

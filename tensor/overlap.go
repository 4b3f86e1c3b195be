package tensor

import "unsafe"

// overlap reports whether x and y share an element.
func overlap(x, y []Float) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	x0, y0 := start(x), start(y)
	const size = unsafe.Sizeof(x[0])
	return x0 < y0+uintptr(len(y))*size && y0 < x0+uintptr(len(x))*size
}

// Overlaps reports whether x and y share an element.
func (x *Dense) Overlaps(y *Dense) bool { return overlap(x.Data, y.Data) }

func start(x []Float) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(x))) }

// apart panics if dst overlaps x, which op reads after it has begun to write.
func apart(op string, dst, x *Dense) {
	if overlap(dst.Data, x.Data) {
		panic(overlapping(op, dst, x))
	}
}

// inPlace panics if dst overlaps x without being the same elements. An op that
// reads an element before it writes the one of the same number may use it.
func inPlace(op string, dst, x *Dense) {
	if overlap(dst.Data, x.Data) && (start(dst.Data) != start(x.Data) || len(dst.Data) != len(x.Data)) {
		panic(overlapping(op, dst, x))
	}
}

func overlapping(op string, dst, x *Dense) *ShapeError {
	e := Mismatch("tensor."+op, x, dst)
	e.Why = "the destination overlaps an operand"
	return e
}

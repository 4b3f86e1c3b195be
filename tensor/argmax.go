package tensor

import (
	"fmt"
	"slices"
)

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
	p := placing{a, dst, x.Data}
	if alone(len(dst), costFunction*a.n) {
		p.places(0, len(dst))
		return
	}
	placeJobs.run(p, len(dst), costFunction*a.n, (*placing).places)
}

// placing is the search for the places of the largest elements.
type placing struct {
	along
	dst []int32
	x   []Float
}

var placeJobs jobs[placing]

func (p *placing) places(lo, hi int) {
	for k := lo; k < hi; k++ {
		block := p.x[k/p.inner*p.n*p.inner+k%p.inner:]
		best := 0
		for j := 1; j < p.n; j++ {
			if above(block[j*p.inner], block[best*p.inner]) {
				best = j
			}
		}
		p.dst[k] = int32(best)
	}
}

// above reports whether x ranks before y: NaN ranks before every number, and
// with NaN.
func above(x, y Float) bool { return x > y || x != x && y == y }

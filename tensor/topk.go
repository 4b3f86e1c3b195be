package tensor

import (
	"fmt"
	"slices"
)

// TopK takes the k largest elements along the last axis, the largest first: it
// sets values, which has x's shape but k in the last axis, to the elements and
// places, row after row, to where they are. Of equal ones the first comes
// first; NaN counts as the largest. The length of values' last axis is k; it is
// at most that of x. values must not overlap x.
func TopK(values *Dense, places []int32, x *Dense) {
	last := x.axes - 1
	k := values.Dim(-1)
	if values.axes != x.axes || k > x.dims[last] || !slices.Equal(values.dims[:last], x.dims[:last]) {
		panic(Mismatch("tensor.TopK", x, values))
	}
	if len(places) != len(values.Data) {
		panic(&ShapeError{Op: "tensor.TopK", Shapes: [][]int{slices.Clone(values.Shape()), {len(places)}}, Why: "a place for each value"})
	}
	apart("TopK", values, x)
	if k == 0 {
		return
	}
	for i := range len(places) / k {
		row := ranking(x.Data[i*x.dims[last] : (i+1)*x.dims[last]])
		top := places[i*k : (i+1)*k]
		row.top(top)
		for j, p := range top {
			values.Data[i*k+j] = row[p]
		}
	}
}

// ranking orders the places of a row: the larger element first, of equal ones
// the first.
type ranking []Float

func (r ranking) before(p, q int32) bool {
	return above(r[p], r[q]) || !above(r[q], r[p]) && p < q
}

// top sets h to the first places. It keeps them as a heap with the last one of
// them at its root, and then takes that off, time and again.
func (r ranking) top(h []int32) {
	for i := range h {
		h[i] = int32(i)
	}
	for i := len(h)/2 - 1; i >= 0; i-- {
		r.siftDown(h, i)
	}
	for p := int32(len(h)); int(p) < len(r); p++ {
		if r.before(p, h[0]) {
			h[0] = p
			r.siftDown(h, 0)
		}
	}
	for n := len(h) - 1; n > 0; n-- {
		h[0], h[n] = h[n], h[0]
		r.siftDown(h[:n], 0)
	}
}

// siftDown moves element i of a heap down to where it belongs.
func (r ranking) siftDown(h []int32, i int) {
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && r.before(h[c], h[c+1]) {
			c++
		}
		if !r.before(h[i], h[c]) {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
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

package tensor

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// The functions here reduce one axis of x. A negative axis counts from the
// last. dst has x's shape without the axis, or with length 1 there; of the only
// axis one element is left. It must not overlap x.

// SumAxis sets dst to the sums of x along an axis; of an empty axis zero.
func SumAxis(dst, x *Dense, axis int) { sumAxis("SumAxis", dst, x, axis) }

// MeanAxis sets dst to the means of x along an axis; of an empty axis zero.
func MeanAxis(dst, x *Dense, axis int) {
	n := sumAxis("MeanAxis", dst, x, axis)
	vec.Scale.Forward(dst.Data, dst.Data, 1/Float(max(n, 1)))
}

// sumAxis returns the length of the axis.
func sumAxis(op string, dst, x *Dense, axis int) int {
	a := reduction(op, dst, x, axis)
	a.reduce(folding{f: vec.Add, empty: 0, dst: dst.Data, x: x.Data})
	return a.n
}

// MaxAxis sets dst to the largest elements of x along an axis: NaN where there
// is one, and −Inf of an empty axis.
func MaxAxis(dst, x *Dense, axis int) {
	a := reduction("MaxAxis", dst, x, axis)
	a.reduce(folding{f: vec.Max, empty: Float(math.Inf(-1)), dst: dst.Data, x: x.Data})
}

// folding is a reduction of runs of x into dst. Where the blocks are few, each
// is cut into parts, which go to private memory, and these are folded in order.
type folding struct {
	along
	f      vec.Binary // Add or Max
	empty  Float      // what it is of nothing
	dst, x []Float
	parts  int
}

var foldJobs jobs[folding]

func (a along) reduce(f folding) {
	f.along = a
	if a.inner == 1 && alone(a.outer, a.n) {
		f.rows(0, a.outer)
		return
	}
	if a.inner == 1 {
		foldJobs.run(f, a.outer, a.n, (*folding).rows)
		return
	}
	if f.parts = partsOf(a.n, a.inner); a.outer >= partsMost || f.parts == 1 {
		f.parts = 1
		if alone(a.outer, a.n*a.inner) {
			f.blocks(0, a.outer)
			return
		}
		foldJobs.run(f, a.outer, a.n*a.inner, (*folding).blocks)
		return
	}
	private, lent := lend(a.outer * f.parts * a.inner)
	dst := f.dst
	f.dst = private
	foldJobs.run(f, a.outer*f.parts, share, (*folding).blocks)
	f.along, f.dst, f.x = along{a.outer, f.parts, a.inner}, dst, private
	f.parts = 1
	f.blocks(0, a.outer)
	floats.Put(lent)
}

// rows reduces runs that are contiguous.
func (f *folding) rows(lo, hi int) {
	for i := lo; i < hi; i++ {
		row := f.x[i*f.n : (i+1)*f.n]
		if f.f == vec.Add {
			f.dst[i] = vec.Sum(row)
		} else {
			f.dst[i] = vec.MaxOf(row)
		}
	}
}

// blocks reduces parts of blocks, each into inner elements.
func (f *folding) blocks(lo, hi int) {
	for i := lo; i < hi; i++ {
		to := f.dst[i*f.inner : (i+1)*f.inner]
		for j := range to {
			to[j] = f.empty
		}
		block, part := i/f.parts*f.n, i%f.parts
		from, end := block+part*f.n/f.parts, block+(part+1)*f.n/f.parts
		if f.f == vec.Add && f.inner < fewInner {
			addRuns(to, f.x[from*f.inner:end*f.inner])
			continue
		}
		for j := from; j < end; j++ {
			f.f.Forward(to, to, f.x[j*f.inner:(j+1)*f.inner], 1, 1)
		}
	}
}

// fewInner is the length of a run from which a call for each, of so little, costs less than a loop.
const fewInner = 8

// addRuns adds the runs of x, as long as to, to it: the scores of a few classes, of each of many heads.
func addRuns(to, x []Float) {
	for k, s := range to {
		for j := k; j < len(x); j += len(to) {
			s += x[j]
		}
		to[k] = s
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

// Sum64 returns the sum of all elements, added in float64: those of each few
// thousand first, and then what these give, in order.
func Sum64(x *Dense) float64 {
	const part = 1 << 14 // half a chunk, whatever share a test sets
	n := (len(x.Data) + part - 1) / part
	if n <= 1 {
		return vec.Sum64(x.Data)
	}
	s := sumMemory.Get().(*sums)
	if cap(s.of) < n {
		s.of = make([]float64, n)
	}
	s.of, s.x = s.of[:n], x.Data
	sumJobs.run(s, n, part, func(s **sums, lo, hi int) {
		for i := lo; i < hi; i++ {
			(*s).of[i] = vec.Sum64((*s).x[i*part : min((i+1)*part, len((*s).x))])
		}
	})
	total := 0.0
	for _, v := range s.of {
		total += v
	}
	s.x = nil
	sumMemory.Put(s)
	return total
}

// sums are the sums of parts of x.
type sums struct {
	of []float64
	x  []Float
}

var (
	sumJobs   jobs[*sums]
	sumMemory = sync.Pool{New: func() any { return new(sums) }}
)

// along is an array seen along one axis: outer blocks of n runs of inner
// elements.
type along struct{ outer, n, inner int }

// axisOf returns the number of an axis of x; a negative one counts from the
// last.
func axisOf(op string, x *Dense, axis int) int {
	i := axis
	if i < 0 {
		i += x.axes
	}
	if i < 0 || i >= x.axes {
		panic(&ShapeError{Op: "tensor." + op, Shapes: [][]int{slices.Clone(x.Shape()), {axis}}, Why: "no such axis"})
	}
	return i
}

// alongAxis returns x seen along axis i, which axisOf has given.
func alongAxis(x *Dense, i int) along {
	a := along{1, x.dims[i], 1}
	for _, s := range x.dims[:i] {
		a.outer *= s
	}
	for _, s := range x.dims[i+1 : x.axes] {
		a.inner *= s
	}
	return a
}

// alongLast returns x seen along its last axis.
func alongLast(x *Dense) along { return alongAxis(x, x.axes-1) }

// sameShape panics unless dst has x's shape.
func sameShape(op string, dst, x *Dense) {
	if !slices.Equal(dst.Shape(), x.Shape()) {
		panic(Mismatch("tensor."+op, x, dst))
	}
}

// CumSum sets dst to the sums of x up to each element of the last axis, which
// are added in float64. dst may be x itself but must not overlap it otherwise.
func CumSum(dst, x *Dense) {
	scan("CumSum", dst, x, func(to, from []Float) {
		s := 0.0
		for i, v := range from {
			s += float64(v)
			to[i] = Float(s)
		}
	})
}

// CumProd sets dst to the products of x up to each element of the last axis,
// which are multiplied in float64. dst may be x itself but must not overlap it
// otherwise.
func CumProd(dst, x *Dense) {
	scan("CumProd", dst, x, func(to, from []Float) {
		s := 1.0
		for i, v := range from {
			s *= float64(v)
			to[i] = Float(s)
		}
	})
}

// rowScan is a function of rows.
type rowScan struct {
	dst, x []Float
	n      int
	row    func(to, from []Float)
}

var rowScanJobs jobs[rowScan]

// scan calls row, which is no closure, with every row along the last axis. dst
// has x's shape.
func scan(op string, dst, x *Dense, row func(to, from []Float)) {
	sameShape(op, dst, x)
	inPlace(op, dst, x)
	a := alongLast(x)
	s := rowScan{dst.Data, x.Data, a.n, row}
	if alone(a.outer, costFunction*a.n) {
		s.rows(0, a.outer)
		return
	}
	rowScanJobs.run(s, a.outer, costFunction*a.n, (*rowScan).rows)
}

func (s *rowScan) rows(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.row(s.dst[i*s.n:(i+1)*s.n], s.x[i*s.n:(i+1)*s.n])
	}
}

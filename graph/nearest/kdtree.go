package nearest

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/tensor"
)

// leafPoints is how many points are not worth a split.
const leafPoints = 12

// kdTree is a k-d tree: of a range of order with more than leafPoints points,
// the middle one splits the others by its coordinate along axis[middle]. Those
// before it are not above, those after it not below.
type kdTree struct {
	points []tensor.Float
	dims   int
	order  []int32
	axis   []int32
}

// newKDTree returns the tree of points, the rows of an array, which are finite.
func newKDTree(points *tensor.Dense) *kdTree {
	n := points.Rows()
	t := &kdTree{points: points.Data, dims: points.RowLen(), order: make([]int32, n), axis: make([]int32, n)}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	t.split(0, n)
	return t
}

// checkPoints returns an error that names a coordinate that is not finite.
func checkPoints(points *tensor.Dense) error {
	for i, x := range points.Data {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("nearest: coordinate %d of point %d is %v, want a finite number", i%points.RowLen(), i/points.RowLen(), x)
		}
	}
	return nil
}

// at returns a coordinate of point v.
func (t *kdTree) at(v int32, axis int) float64 {
	return float64(t.points[int(v)*t.dims+axis])
}

// distance returns the squared distance of two points. Each square is rounded
// before it is added, so that no sum is below one of its terms.
func (t *kdTree) distance(u, v int32) float64 {
	x, y := t.points[int(u)*t.dims:int(u+1)*t.dims], t.points[int(v)*t.dims:int(v+1)*t.dims]
	sum := 0.0
	for i, a := range x {
		d := float64(a) - float64(y[i])
		sum += float64(d * d)
	}
	return sum
}

// split orders the points order[lo:hi].
func (t *kdTree) split(lo, hi int) {
	for hi-lo > leafPoints && t.dims > 0 {
		mid, axis := (lo+hi)/2, t.widest(lo, hi)
		t.axis[mid] = int32(axis)
		t.partition(lo, hi, mid, axis)
		t.split(lo, mid)
		lo = mid + 1
	}
}

// widest returns the axis along which the points order[lo:hi] spread the most.
func (t *kdTree) widest(lo, hi int) int {
	best, axis := -1.0, 0
	for a := range t.dims {
		least, most := math.Inf(1), math.Inf(-1)
		for _, v := range t.order[lo:hi] {
			x := t.at(v, a)
			least, most = min(least, x), max(most, x)
		}
		if most-least > best {
			best, axis = most-least, a
		}
	}
	return axis
}

// partition puts that point at order[mid] which belongs there when order[lo:hi]
// is sorted along an axis, those not above it before and those not below it
// behind.
func (t *kdTree) partition(lo, hi, mid, axis int) {
	for hi-lo > 1 {
		pivot := t.at(t.order[lo+(hi-lo)/2], axis)
		i, j := lo, hi-1
		for i <= j {
			for t.at(t.order[i], axis) < pivot {
				i++
			}
			for t.at(t.order[j], axis) > pivot {
				j--
			}
			if i <= j {
				t.order[i], t.order[j] = t.order[j], t.order[i]
				i++
				j--
			}
		}
		switch {
		case mid <= j:
			hi = j + 1
		case mid >= i:
			lo = i
		default:
			return
		}
	}
}

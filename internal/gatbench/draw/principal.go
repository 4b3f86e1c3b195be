package draw

import (
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// principal returns the first two principal components of each row of x, by
// orthogonal iteration. Rows ten times as far from the mean as half of the rows are have no
// say in the axes.
func principal(x *tensor.Dense) [][2]float64 {
	n, width := x.Rows(), x.RowLen()
	near := nearRows(x, meanRow(x, nil))
	mean := meanRow(x, near)
	axes := [2][]float64{make([]float64, width), make([]float64, width)}
	for j := range width { // two directions that no symmetry makes special
		axes[0][j], axes[1][j] = math.Cos(float64(j)), math.Sin(float64(2*j+1))
	}
	points := make([][2]float64, n)
	for range 60 {
		orthonormal(axes)
		project(points, x, mean, axes)
		next := [2][]float64{make([]float64, width), make([]float64, width)}
		for i, p := range points {
			if !near[i] {
				continue
			}
			for j, v := range x.Row(i) {
				c := float64(v) - mean[j]
				next[0][j] += p[0] * c
				next[1][j] += p[1] * c
			}
		}
		axes = next
	}
	orthonormal(axes)
	project(points, x, mean, axes)
	return points
}

// meanRow returns the mean of some rows; of all if these are nil.
func meanRow(x *tensor.Dense, rows []bool) []float64 {
	mean, n := make([]float64, x.RowLen()), 0.0
	for i := range x.Rows() {
		if rows == nil || rows[i] {
			n++
			for j, v := range x.Row(i) {
				mean[j] += float64(v)
			}
		}
	}
	for j := range mean {
		mean[j] /= max(n, 1)
	}
	return mean
}

// nearRows reports which rows are at most ten times as far from a place as the row in the
// middle of all distances.
func nearRows(x *tensor.Dense, from []float64) []bool {
	distance := make([]float64, x.Rows())
	for i := range distance {
		for j, v := range x.Row(i) {
			distance[i] = math.Hypot(distance[i], float64(v)-from[j])
		}
	}
	near := make([]bool, len(distance))
	if len(near) == 0 {
		return near
	}
	middle := slices.Sorted(slices.Values(distance))[len(distance)/2]
	for i, d := range distance {
		near[i] = d <= 10*middle
	}
	return near
}

// project sets the points to the rows' components along the axes.
func project(points [][2]float64, x *tensor.Dense, mean []float64, axes [2][]float64) {
	for i := range points {
		p := [2]float64{}
		for j, v := range x.Row(i) {
			c := float64(v) - mean[j]
			p[0] += c * axes[0][j]
			p[1] += c * axes[1][j]
		}
		points[i] = p
	}
}

// orthonormal makes the axes two unit vectors at a right angle. An axis of
// nothing becomes zero.
func orthonormal(axes [2][]float64) {
	unit(axes[0])
	dot := 0.0
	for j, v := range axes[0] {
		dot += v * axes[1][j]
	}
	for j, v := range axes[0] {
		axes[1][j] -= dot * v
	}
	unit(axes[1])
}

// unit divides v by its length.
func unit(v []float64) {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	if sum == 0 || math.IsInf(sum, 0) || math.IsNaN(sum) {
		clear(v)
		return
	}
	for j := range v {
		v[j] /= math.Sqrt(sum)
	}
}

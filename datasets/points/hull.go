package points

import (
	"cmp"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// point is a place in the plane.
type point struct{ x, y float64 }

func (a point) finite() bool { return !math.IsNaN(a.x-a.x) && !math.IsNaN(a.y-a.y) }

func (a point) to(b point) float64 { return math.Hypot(b.x-a.x, b.y-a.y) }

// turn is twice the area of the triangle a, b, c: positive if it is anticlockwise, zero if
// they are in a line. For numbers of float32 in the unit square it has no rounding but the
// last, so its sign is exact.
func turn(a, b, c point) float64 { return (b.x-a.x)*(c.y-a.y) - (b.y-a.y)*(c.x-a.x) }

// Ascending returns the rows of x from the lowest to the highest: by their first number, then
// by the next, and of equal ones the lower row first.
func Ascending(x *tensor.Dense) []int32 {
	order := make([]int32, x.Rows())
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return slices.Compare(x.Row(int(a)), x.Row(int(b))) })
	return order
}

// Hull returns the rows of x that are the corners of its convex hull, anticlockwise from the
// lowest row, by the monotone chain of Andrew, "Another Efficient Algorithm for Convex Hulls
// in Two Dimensions", 1979. What lies on a side is no corner; of equal points the lowest row
// is the one. Points on one line have two corners, equal points one. The error names a
// point that is not finite.
func Hull(x *tensor.Dense) ([]int32, error) {
	at, err := plane("points.Hull", x)
	if err != nil {
		return nil, err
	}
	order := Ascending(x)
	order = slices.CompactFunc(order, func(a, b int32) bool { return at[a] == at[b] })
	if len(order) < 3 {
		return fromLowest(order), nil
	}
	lower := chain(at, order)
	slices.Reverse(order)
	upper := chain(at, order)
	return fromLowest(append(lower, upper...)), nil
}

// chain returns the corners of the lower half of a hull of points from left to right, without
// the last. Points from right to left give the upper half.
func chain(at []point, order []int32) []int32 {
	var hull []int32
	for _, c := range order {
		for n := len(hull); n > 1 && turn(at[hull[n-2]], at[hull[n-1]], at[c]) <= 0; n-- {
			hull = hull[:n-1]
		}
		hull = append(hull, c)
	}
	return hull[:len(hull)-1]
}

// fromLowest returns a ring as it is read from its lowest number on.
func fromLowest(ring []int32) []int32 {
	if len(ring) == 0 {
		return nil
	}
	k := slices.Index(ring, slices.Min(ring))
	return append(slices.Clone(ring[k:]), ring[:k]...)
}

// Area returns the area within the ring of some rows of x; what is run through clockwise
// counts as negative.
func Area(x *tensor.Dense, ring []int32) float64 {
	wantColumns("points.Area", x, 2)
	sum := 0.0
	for i := 2; i < len(ring); i++ {
		sum += turn(row(x, ring[0]), row(x, ring[i-1]), row(x, ring[i]))
	}
	return sum / 2
}

// Simple reports whether no two sides of the ring of some rows of x cross or touch, but
// neighbours in their common corner.
func Simple(x *tensor.Dense, ring []int32) bool {
	wantColumns("points.Simple", x, 2)
	n := len(ring)
	side := func(i int) (a, b point) { return row(x, ring[i]), row(x, ring[(i+1)%n]) }
	for i := range n {
		for j := i + 2; j < n && (i > 0 || j < n-1); j++ {
			a, b := side(i)
			c, d := side(j)
			if meet(a, b, c, d) {
				return false
			}
		}
	}
	return true
}

// meet reports whether the lines from a to b and from c to d have a point in common.
func meet(a, b, c, d point) bool {
	sign := func(v float64) int { return cmp.Compare(v, 0) }
	abc, abd, cda, cdb := sign(turn(a, b, c)), sign(turn(a, b, d)), sign(turn(c, d, a)), sign(turn(c, d, b))
	if abc != abd && cda != cdb {
		return true
	}
	on := func(p, a, b point, s int) bool {
		return s == 0 && min(a.x, b.x) <= p.x && p.x <= max(a.x, b.x) && min(a.y, b.y) <= p.y && p.y <= max(a.y, b.y)
	}
	return on(c, a, b, abc) || on(d, a, b, abd) || on(a, c, d, cda) || on(b, c, d, cdb)
}

func row(x *tensor.Dense, i int32) point {
	r := x.Row(int(i))
	return point{float64(r[0]), float64(r[1])}
}

package draw

import (
	"math"
	"slices"
)

// border is a rectangle around most of some points.
type border struct{ low, high [2]float64 }

// borderOf returns the border that leaves room for half as much again on both sides of the
// middle 98 % of the points, or for all where most are at one place. Points that are no
// numbers do not count.
func borderOf(points [][2]float64) border {
	b := border{}
	for axis := range 2 {
		var values []float64
		for _, p := range points {
			if v := p[axis]; v-v == 0 {
				values = append(values, v)
			}
		}
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		last := len(values) - 1
		b.low[axis], b.high[axis] = values[0], values[last]
		low, high := values[last/100], values[last-last/100]
		if room := (high - low) / 2; room > 0 {
			b.low[axis], b.high[axis] = max(values[0], low-room), min(values[last], high+room)
		}
	}
	return b
}

// hold returns a point moved to the border if it lies beyond, and whether it did.
func (b border) hold(p [2]float64) (at [2]float64, beyond bool) {
	for axis, v := range p {
		at[axis] = math.Min(math.Max(v, b.low[axis]), b.high[axis])
		beyond = beyond || at[axis] != v && v == v
	}
	return at, beyond
}

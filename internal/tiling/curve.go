package tiling

import "math/bits"

// Curve says how many different rows of x the nonzeros of a matrix point at in a walk of 1,
// 2, 4, 8… of them, on average over a few walks.
type Curve []float64

// walks is how many walks a curve is the mean of, spread over the matrix.
const walks = 2

// longest is the most steps of a walk: more different rows than that are in no cache.
const longest = 1 << 20

// Walk makes the curve of a matrix from the columns of its nonzeros. It looks at an eighth of
// them at most.
func Walk(cols []int32, sources int) Curve {
	steps := min(len(cols)/(8*walks), longest)
	if steps < 1 {
		return nil
	}
	seen := make([]uint64, (sources+63)/64)
	c := make(Curve, bits.Len(uint(steps)))
	for w := range walks {
		clear(seen)
		at := (2*w + 1) * len(cols) / (2 * walks)
		rows := 0
		for i, col := range cols[at : at+1<<(len(c)-1)] {
			word, bit := &seen[col>>6], uint64(1)<<(col&63)
			if *word&bit == 0 {
				*word |= bit
				rows++
			}
			if (i+1)&i == 0 {
				c[bits.Len(uint(i))] += float64(rows) / walks
			}
		}
	}
	return c
}

// Misses returns the share of nonzeros whose row is none of so many that were used last: of
// those that are in a cache of so many rows. At that many different rows, it is how fast
// the curve climbs.
func (c Curve) Misses(rows float64) float64 {
	for j := 1; j < len(c); j++ {
		if c[j] > rows || j == len(c)-1 {
			return (c[j] - c[j-1]) / float64(int(1)<<(j-1))
		}
	}
	return 1
}

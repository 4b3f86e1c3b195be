package par

import "sort"

// Split cuts rows into parts ranges of about equal work and returns their
// bounds, appended to cuts[:0]: range i is cuts[i] ≤ row < cuts[i+1], and may
// be empty. Row r has the edges offsets[r] ≤ e < offsets[r+1]; its work is
// their number and 1. A range exceeds its share by less than its heaviest row.
//
// The bounds follow from the arguments alone. Less than 1 part is 1.
func Split(offsets []int64, parts int, cuts []int) []int {
	parts = max(parts, 1)
	rows := max(len(offsets)-1, 0)
	cuts = append(cuts[:0], 0)
	if rows == 0 {
		for range parts {
			cuts = append(cuts, 0)
		}
		return cuts
	}
	total := before(offsets, rows)
	share, rest := total/int64(parts), total%int64(parts)
	for i, r := 1, 0; i < parts; i++ {
		// total·i/parts, which would overflow
		want := share*int64(i) + rest*int64(i)/int64(parts)
		r = firstAt(offsets, want, r, r+(rows-r)/(parts-i+1))
		if lo := cuts[i-1]; r > lo && want-before(offsets, r-1) < before(offsets, r)-want {
			r-- // the bound below is nearer
		}
		cuts = append(cuts, r)
	}
	return append(cuts, rows)
}

// before is the work of the rows before r.
func before(offsets []int64, r int) int64 { return offsets[r] - offsets[0] + int64(r) }

// firstAt returns the first row, from lo on, before which there is at least so
// much work; before the end there is. It looks around a guess, further and
// further away, since rows that are about even are cut near there: a bisection
// of all of them would miss the cache at each step.
func firstAt(offsets []int64, want int64, lo, guess int) int {
	hi := len(offsets) - 1
	for step := 4; hi-lo > step; step *= 4 {
		if before(offsets, guess) >= want {
			hi = guess
			guess = max(lo, hi-step)
		} else {
			lo = guess + 1
			guess = min(hi, lo+step)
		}
	}
	return lo + sort.Search(hi-lo, func(d int) bool { return before(offsets, lo+d) >= want })
}

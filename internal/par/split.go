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
		r += sort.Search(rows-r, func(d int) bool { return before(offsets, r+d) >= want })
		if lo := cuts[i-1]; r > lo && want-before(offsets, r-1) < before(offsets, r)-want {
			r-- // the bound below is nearer
		}
		cuts = append(cuts, r)
	}
	return append(cuts, rows)
}

// before is the work of the rows before r.
func before(offsets []int64, r int) int64 { return offsets[r] - offsets[0] + int64(r) }

package simd

import "fmt"

// SpillWidth is how many columns [Spill] takes.
const SpillWidth = 32

// Spill adds rows of SpillWidth elements, which are f apart in x and in y, to
// where their nonzeros point, each times its weight:
//
//	y[cols[k]·f+j] += w[k]·x[i·f+j]    for the rows i and k = offsets[i] … offsets[i+1]−1, in order
//
// A product is rounded before it is added, in assembly too. There is a column
// and a weight up to the last offset, and the columns are rows of y: neither is
// checked again.
func Spill(y, x []Float, cols []int32, w []Float, offsets []int64, f int) {
	rows := len(offsets) - 1
	if rows < 1 {
		return
	}
	if f < SpillWidth || len(x) < (rows-1)*f+SpillWidth {
		panic(fmt.Sprintf("simd: %d elements are not %d rows of %d, %d apart", len(x), rows, SpillWidth, f))
	}
	if end := offsets[rows]; end == offsets[0] {
		return
	} else if _, _ = cols[:end], w[:end]; fast {
		spillFast(y, x, cols, w, offsets, f)
		return
	}
	for i := range rows {
		from := x[i*f : i*f+SpillWidth]
		for k := offsets[i]; k < offsets[i+1]; k++ {
			at := int(cols[k]) * f
			to, by := y[at:at+SpillWidth], w[k]
			for j, v := range from {
				to[j] += Float(by * v)
			}
		}
	}
}

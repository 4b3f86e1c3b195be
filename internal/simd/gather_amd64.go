//go:build !noasm && !f64

package simd

// wideRow is the length of rows for which some kernels are written apart.
const wideRow = 64

// ahead returns how far ahead rows of an array are asked for, and for how many
// of n rows there is one so far ahead in a list.
func ahead(elements, n, list int) (places, near int) {
	if elements < farFrom {
		return 0, 0
	}
	return aheadRows, min(n, list-aheadRows)
}

func gatherFast(dst, src []Float, rows []int32, w int) {
	for step := atOnce / w; len(dst) >= w; {
		n := min(step, len(dst)/w)
		far, near := ahead(len(src), n, len(rows))
		if w == wideRow {
			gatherRows64AVX2(&dst[0], &src[0], &rows[0], n, far, near)
		} else {
			gatherRowsAVX2(&dst[0], &src[0], &rows[0], n, w, far, near)
		}
		dst, rows = dst[n*w:], rows[n:]
	}
}

// fetchFast asks for whole lines, of 16 elements.
func fetchFast(x []Float) { fetchLines(&x[0], (len(x)+15)/16) }

func scatterFast(dst, src []Float, to []int32, from []uint16, w int) {
	for step := atOnce / w; len(from) > 0; {
		n := min(step, len(from))
		far, near := ahead(len(dst), n, len(from))
		if w == wideRow {
			scatterRows64AVX2(&dst[0], &src[0], &to[0], &from[0], n, far, near)
		} else {
			scatterRowsAVX2(&dst[0], &src[0], &to[0], &from[0], n, w, far, near)
		}
		from = from[n:]
	}
}

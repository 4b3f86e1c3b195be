//go:build !noasm && !f64

package spmm

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func gatherFast(dst, src []Float, rows []int32, w int) bool {
	for step := cpu.AtOnce / w; len(dst) >= w; {
		n := min(step, len(dst)/w)
		far, near := cpu.Ahead(len(src), n, len(rows))
		if w == cpu.WideRow {
			gatherRows64AVX2(&dst[0], &src[0], &rows[0], n, far, near)
		} else {
			gatherRowsAVX2(&dst[0], &src[0], &rows[0], n, w, far, near)
		}
		dst, rows = dst[n*w:], rows[n:]
	}
	return true
}

// fetchFast asks for whole lines, of 16 elements.
func fetchFast(x []Float) { fetchLines(&x[0], (len(x)+15)/16) }

func scatterFast(dst, src []Float, to []int32, from []uint16, w int) bool {
	for step := cpu.AtOnce / w; len(from) > 0; {
		n := min(step, len(from))
		far, near := cpu.Ahead(len(dst), n, len(from))
		if w == cpu.WideRow {
			scatterRows64AVX2(&dst[0], &src[0], &to[0], &from[0], n, far, near)
		} else {
			scatterRowsAVX2(&dst[0], &src[0], &to[0], &from[0], n, w, far, near)
		}
		from = from[n:]
	}
	return true
}

package spmm

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// Rows is a length: its methods take slices as rows of w elements.
type Rows int

// Edges returns how many edges under rows of r elements, 8 at least, a call should
// take at most, so that no kernel runs for long.
func (r Rows) Edges() int { return max(cpu.MostElements/max(int(r), 1), 8) }

// Gather copies the rows of src that are named, of w elements each, to dst:
//
//	dst[i·w+j] = src[rows[i]·w+j]    for the len(dst)/w rows of dst
//
// rows may go on: what is named beyond will be read soon. The caller has checked
// that src has the rows.
func (r Rows) Gather(dst, src []Float, rows []int32) {
	w := int(r)
	if cpu.Fast && w > 0 && w <= cpu.AtOnce && gatherFast(dst, src, rows, w) {
		return
	}
	for i, r := range rows[:len(dst)/max(w, 1)] {
		copy(dst[i*w:i*w+w], src[int(r)*w:])
	}
}

// Fetch asks for a slice that is needed after something else, so that it is near
// then.
func Fetch(x []Float) {
	if cpu.Fast && len(x) > 0 {
		fetchFast(x)
	}
}

// Scatter adds rows of src, of w elements each, to rows of dst, in the order
// of from:
//
//	dst[to[k]·w+j] += src[k·w+j]    for each k of from
//
// The caller has checked that the arrays have the rows.
func (r Rows) Scatter(dst, src []Float, to []int32, from []uint16) {
	w := int(r)
	if cpu.Fast && w > 0 && w <= cpu.AtOnce && scatterFast(dst, src, to, from, w) {
		return
	}
	for _, k := range from {
		d := dst[int(to[k])*w : int(to[k])*w+w]
		for j, v := range src[int(k)*w : int(k)*w+w] {
			d[j] += v
		}
	}
}

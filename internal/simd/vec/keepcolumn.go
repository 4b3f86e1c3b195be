package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// Column sets dst to what d makes of ones in one column, in rows whose numbers count from
// row:
//
//	dst[i] = scale where Keep(Row(row+i), col), else 0
func (d *Dropout) Column(dst []Float, row, col int) {
	scale := Float(d.Scale)
	done := 0
	if cpu.Fast {
		done = d.columnFast(dst, row, col)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = 0
		if d.Keep(d.Row(row+i), col) {
			dst[i] = scale
		}
	}
}

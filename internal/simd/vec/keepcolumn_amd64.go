//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// columnFast is Column of the whole eights, and returns how many elements these have.
func (d *Dropout) columnFast(dst []Float, row, col int) int {
	n := len(dst) &^ 7
	for lo := 0; lo < n; lo += cpu.AtOnce {
		keepColumnAVX2(&dst[lo], min(cpu.AtOnce, n-lo), uint32(row+lo), uint32(col)*ColumnKey, d, Float(d.Scale))
	}
	return n
}

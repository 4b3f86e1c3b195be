//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// mask is d of four columns from one on.
func (d *Dropout) mask(column int) four.Mask {
	return four.NewMask(d.K0, d.K1, d.Below, ColumnKey, Float(d.Scale), column)
}

// rowsFast is Set or Add of rows, in pieces.
func (d *Dropout) rowsFast(dst, src []Float, row, width int, set bool) bool {
	step := max(1, cpu.AtOnce/width)
	for col := 0; col < width; col += cpu.AtOnce {
		mask, rows := d.mask(col), len(src)/width
		for r := 0; r < rows; r += step {
			four.DropRows(begin(dst, r*width+col), begin(src, r*width+col), unsafe.Pointer(&mask), min(step, rows-r), next(width, col),
				width*floatSize, width*floatSize, row+r, number(!set))
		}
	}
	return true
}

// columnFast is Column of the whole fours, and returns how many elements these have.
func (d *Dropout) columnFast(dst []Float, row, col int) int {
	n := len(dst) &^ 3
	for lo := 0; lo < n; lo += cpu.AtOnce {
		four.FactorColumn(begin(dst, lo), next(n, lo), row+lo+int(d.K0), int(d.K1), int(uint32(col)*ColumnKey), int(d.Below), Float(d.Scale))
	}
	return n
}

func (d *Dropout) eluFast(dst, src, bias []Float, row int) bool {
	width := len(bias)
	for col := 0; col < width; col += cpu.AtOnce {
		mask := d.mask(col)
		for lo := col; lo < len(src); lo += width {
			four.DropELU(begin(dst, lo), begin(src, lo), begin(bias, col), unsafe.Pointer(&mask), constants(), next(width, col), row+lo/width)
		}
	}
	return true
}

func (d *Dropout) eluGradFast(dx, dy, y []Float) bool {
	for lo := 0; lo < len(dy); lo += cpu.AtOnce {
		four.DropELUSlope(begin(dx, lo), begin(dy, lo), begin(y, lo), next(len(dy), lo), Float(d.Scale))
	}
	return true
}

//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

import (
	"math"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

const floatSize = int(unsafe.Sizeof(Float(0)))

// place is begin, or nil of nil.
func place(x []Float, lo int) unsafe.Pointer {
	if x == nil {
		return nil
	}
	return begin(x, lo)
}

// number is 1 if b.
func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func maxFast(x []Float) (m Float, done int) {
	m = Float(math.Inf(-1))
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		if v := four.Max(begin(x, lo), next(len(x), lo)); lo == 0 {
			m = v
		} else {
			m = max(m, v)
		}
	}
	return m, len(x)
}

// expSumFast is expInto.
func expSumFast(y, x []Float, m Float) (sum Float, done int) {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		sum += four.ExpSum(begin(y, lo), begin(x, lo), constants(), next(len(x), lo), m)
	}
	return sum, len(x)
}

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

func normaliseFast(y, x, gain, with []Float, m Moments) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		four.Normalise(begin(y, lo), begin(x, lo), place(gain, lo), place(with, lo), next(len(x), lo), m.Mean, m.Rest, m.Scale)
	}
	return true
}

func normaliseGradFast(dx, g, x []Float, m Moments, of Line, set bool) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		four.NormaliseSlope(begin(dx, lo), begin(g, lo), begin(x, lo), next(len(x), lo), number(!set), m.Mean, m.Rest, m.Scale, of.Slope, of.At0)
	}
	return true
}

func normaliseSumsFast(gain, bias, x, dy []Float, m Moments) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		four.NormaliseSums(begin(gain, lo), place(bias, lo), begin(x, lo), begin(dy, lo), next(len(x), lo), m.Mean, m.Rest, m.Scale)
	}
	return true
}

// mulAddLessFast is mulAddLess.
func mulAddLessFast(z, x, y []Float, c Float) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		four.SoftmaxSlope(begin(z, lo), begin(y, lo), begin(x, lo), next(len(x), lo), 1, c)
	}
	return true
}

//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package spmm

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// scatterFast is Scatter of rows of four columns at least: of fewer, plain Go is as fast.
func scatterFast(dst, src []Float, to []int32, from []uint16, w int) bool {
	if w < 4 {
		return false
	}
	for step := cpu.AtOnce / w; len(from) > 0; {
		n := min(step, len(from))
		four.Scatter(at(dst, 0), at(src, 0), at(to, 0), unsafe.Pointer(&from[0]), n, w)
		from = from[n:]
	}
	return true
}

//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// takeFast is Take of four columns at least, if all of them or none have been taken before.
func (b *Best) takeFast(x []Float, rows, first int) bool {
	n, fresh, flip := len(b.Value), 0, 0
	for _, r := range b.Row[:n] {
		fresh += number(r < 0)
	}
	if n < 4 || fresh > 0 && fresh < n {
		return false
	}
	if b.Least {
		flip = 1 << 31
	}
	set, step := number(fresh > 0), max(1, cpu.AtOnce/n)
	for ; rows > 0; rows, first = rows-step, first+step {
		some := min(step, rows)
		offsets := [2]int64{int64(first), int64(first + some)}
		four.Eights(n, func(j, w int) {
			four.RowsBest8(begin(b.Value, j), unsafe.Pointer(&b.Row[j]), begin(x, j), unsafe.Pointer(&offsets), nil, 1, w, b.Stride*floatSize, 0,
				first, first+some, set, flip)
		})
		if set = 0; rows > step {
			x = x[step*b.Stride:]
		}
	}
	return true
}

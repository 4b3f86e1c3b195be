//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

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

// mulAddLessFast is mulAddLess.
func mulAddLessFast(z, x, y []Float, c Float) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		four.SoftmaxSlope(begin(z, lo), begin(y, lo), begin(x, lo), next(len(x), lo), 1, c)
	}
	return true
}

//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// hasZeroFast looks at some whole groups, in calls that do not last long.
func hasZeroFast(x []Float) (has bool, done int) {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		if hasZeroAVX2(&x[lo], min(cpu.AtOnce, len(x)-lo)/zeroGroup) {
			return true, len(x)
		}
	}
	return false, len(x)
}

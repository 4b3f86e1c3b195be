//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (a *Adam) stepFast(w, dw, m, v []Float) bool {
	n := len(w)
	for lo := 0; lo < n; lo += cpu.AtOnce {
		adamAVX2(&w[lo], &dw[lo], &m[lo], &v[lo], min(cpu.AtOnce, n-lo), a)
	}
	return true
}

//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// inParts calls f with ranges of n runs of d elements, none too long for a call.
func inParts(n, d int, f func(lo, n int)) {
	step := max(cpu.AtOnce/d, 1)
	for lo := 0; lo < n; lo += step {
		f(lo, min(step, n-lo))
	}
}

func spreadFast(y, c []Float, d int) bool {
	y = y[:len(c)*d]
	inParts(len(c), d, func(lo, n int) { spreadAVX2(&y[lo*d], &c[lo], n, d) })
	return true
}

func spreadAddFast(y, c []Float, d int) bool {
	y = y[:len(c)*d]
	inParts(len(c), d, func(lo, n int) { spreadAddAVX2(&y[lo*d], &c[lo], n, d) })
	return true
}

func scaleGroupsFast(y, c, x []Float, d int) bool {
	y, x = y[:len(c)*d], x[:len(c)*d]
	inParts(len(c), d, func(lo, n int) { scaleGroupsAVX2(&y[lo*d], &c[lo], &x[lo*d], n, d) })
	return true
}

func axpyGroupsFast(y, c, x []Float, d int) bool {
	y, x = y[:len(c)*d], x[:len(c)*d]
	inParts(len(c), d, func(lo, n int) { axpyGroupsAVX2(&y[lo*d], &c[lo], &x[lo*d], n, d) })
	return true
}

func dotGroupsFast(y, x, z []Float, d int) bool {
	x, z = x[:len(y)*d], z[:len(y)*d]
	inParts(len(y), d, func(lo, n int) { dotGroupsAVX2(&y[lo], &x[lo*d], &z[lo*d], n, d) })
	return true
}

func sumGroupsFast(y, x []Float, d int) bool {
	x = x[:len(y)*d]
	inParts(len(y), d, func(lo, n int) { sumGroupsAVX2(&y[lo], &x[lo*d], n, d) })
	return true
}

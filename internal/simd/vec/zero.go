package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// zeroGroup is how many elements the assembly of [HasZero] compares at once.
const zeroGroup = 32

// HasZero reports whether an element is 0 or −0. It looks no further than a
// group after the first.
func HasZero(x []Float) bool {
	if n := len(x) &^ (zeroGroup - 1); cpu.Fast && n > 0 {
		has, done := hasZeroFast(x[:n])
		if has {
			return true
		}
		x = x[done:]
	}
	for _, v := range x {
		if v == 0 {
			return true
		}
	}
	return false
}

package cpu

import "sync"

// Caches returns the sizes, in bytes, of a core's second cache and of the last one, which
// others share. Where the machine does not say they are those of a common one.
var Caches = sync.OnceValues(func() (second, last int) {
	second, last = caches()
	if second <= 0 {
		second = 1 << 20
	}
	if last <= 0 {
		last = 16 << 20
	}
	return second, max(second, last)
})

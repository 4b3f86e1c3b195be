package sparing

import "testing"

// Allocations returns how often f allocates once all that it borrows is there. That takes some
// calls, since a worker may come late and fill its pools then: few runs are tried again.
func Allocations(f func()) float64 {
	n := testing.AllocsPerRun(2, f)
	for tries := 0; n > 0 && tries < 5; tries++ {
		n = testing.AllocsPerRun(2, f)
	}
	return n
}

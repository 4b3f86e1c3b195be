//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// begin is where the elements of a slice from lo on begin, and next how many of n a call has from there.
func begin(x []Float, lo int) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x[lo:])) }
func next(n, lo int) int                     { return min(cpu.AtOnce, n-lo) }

// constants are those of exponentials.
func constants() unsafe.Pointer { return unsafe.Pointer(&four.Table) }

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

// part is room for steps. Calls of a few elements would take longer than plain Go.
type part [256]Float

const partLeast = 16

func (p *part) at() unsafe.Pointer { return unsafe.Pointer(p) }

// parts calls f with where each part of n elements begins, and how many it has.
func parts(n int, f func(lo, n int)) bool {
	for lo := 0; lo < n; lo += len(part{}) {
		f(lo, min(len(part{}), n-lo))
	}
	return true
}

// columnParts is parts of rows of d elements, in order of the rows, with where a part is in its row.
func columnParts(n, d int, f func(lo, j, n int)) bool {
	for at := 0; d >= partLeast && at < n; at += d {
		parts(d, func(j, n int) { f(at+j, j, n) })
	}
	return d >= partLeast
}

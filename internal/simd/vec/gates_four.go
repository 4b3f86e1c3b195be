//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// room is of four elements, for the last ones of a slice: some kernels take whole fours.
type room [4]Float

func (r *room) at() unsafe.Pointer { return unsafe.Pointer(r) }

// weighInto sets y to x·sigmoid(x·(a + b·x²)).
func weighInto(y, x []Float, a, b Float) {
	n := len(y) &^ 3
	four.Weighed(begin(y, 0), begin(x, 0), constants(), n, a, b)
	if n < len(y) {
		var r room
		copy(r[:], x[n:len(y)])
		four.Weighed(r.at(), r.at(), constants(), len(r), a, b)
		copy(y[n:], r[:])
	}
}

// weighSlope sets dx to dy times the slope of weighInto, or with add adds that. Beyond end it is that at end.
func weighSlope(dx, dy, x []Float, add int, a, b, end Float) {
	n := len(dx) &^ 3
	four.WeighedSlope(begin(dx, 0), begin(dy, 0), begin(x, 0), constants(), n, add, a, b, end)
	if n < len(dx) {
		var to, from, of room
		copy(to[:], dx[n:])
		copy(from[:], dy[n:len(dx)])
		copy(of[:], x[n:len(dx)])
		four.WeighedSlope(to.at(), from.at(), of.at(), constants(), len(to), add, a, b, end)
		copy(dx[n:], to[:])
	}
}

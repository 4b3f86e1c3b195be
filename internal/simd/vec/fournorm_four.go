//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// normPiece is how many elements of a row are taken through all steps while they are near.
const normPiece = 512

// inPieces calls do for pieces of n elements.
func inPieces(n int, do func(lo, hi int)) {
	for lo := 0; lo < n; lo += normPiece {
		do(lo, min(lo+normPiece, n))
	}
}

// pieceOf is a piece of x, or nil of nil.
func pieceOf(x []Float, lo, hi int) []Float {
	if x == nil {
		return nil
	}
	return x[lo:hi]
}

func fourMomentsFast(x []Float, shift Float) (sum, squares float64, done int) {
	var sums [2]float64
	var room [normPiece]Float
	inPieces(len(x), func(lo, hi int) {
		e := room[:hi-lo]
		Shift.forwardFast(e, x[lo:hi], -shift)
		four.WideSums(unsafe.Pointer(&sums), begin(e, 0), begin(e, 0), len(e))
	})
	return sums[0], sums[1], len(x)
}

func normaliseBothFast(y, bias []Float, a, b NormRow) bool {
	var room [normPiece]Float
	inPieces(len(y), func(lo, hi int) {
		v := room[:hi-lo]
		normaliseFast(v, a.X[lo:hi], a.Gain[lo:hi], pieceOf(bias, lo, hi), a.Moments)
		normaliseFast(y[lo:hi], b.X[lo:hi], b.Gain[lo:hi], v, b.Moments)
	})
	return true
}

func fourGradSumsFast(gain, bias, dy []Float, r NormRow) (sum, dot float64, done int) {
	var sums [2]float64
	var room [2][normPiece]Float
	inPieces(len(dy), func(lo, hi int) {
		d, x, g, y := dy[lo:hi], r.X[lo:hi], room[0][:hi-lo], room[1][:hi-lo]
		normaliseSumsFast(gain[lo:hi], pieceOf(bias, lo, hi), x, d, r.Moments)
		Mul.forwardFast(g, d, r.Gain[lo:hi], 1, 1)
		normaliseFast(y, x, nil, nil, r.Moments)
		four.WideSums(unsafe.Pointer(&sums), begin(g, 0), begin(y, 0), len(g))
	})
	return sums[0], sums[1], len(dy)
}

func fourGradFast(dx, dy []Float, r NormRow, of Line, set bool) bool {
	var room [normPiece]Float
	m := r.Moments
	m.Scale = 1
	inPieces(len(dy), func(lo, hi int) {
		g := room[:hi-lo]
		Mul.forwardFast(g, dy[lo:hi], r.Gain[lo:hi], 1, 1)
		normaliseGradFast(g, g, r.X[lo:hi], m, of, true)
		Scale.slope(dx[lo:hi], g, nil, nil, r.Scale, number(!set))
	})
	return true
}

//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package attend

import (
	"github.com/edgewise-ml/edgewise/internal/simd/four"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// logitsFast computes the logits by the functions that tiles compute them with.
func (a *Additive) logitsFast() bool {
	var room [512]Float
	x := room[:]
	if a.Width > len(x) {
		x = make([]Float, a.Width)
	}
	x = x[:a.Width]
	clear(a.Z[:a.rows])
	for r := range a.rows {
		vec.Add.Forward(x, a.K[r*a.KStride:][:a.Width], a.Q[:a.Width], 1, 1)
		vec.Tanh.Forward(x, x, 0)
		vec.Runs(a.Width).Dot(a.Z[r:r+1], x, a.V)
	}
	return true
}

// gradFast takes some columns of a key at a time.
func (a *Additive) gradFast() bool {
	var room [2][256]Float
	for r := range a.rows {
		for lo := 0; lo < a.Width; lo += len(room[0]) {
			n := min(len(room[0]), a.Width-lo)
			t, g := room[0][:n], room[1][:n]
			dk, dq, dv := a.DK[r*a.DKStride+lo:][:n], a.DQ[lo:][:n], a.DV[lo:][:n]
			vec.Add.Forward(t, a.K[r*a.KStride+lo:][:n], a.Q[lo:][:n], 1, 1)
			vec.Tanh.Forward(t, t, 0)
			vec.Scale.Forward(g, a.V[lo:][:n], a.Z[r])
			four.TanhSlope(place(g, 0), place(g, 0), place(t, 0), n, 0)
			vec.Add.Forward(dk, dk, g, 1, 1)
			vec.Add.Forward(dq, dq, g, 1, 1)
			vec.Axpy(dv, a.Z[r], t)
		}
	}
	return true
}

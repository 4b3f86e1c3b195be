//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package attend

import (
	"github.com/edgewise-ml/edgewise/internal/simd/four"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// logitsFast computes tanh of some columns at a time, and adds in the order of plain Go.
func (a *Additive) logitsFast() bool {
	var room [256]Float
	for r := range a.rows {
		k, q, v, sum := a.K[r*a.KStride:][:a.Width], a.Q[:a.Width], a.V[:a.Width], Float(0)
		for len(k) > 0 {
			n := min(len(k), len(room))
			x := room[:n]
			vec.Add.Forward(x, k[:n], q, 1, 1)
			vec.Tanh.Forward(x, x, 0)
			for j, t := range x {
				sum += t * v[j]
			}
			k, q, v = k[n:], q[n:], v[n:]
		}
		a.Z[r] = sum
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

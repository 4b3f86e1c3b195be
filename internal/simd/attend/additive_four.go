//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

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

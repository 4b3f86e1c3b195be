package attend

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// Additive is the additive score of one query against keys that stand one after the
// other, of Width elements each. DK is as K, with a stride of its own: of zero, all keys
// add to one row.
type Additive struct {
	K, Q, V    []Float
	Z          []Float // the logits or, in Grad, their gradients
	DK, DQ, DV []Float

	KStride, DKStride int

	Width, rows int
}

// Logits sets the logits of some keys:
//
//	Z[r] = Σ_j tanh(K[r,j] + Q[j])·V[j]
func (a *Additive) Logits(rows int) {
	if rows <= 0 {
		return
	}
	a.check(rows)
	if cpu.Fast && a.Width > 0 && a.logitsFast() {
		return
	}
	for r := range rows {
		k, q, v, sum := a.K[r*a.KStride:][:a.Width], a.Q[:a.Width], a.V[:a.Width], Float(0)
		for j, x := range k {
			sum += tanh(x+q[j]) * v[j] // fused with the product or not, as in vec.Runs.Dot
		}
		a.Z[r] = sum
	}
}

// Grad adds the gradients of keys, query and V, from those of the logits of some keys. A
// column of them is a sum in the order of the keys, whatever the width:
//
//	t = tanh(K[r,j] + Q[j])    g = Z[r]·V[j]·(1 − t²)    DK[r,j] += g    DQ[j] += g    DV[j] += Z[r]·t
func (a *Additive) Grad(rows int) {
	if rows <= 0 || a.Width == 0 {
		return
	}
	a.check(rows)
	inside(a.DK, rows, a.DKStride, a.Width)
	_, _ = a.DQ[:a.Width], a.DV[:a.Width]
	if cpu.Fast && a.gradFast() {
		return
	}
	for r := range rows {
		k, dk := a.K[r*a.KStride:][:a.Width], a.DK[r*a.DKStride:][:a.Width]
		for j, x := range k {
			t := tanh(x + a.Q[j])
			g := Float(Float(a.Z[r]*a.V[j]) * (1 - Float(t*t)))
			dk[j] += g
			a.DQ[j] += g
			a.DV[j] += Float(a.Z[r] * t)
		}
	}
}

func tanh(x Float) Float { return Float(math.Tanh(float64(x))) }

// check panics if a slice is too short for some keys.
func (a *Additive) check(rows int) {
	inside(a.K, rows, a.KStride, a.Width)
	_, _, _ = a.Q[:a.Width], a.V[:a.Width], a.Z[:rows]
	a.rows = rows
}

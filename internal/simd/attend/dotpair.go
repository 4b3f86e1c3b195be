package attend

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// DotPair are the products of rows of H heads, of Width elements each, with two
// rows, A and B: what the ends of an edge say of its attention. R and L have H
// numbers a row.
type DotPair struct {
	X, A, B  []Float
	L, R     []Float // the products with A and B, or their gradients
	H, Width int
}

// Pairs sets the products of some rows:
//
//	L[r,h] = ⟨X[r,h,:], A[h,:]⟩
//	R[r,h] = ⟨X[r,h,:], B[h,:]⟩
func (e *DotPair) Pairs(rows int) {
	if !e.check(rows) {
		return
	}
	switch {
	case cpu.Fast && e.Width > 8:
		e.pairsWide(rows)
	case !cpu.Fast || !e.pairsFast(rows):
		e.pairsGo(rows)
	}
}

// pairsGo is the truth of Pairs.
func (e *DotPair) pairsGo(rows int) {
	for i := range rows * e.H {
		x, h := e.X[i*e.Width:][:e.Width], i%e.H*e.Width
		e.L[i], e.R[i] = vec.Dot(x, e.A[h:h+e.Width]), vec.Dot(x, e.B[h:h+e.Width])
	}
}

// pairsWide is Pairs by the kernels that know no second row.
func (e *DotPair) pairsWide(rows int) {
	f := e.H * e.Width
	clear(e.L[:rows*e.H])
	clear(e.R[:rows*e.H])
	k := Heads{X: e.X, Y: e.A, W: e.L, XStride: f, WStride: e.H, H: e.H, Width: e.Width}
	k.Pairs(rows)
	k.Y, k.W = e.B, e.R
	k.Pairs(rows)
}

// DotPairGrads are what [DotPair.Grad] adds to: an array like X, and two like A and B.
type DotPairGrads struct{ X, A, B []Float }

// Grad adds the gradients of some rows, from those of L and R:
//
//	dX[r,h,:] = (dX[r,h,:] + R[r,h]·B[h,:]) + L[r,h]·A[h,:]
//	dA[h,:]  += L[r,h]·X[r,h,:]
//	dB[h,:]  += R[r,h]·X[r,h,:]
func (e *DotPair) Grad(to DotPairGrads, rows int) {
	if !e.check(rows) {
		return
	}
	f := e.H * e.Width
	_, _, _ = to.X[:rows*f], to.A[:f], to.B[:f]
	switch {
	case cpu.Fast && e.Width > 8:
		e.gradWide(to, rows)
	case !cpu.Fast || !e.gradFast(to, rows):
		e.gradGo(to, rows)
	}
}

// gradGo is the truth of Grad.
func (e *DotPair) gradGo(to DotPairGrads, rows int) {
	for i := range rows * e.H {
		x, dx, h := e.X[i*e.Width:][:e.Width], to.X[i*e.Width:][:e.Width], i%e.H*e.Width
		vec.Axpy(dx, e.R[i], e.B[h:h+e.Width])
		vec.Axpy(dx, e.L[i], e.A[h:h+e.Width])
		vec.Axpy(to.A[h:h+e.Width], e.L[i], x)
		vec.Axpy(to.B[h:h+e.Width], e.R[i], x)
	}
}

// gradWide is Grad by the kernels that know no second row.
func (e *DotPair) gradWide(to DotPairGrads, rows int) {
	f := e.H * e.Width
	for _, p := range [...]struct{ y, dy, w []Float }{{e.B, to.B, e.R}, {e.A, to.A, e.L}} {
		k := Heads{X: p.y, Y: to.X, W: p.w, YStride: f, WStride: e.H, H: e.H, Width: e.Width}
		k.Spread(rows)
		k.X, k.Y, k.XStride, k.YStride = e.X, p.dy, f, 0
		k.Fold(rows)
	}
}

// check panics if a slice is too short for rows, and reports whether there is
// anything to do.
func (e *DotPair) check(rows int) bool {
	f, n := e.H*e.Width, rows*e.H
	if rows <= 0 || f == 0 {
		return false
	}
	if len(e.X) < rows*f || len(e.A) < f || len(e.B) < f || len(e.L) < n || len(e.R) < n {
		panic(fmt.Sprintf("attend: %d, %d, %d, %d and %d elements are not the ends of %d rows of %d heads of %d", len(e.X), len(e.A), len(e.B), len(e.L), len(e.R), rows, e.H, e.Width))
	}
	return true
}

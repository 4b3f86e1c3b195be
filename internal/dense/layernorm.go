package dense

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// LayerNorm normalises each row of X,
//
//	for i := range rows {
//		mean := Σ_j x[i,j] / D
//		scale := 1/√(Σ_j (x[i,j] − mean)² / D + Eps)
//		y[i,j] = (x[i,j] − mean)·scale·gain[j] + bias[j]
//	}
//
// with sums in float64. Forward sets Mean, Rest and Scale, which Backward reads.
type LayerNorm struct {
	X          []tensor.Float
	D          int            // of the elements of a row
	Gain, Bias []tensor.Float // an element a column; nil: 1 and 0
	Eps        float64

	Mean, Scale []tensor.Float // an element a row
	Rest        []tensor.Float // of a row's mean, what its rounding left
}

// NormGrads are the gradients that a normalisation adds to, nil where not wanted.
type NormGrads struct {
	X, Gain, Bias, Shift []tensor.Float

	SetX bool // X's holds anything, and is set
}

// normGrain is how many elements a thread takes at once: some ten microseconds.
const normGrain = 1 << 13

// grain is how many rows of that length a thread takes at once.
func grain(length int) int { return max(1, normGrain/max(1, length)) }

// rows returns the number of rows.
func (n *LayerNorm) rows() int { return len(n.Mean) }

// row returns row i of an array like X.
func (n *LayerNorm) row(a []tensor.Float, i int) []tensor.Float { return a[i*n.D : i*n.D+n.D] }

// Forward sets y to the normalised rows.
func (n *LayerNorm) Forward(y []tensor.Float) {
	n.eachRange(normPass{to: y}, (*LayerNorm).forwardRows)
}

// Backward adds to the gradients of X, Gain and Bias. With x̂ the normalised row and
// g = dy·gain they are
//
//	dx[i,j] += scale·(g[j] − mean(g) − x̂[j]·mean(g·x̂))
//	dgain[j] += Σ_i dy[i,j]·x̂[i,j]
//	dbias[j] += Σ_i dy[i,j]
func (n *LayerNorm) Backward(to NormGrads, dy []tensor.Float) {
	p := normPass{to: to.X, dy: dy, set: to.SetX}
	if n.rows() > sumRun && (to.Gain != nil || to.Bias != nil) {
		n.affineGrads(to, p) // a run of rows at a time, which is in a cache for both
		return
	}
	if to.X != nil {
		n.eachRange(p, (*LayerNorm).backwardRows)
	}
	n.AffineGrads(to, dy)
}

// normPass is what a pass over the rows writes or adds to, and backward the gradient of
// the result.
type normPass struct {
	to, dy []tensor.Float
	set    bool
}

// eachRange calls f with all rows, a range for each thread.
func (n *LayerNorm) eachRange(p normPass, f func(n *LayerNorm, p normPass, r part)) {
	step := grain(n.D)
	if n.rows() <= step { // without the memory of a closure
		f(n, p, part{0, n.rows()})
		return
	}
	par.For(n.rows(), step, func(lo, hi int) { f(n, p, part{lo, hi}) })
}

// setMean notes the mean of row i.
func (n *LayerNorm) setMean(i int, mean float64) {
	n.Mean[i] = tensor.Float(mean)
	n.Rest[i] = tensor.Float(mean - float64(n.Mean[i]))
}

// inverseRoot is 1/√(variance + eps).
func inverseRoot(variance, eps float64) tensor.Float {
	return tensor.Float(1 / math.Sqrt(variance+eps))
}

// moments are those of row i.
func (n *LayerNorm) moments(i int) vec.Moments {
	return vec.Moments{Mean: n.Mean[i], Rest: n.Rest[i], Scale: n.Scale[i]}
}

// normRows is how many rows are in the first cache while passes go over them. Sums in
// float64 that wait for each other are taken of so many rows at once.
const normRows = 4

func (n *LayerNorm) forwardRows(p normPass, r part) {
	if few(n.rows(), n.D) {
		n.fewForward(p.to, r)
		return
	}
	for ; n.D > 0 && r.lo < r.hi; r.lo += normRows {
		n.forwardSome(p.to, part{r.lo, min(r.lo+normRows, r.hi)})
	}
}

// forwardSome is forward of at most normRows rows.
func (n *LayerNorm) forwardSome(y []tensor.Float, r part) {
	n.setMoments(r)
	for i := r.lo; i < r.hi; i++ {
		vec.Normalise(n.row(y, i), n.row(n.X, i), n.Gain, n.Bias, n.moments(i))
	}
}

// setMoments sets Mean, Rest and Scale of at most normRows rows.
func (n *LayerNorm) setMoments(r part) {
	for i := r.lo; i < r.hi; i++ {
		n.setMean(i, vec.Sum64(n.row(n.X, i))/float64(n.D))
	}
	var squares [normRows]float64
	n.offsets(r).Squares(squares[:r.hi-r.lo])
	for i := r.lo; i < r.hi; i++ {
		n.Scale[i] = inverseRoot(squares[i-r.lo]/float64(n.D), n.Eps)
	}
}

// offsets are rows of X without their means.
func (n *LayerNorm) offsets(r part) vec.OffsetRows {
	return vec.OffsetRows{X: n.some(n.X, r), Mean: n.Mean[r.lo:r.hi], Rest: n.Rest[r.lo:r.hi]}
}

// some returns rows of an array like X.
func (n *LayerNorm) some(a []tensor.Float, r part) []tensor.Float { return a[r.lo*n.D : r.hi*n.D] }

func (n *LayerNorm) backwardRows(p normPass, r part) {
	if n.D == 0 {
		return
	}
	if few(n.rows(), n.D) {
		n.fewBackward(p, r)
		return
	}
	buf := scratch.Borrow(normRows * n.D)
	for ; r.lo < r.hi; r.lo += normRows {
		n.backwardSome(p, part{r.lo, min(r.lo+normRows, r.hi)}, *buf)
	}
	scratch.Repay(buf)
}

// backwardSome is backward of at most normRows rows; buf is room for them.
func (n *LayerNorm) backwardSome(p normPass, r part, buf []tensor.Float) {
	var dots [normRows]float64
	x, g := n.offsets(r), n.some(p.dy, r)
	to := buf[:len(g)]
	x.Dots(dots[:r.hi-r.lo], to, g, n.Gain)
	if n.Gain != nil {
		g = to
	}
	for i := range r.hi - r.lo {
		m, g := n.moments(r.lo+i), n.row(g, i)
		scale := float64(m.Scale)
		mean, dot := vec.Sum64(g)/float64(n.D), dots[i]*scale/float64(n.D)
		of := vec.Line{Slope: tensor.Float(-scale * scale * dot), At0: tensor.Float(-scale * mean)}
		vec.NormaliseGrad(n.row(p.to, r.lo+i), g, n.row(x.X, i), m, of, p.set)
	}
}

// AffineGrads adds the gradients of Gain and Bias.
func (n *LayerNorm) AffineGrads(to NormGrads, dy []tensor.Float) {
	switch {
	case to.Gain == nil && to.Bias == nil:
		return
	case few(n.rows(), n.D):
		n.fewAffineGrads(to, dy)
		return
	}
	n.affineGrads(to, normPass{dy: dy})
}

// affineGrads is AffineGrads and, unless p has no place for it, that of X.
func (n *LayerNorm) affineGrads(to NormGrads, p normPass) {
	of := affineRows
	if to.Bias == nil {
		of = gainRows
	}
	w := columnSums{of: of, layer: n, pass: p, d: n.D, rows: part{0, n.rows()}}
	if n.rows() <= sumRun {
		w.run(w.rows, func(sum []tensor.Float) {
			addRow(to.Gain, sum[:n.D])
			addRow(to.Bias, sum[n.D:])
		})
		return
	}
	withSums(w.width(), func(sums []float64) {
		w.into(sums)
		addSums(to.Gain, sums[:n.D])
		addSums(to.Bias, sums[n.D:])
	})
}

// addRow adds a row to d, unless d is nil.
func addRow(d, row []tensor.Float) {
	if d != nil {
		addTo(d, row)
	}
}

// addSums adds sums to d, unless d is nil.
func addSums(d []tensor.Float, sums []float64) {
	for j, s := range sums {
		add(d, j, s)
	}
}

// gainOf is the factor of column j as a float64, 1 where there are none.
func gainOf(gain []tensor.Float, j int) float64 {
	if gain == nil {
		return 1
	}
	return float64(gain[j])
}

// biasOf is the bias of column j, 0 where there is none.
func biasOf(bias []tensor.Float, j int) tensor.Float {
	if bias == nil {
		return 0
	}
	return bias[j]
}

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
type NormGrads struct{ X, Gain, Bias, Shift []tensor.Float }

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
	if few(n.rows(), n.D) {
		n.fewForward(y)
		return
	}
	n.eachRow(layerPass{to: y}, (*LayerNorm).forward)
}

// Backward adds to the gradients of X, Gain and Bias. With x̂ the normalised row and
// g = dy·gain they are
//
//	dx[i,j] += scale·(g[j] − mean(g) − x̂[j]·mean(g·x̂))
//	dgain[j] += Σ_i dy[i,j]·x̂[i,j]
//	dbias[j] += Σ_i dy[i,j]
func (n *LayerNorm) Backward(to NormGrads, dy []tensor.Float) {
	if few(n.rows(), n.D) {
		n.fewBackward(&to, dy)
		return
	}
	if to.X != nil {
		n.eachRow(layerPass{to: to.X, dy: dy}, (*LayerNorm).backward)
	}
	n.affineGrads(&to, dy)
}

// layerPass is what a pass over the rows writes or adds to, and backward the gradient of
// the result.
type layerPass struct{ to, dy []tensor.Float }

// eachRow calls f with every row, and with scratch of two.
func (n *LayerNorm) eachRow(p layerPass, f func(n *LayerNorm, p layerPass, i int, buf []tensor.Float)) {
	step := grain(n.D)
	if n.rows() <= step { // without the memory of a closure
		n.rowRange(p, part{0, n.rows()}, f)
		return
	}
	par.For(n.rows(), step, func(lo, hi int) { n.rowRange(p, part{lo, hi}, f) })
}

func (n *LayerNorm) rowRange(p layerPass, r part, f func(n *LayerNorm, p layerPass, i int, buf []tensor.Float)) {
	if n.D == 0 {
		return
	}
	buf := scratch.Borrow(2 * n.D)
	for i := r.lo; i < r.hi; i++ {
		f(n, p, i, *buf)
	}
	scratch.Repay(buf)
}

// forward normalises row i.
func (n *LayerNorm) forward(p layerPass, i int, _ []tensor.Float) {
	y, x := n.row(p.to, i), n.row(n.X, i)
	n.setMean(i, vec.Sum64(x)/float64(n.D))
	n.centred(y, i)
	n.Scale[i] = inverseRoot(Dot64(y, y)/float64(n.D), n.Eps)
	vec.Scale.Forward(y, y, n.Scale[i])
	if n.Gain != nil {
		vec.Mul.Forward(y, y, n.Gain, 1, 1)
	}
	if n.Bias != nil {
		vec.Add.Forward(y, y, n.Bias, 1, 1)
	}
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

// centred sets c to row i of X minus its mean. That of large numbers that differ
// little is taken off in two steps, for what float32 cannot hold.
func (n *LayerNorm) centred(c []tensor.Float, i int) {
	vec.Shift.Forward(c, n.row(n.X, i), -n.Mean[i])
	if n.Rest[i] != 0 {
		vec.Shift.Forward(c, c, -n.Rest[i])
	}
}

// backward adds the gradient of row i of X.
func (n *LayerNorm) backward(p layerPass, i int, buf []tensor.Float) {
	g, xh := n.row(p.dy, i), buf[:n.D]
	if n.Gain != nil {
		vec.Mul.Forward(buf[n.D:], g, n.Gain, 1, 1)
		g = buf[n.D:]
	}
	n.centred(xh, i)
	scale := float64(n.Scale[i])
	mean, dot := vec.Sum64(g)/float64(n.D), Dot64(g, xh)*scale/float64(n.D)
	vec.Scale.Forward(xh, xh, tensor.Float(-scale*scale*dot))
	vec.Shift.Forward(xh, xh, tensor.Float(-scale*mean))
	vec.Axpy(xh, tensor.Float(scale), g)
	addTo(n.row(p.to, i), xh)
}

// affineGrads adds the gradients of Gain and Bias.
func (n *LayerNorm) affineGrads(to *NormGrads, dy []tensor.Float) {
	if to.Gain == nil && to.Bias == nil {
		return
	}
	w := columnSums{of: affineRows, layer: n, x: n.X, dy: dy, d: n.D, rows: part{0, n.rows()}}
	if n.rows() <= sumRun {
		w.run(w.rows, func(sum []tensor.Float) {
			addRow(to.Gain, sum[:n.D])
			addRow(to.Bias, sum[n.D:])
		})
		return
	}
	withSums(2*n.D, func(sums []float64) {
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

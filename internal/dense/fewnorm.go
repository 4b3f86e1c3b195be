package dense

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// fewWidth is up to which width rows are normalised element by element, if they are
// few: calls of kernels for each row and their scratch would cost more than the
// elements do. Tests set it.
var fewWidth = 16

// few reports whether rows of d elements are few and narrow. Up to sumRun of them may be
// added in float32.
func few(rows, d int) bool { return d <= fewWidth && rows <= sumRun }

// offset is element at of X, which is in row i, without the mean of the row.
func (n *LayerNorm) offset(i, at int) tensor.Float { return n.X[at] - n.Mean[i] - n.Rest[i] }

// fewForward writes some rows, to the bits of forwardSome: the products are rounded by
// themselves, where a processor could fuse them with what is added.
func (n *LayerNorm) fewForward(y []tensor.Float, r part) {
	for i := r.lo; i < r.hi; i++ {
		lo, hi := i*n.D, i*n.D+n.D
		n.setMean(i, vec.Sum64(n.X[lo:hi])/float64(n.D))
		for at := lo; at < hi; at++ {
			y[at] = n.offset(i, at)
		}
		n.Scale[i] = inverseRoot(Dot64(y[lo:hi], y[lo:hi])/float64(n.D), n.Eps)
		for at := lo; at < hi; at++ {
			y[at] = tensor.Float(y[at]*n.Scale[i]*tensor.Float(gainOf(n.Gain, at-lo))) + biasOf(n.Bias, at-lo)
		}
	}
}

// fewBackward adds to the gradient of X in some rows; see Backward.
func (n *LayerNorm) fewBackward(p normPass, r part) {
	for i := r.lo; i < r.hi; i++ {
		lo, scale := i*n.D, float64(n.Scale[i])
		mean, dot := 0.0, 0.0
		for j := range n.D {
			g := float64(p.dy[lo+j]) * gainOf(n.Gain, j)
			mean += g / float64(n.D)
			dot += g * (float64(n.offset(i, lo+j)) * scale) / float64(n.D)
		}
		if p.set {
			clear(n.row(p.to, i))
		}
		for j := range n.D {
			xh, g := float64(n.offset(i, lo+j))*scale, float64(p.dy[lo+j])*gainOf(n.Gain, j)
			add(p.to, lo+j, scale*(g-mean-xh*dot))
		}
	}
}

// fewAffineGrads adds the gradients of Gain and Bias, a row at a time.
func (n *LayerNorm) fewAffineGrads(to NormGrads, dy []tensor.Float) {
	for i := range n.rows() {
		lo, scale := i*n.D, float64(n.Scale[i])
		for j := range n.D {
			g := float64(dy[lo+j])
			add(to.Gain, j, g*(float64(n.offset(i, lo+j))*scale))
			add(to.Bias, j, g)
		}
	}
}

// eachColumn calls f with every column of a range that has rows.
func (n *ColumnNorm) eachColumn(f func(at column, rows part)) {
	for k := range n.ranges() {
		if p := n.span(k); p.lo < p.hi {
			for j := range n.D {
				f(column{k, j}, p)
			}
		}
	}
}

// fewForward writes all columns, with products that are rounded as in fewForward of
// LayerNorm.
func (n *ColumnNorm) fewForward(y []tensor.Float) {
	n.eachColumn(func(at column, rows part) {
		c, scale := n.fewMoments(at, rows)
		scale *= tensor.Float(gainOf(n.Gain, at.j))
		for i := rows.lo; i < rows.hi; i++ {
			y[i*n.D+at.j] = tensor.Float((n.X[i*n.D+at.j]-c)*scale) + biasOf(n.Bias, at.j)
		}
	})
}

// fewMoments works out the mean, the centre and the scale of a column, and returns
// the last two.
func (n *ColumnNorm) fewMoments(at column, rows part) (centre, scale tensor.Float) {
	x, k, count := n.X, at.k*n.D+at.j, float64(rows.hi-rows.lo)
	if !n.Fixed {
		sum := 0.0
		for i := rows.lo; i < rows.hi; i++ {
			sum += float64(x[i*n.D+at.j])
		}
		n.Mean[k] = tensor.Float(sum / count)
	}
	centre = n.Mean[k]
	if n.Shift != nil {
		centre *= n.Shift[at.j]
		n.Shifted[k] = centre
	}
	if !n.Fixed {
		squares := 0.0
		for i := rows.lo; i < rows.hi; i++ {
			o := float64(x[i*n.D+at.j] - centre)
			squares += o * o
		}
		n.Scale[k] = inverseRoot(squares/count, n.Eps)
	}
	return centre, n.Scale[k]
}

// fewBackward adds all gradients; see Backward.
func (n *ColumnNorm) fewBackward(to *NormGrads, dy []tensor.Float) {
	n.eachColumn(func(at column, rows part) {
		centre, dyo, sum := n.centre(at.k)[at.j], 0.0, 0.0
		for i := rows.lo; i < rows.hi; i++ {
			g := float64(dy[i*n.D+at.j])
			dyo += g * float64(n.X[i*n.D+at.j]-centre)
			sum += g
		}
		b, c := n.columnGrad(to, at, dyo, sum)
		if to.X == nil {
			return
		}
		a := float64(n.of(n.Scale, at.k)[at.j]) * gainOf(n.Gain, at.j)
		for i := rows.lo; i < rows.hi; i++ {
			add(to.X, i*n.D+at.j, a*float64(dy[i*n.D+at.j])+b*float64(n.X[i*n.D+at.j]-centre)+c)
		}
	})
}

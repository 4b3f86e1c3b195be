package grad

import (
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// normFew is up to which width rows are normalised element by element, if they are
// few: calls of kernels for each row and their scratch would cost more than the
// elements do. Tests set it.
var normFew = 16

// few reports whether n is one of few and narrow rows. Up to sumRun of them may be
// added in float32.
func (n *norm) few() bool { return n.d <= normFew && n.rows <= sumRun }

// biases is the bias of column j.
func (n *norm) biases(j int) tensor.Float {
	if n.bias == nil {
		return 0
	}
	return n.bias.val.Data[j]
}

// offset is element at of x, which is in row i, without the mean of the row.
func (n *norm) offset(i, at int) tensor.Float { return n.x.val.Data[at] - n.mean[i] - n.rest[i] }

// fewRows writes all rows of a layer norm, to the bits of row: the products are
// rounded by themselves, where a processor could fuse them with what is added.
func (n *norm) fewRows(y []tensor.Float) {
	for i := range n.rows {
		lo, hi := i*n.d, i*n.d+n.d
		n.setMean(i, simd.Sum64(n.x.val.Data[lo:hi])/float64(n.d))
		for at := lo; at < hi; at++ {
			y[at] = n.offset(i, at)
		}
		n.scale[i] = n.scaleOf(dot64(y[lo:hi], y[lo:hi]) / float64(n.d))
		for at := lo; at < hi; at++ {
			y[at] = tensor.Float(y[at]*n.scale[i]*tensor.Float(n.gains(at-lo))) + n.biases(at-lo)
		}
	}
}

// pullFewRows adds all gradients of a layer norm; see pullRow.
func (n *norm) pullFewRows(dy []tensor.Float) {
	dx, dg, db := n.x.Grad(), gradOf(n.gain), gradOf(n.bias)
	for i := range n.rows {
		lo, scale := i*n.d, float64(n.scale[i])
		mean, dot := 0.0, 0.0
		for j := range n.d {
			xh, g := float64(n.offset(i, lo+j))*scale, float64(dy[lo+j])
			add(dg, j, g*xh)
			add(db, j, g)
			g *= n.gains(j)
			mean += g / float64(n.d)
			dot += g * xh / float64(n.d)
		}
		if dx == nil {
			continue
		}
		for j := range n.d {
			xh, g := float64(n.offset(i, lo+j))*scale, float64(dy[lo+j])*n.gains(j)
			add(dx, lo+j, scale*(g-mean-xh*dot))
		}
	}
}

// fewColumns calls f with every column of a range that has rows.
func (n *columnNorm) fewColumns(f func(at column, rows part)) {
	for k := range len(n.offsets) - 1 {
		if p := n.span(k); p.lo < p.hi {
			for j := range n.d {
				f(column{k, j}, p)
			}
		}
	}
}

// fewForward writes all columns, with products that are rounded as in fewRows.
func (n *columnNorm) fewForward(y []tensor.Float) {
	n.fewColumns(func(at column, rows part) {
		c, scale := n.fewMoments(at, rows)
		scale *= tensor.Float(n.gains(at.j))
		for i := rows.lo; i < rows.hi; i++ {
			y[i*n.d+at.j] = tensor.Float((n.x.val.Data[i*n.d+at.j]-c)*scale) + n.biases(at.j)
		}
	})
}

// fewMoments works out the mean, the centre and the scale of a column, and returns
// the last two.
func (n *columnNorm) fewMoments(at column, rows part) (centre, scale tensor.Float) {
	x, k, count := n.x.val.Data, at.k*n.d+at.j, float64(rows.hi-rows.lo)
	if !n.fixed {
		sum := 0.0
		for i := rows.lo; i < rows.hi; i++ {
			sum += float64(x[i*n.d+at.j])
		}
		n.mean[k] = tensor.Float(sum / count)
	}
	centre = n.mean[k]
	if n.shift != nil {
		centre *= n.shift.val.Data[at.j]
		n.shifted[k] = centre
	}
	if !n.fixed {
		squares := 0.0
		for i := rows.lo; i < rows.hi; i++ {
			o := float64(x[i*n.d+at.j] - centre)
			squares += o * o
		}
		n.scale[k] = n.scaleOf(squares / count)
	}
	return centre, n.scale[k]
}

// fewBackward adds all gradients; see backward.
func (n *columnNorm) fewBackward(dy []tensor.Float) {
	into, dx, x := n.grads(), n.x.Grad(), n.x.val.Data
	n.fewColumns(func(at column, rows part) {
		centre, dyo, sum := n.centre(at.k)[at.j], 0.0, 0.0
		for i := rows.lo; i < rows.hi; i++ {
			g := float64(dy[i*n.d+at.j])
			dyo += g * float64(x[i*n.d+at.j]-centre)
			sum += g
		}
		b, c := n.pullColumn(&into, at, dyo, sum)
		if dx == nil {
			return
		}
		a := float64(n.of(n.scale, at.k)[at.j]) * n.gains(at.j)
		for i := rows.lo; i < rows.hi; i++ {
			add(dx, i*n.d+at.j, a*float64(dy[i*n.d+at.j])+b*float64(x[i*n.d+at.j]-centre)+c)
		}
	})
}

package grad

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// columnNorm normalises each column over ranges of rows:
//
//	o = x − shift·mean,   y = o/√(mean(o²) + eps)·gain + bias
type columnNorm struct {
	norm
	shift   *Var           // of each column; nil means 1
	offsets []int          // of the ranges
	fixed   bool           // mean and scale are given
	shifted []tensor.Float // shift·mean of each range, if there is a shift
}

// checkOffsets panics unless offsets cut n rows into ranges.
func checkOffsets(op string, n int, offsets []int) {
	ok := len(offsets) > 0 && offsets[0] == 0 && offsets[len(offsets)-1] == n
	if !ok || !slices.IsSorted(offsets) {
		panic(&tensor.ShapeError{Op: "grad." + op, Shapes: [][]int{{n}, slices.Clone(offsets)}, Why: fmt.Sprintf("the offsets must rise from 0 to the number of rows, %d", n)})
	}
}

// GraphNorm normalises each column over each graph of a batch; rows offsets[i] to
// offsets[i+1] are graph i. A learnt part of the mean is taken off:
//
//	o = x − shift·mean,   y = o/√(mean(o²) + eps)·gain + bias
//
// Nil stands for a shift and gain of 1 and a bias of 0. Cai et al. 2021,
// "GraphNorm: A Principled Approach to Accelerating Graph Neural Network
// Training".
func (x *Var) GraphNorm(offsets []int, c Affine, eps float64) *Var {
	n := columnNorm{norm: norm{x: x, gain: c.Gain, bias: c.Bias, eps: eps}, shift: c.Shift, offsets: offsets}
	return n.apply("GraphNorm")
}

// Affine holds what a normalisation learns for each column; what is nil is left
// out.
type Affine struct {
	Gain, Bias *Var
	Shift      *Var // how much of the mean is taken off
}

func (n *columnNorm) apply(name string) *Var {
	n.extra = n.shift
	op := n.begin(name)
	checkOffsets(name, n.rows, n.offsets)
	y := op.newLike(n.x)
	size := (len(n.offsets) - 1) * n.d
	if !n.fixed {
		n.mean, n.scale = op.Floats(size), op.Floats(size)
	}
	if n.shift != nil {
		n.shifted = op.Floats(size)
	}
	if !op.Dry(0) {
		n.eachRange(func(k int) { n.forward(y.val.Data, k) })
	}
	return op.Record(y, func(dy *tensor.Dense) { n.backward(dy.Data) })
}

// eachRange calls f with every range that has rows, on several threads; of one
// range what f does is shared out instead.
func (n *columnNorm) eachRange(f func(k int)) {
	ranges := len(n.offsets) - 1
	par.For(ranges, n.grain(n.rows*n.d/max(1, ranges)), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			if n.offsets[k] < n.offsets[k+1] && n.d > 0 {
				f(k)
			}
		}
	})
}

// span returns the rows of range k.
func (n *columnNorm) span(k int) part { return part{n.offsets[k], n.offsets[k+1]} }

// of returns what belongs to range k in an array of a row a range.
func (n *columnNorm) of(a []tensor.Float, k int) []tensor.Float { return a[k*n.d : k*n.d+n.d] }

// centre returns shift·mean of range k.
func (n *columnNorm) centre(k int) []tensor.Float {
	if n.shift != nil {
		return n.of(n.shifted, k)
	}
	return n.of(n.mean, k)
}

func (n *columnNorm) shifts(j int) float64 {
	if n.shift == nil {
		return 1
	}
	return float64(n.shift.val.Data[j])
}

// forward normalises range k.
func (n *columnNorm) forward(y []tensor.Float, k int) {
	n.moments(k)
	centre := n.centre(k)
	n.rowsOf(k, func(lo, hi int, buf []tensor.Float) {
		simd.Scale.Forward(buf[:n.d], n.of(n.scale, k), 1)
		if n.gain != nil {
			simd.Mul.Forward(buf[:n.d], buf[:n.d], n.gain.val.Data, 1, 1)
		}
		for i := lo; i < hi; i++ {
			to := n.of(y, i)
			simd.Sub.Forward(to, n.of(n.x.val.Data, i), centre, 1, 1)
			simd.Mul.Forward(to, to, buf[:n.d], 1, 1)
			if n.bias != nil {
				simd.Add.Forward(to, to, n.bias.val.Data, 1, 1)
			}
		}
	})
}

// rowsOf calls f with ranges of the rows of range k and scratch of four rows.
func (n *columnNorm) rowsOf(k int, f func(lo, hi int, buf []tensor.Float)) {
	rows := n.span(k)
	par.For(rows.hi-rows.lo, n.grain(n.d), func(lo, hi int) {
		p := scratchRows.Get().(*[]tensor.Float)
		*p = slices.Grow((*p)[:0], 4*n.d)[:4*n.d]
		f(rows.lo+lo, rows.lo+hi, *p)
		scratchRows.Put(p)
	})
}

// moments works out the mean, the centre and the scale of each column of range k.
func (n *columnNorm) moments(k int) {
	rows := n.span(k)
	count := float64(rows.hi - rows.lo)
	withSums(n.d, func(sums []float64) {
		w := columnSum{n: &n.norm, c: n, k: k, row: (*columnSum).valueRow, rows: rows, width: n.d}
		if !n.fixed {
			sumRows(w, sums)
			for j, s := range sums {
				n.of(n.mean, k)[j] = tensor.Float(s / count)
			}
		}
		if n.shift != nil {
			simd.Mul.Forward(n.of(n.shifted, k), n.of(n.mean, k), n.shift.val.Data, 1, 1)
		}
		if n.fixed {
			return
		}
		w.row = (*columnSum).squareRow
		sumRows(w, sums)
		for j, s := range sums {
			n.of(n.scale, k)[j] = tensor.Float(1 / math.Sqrt(s/count+n.eps))
		}
	})
}

// columnGrads are the gradients of the operands, nil where not wanted.
type columnGrads struct{ dx, gain, bias, shift *tensor.Dense }

// backward adds the gradients. With x̂ = o·scale and m the mean over a range,
//
//	do = gain·scale·(dy − x̂·m(dy·x̂)),   dx = do − shift·m(do),   dshift = −mean·Σdo
//
// and m(x̂) = scale·(1 − shift)·mean. Fixed means and scales give dx = gain·scale·dy.
func (n *columnNorm) backward(dy []tensor.Float) {
	into := columnGrads{n.x.Grad(), gradOf(n.gain), gradOf(n.bias), gradOf(n.shift)}
	withSums((len(n.offsets)-1)*2*n.d, func(sums []float64) {
		of := func(k int) []float64 { return sums[k*2*n.d : (k+1)*2*n.d] }
		n.eachRange(func(k int) {
			w := columnSum{n: &n.norm, c: n, k: k, dy: dy, row: (*columnSum).offsetRow, rows: n.span(k), width: 2 * n.d}
			sumRows(w, of(k))
		})
		for k := range len(n.offsets) - 1 { // in order: all ranges add to the same
			if n.offsets[k] < n.offsets[k+1] {
				n.pullAffine(&into, k, of(k))
			}
		}
		if into.dx != nil {
			n.eachRange(func(k int) { n.pull(into.dx.Data, dy, k, of(k)) })
		}
	})
}

// pullAffine adds what range k gives to the gradients of gain, bias and shift. Of
// Σdy·o and Σdy in sums it makes b and c, for which dx = gain·scale·dy + b·o + c.
func (n *columnNorm) pullAffine(into *columnGrads, k int, sums []float64) {
	rows := float64(n.offsets[k+1] - n.offsets[k])
	for j := range n.d {
		mean, scale := float64(n.of(n.mean, k)[j]), float64(n.of(n.scale, k)[j])
		dyx, dy := sums[j]*scale, sums[n.d+j]
		add(into.gain, j, dyx)
		add(into.bias, j, dy)
		if n.fixed {
			sums[j], sums[n.d+j] = 0, 0
			continue
		}
		f := scale * n.gains(j)
		mdo := f * (dy - scale*(1-n.shifts(j))*mean*dyx) / rows
		add(into.shift, j, -mean*mdo*rows)
		sums[j], sums[n.d+j] = -f*scale*dyx/rows, -n.shifts(j)*mdo
	}
}

// add adds v to element j of d, unless d is nil.
func add(d *tensor.Dense, j int, v float64) {
	if d != nil {
		d.Data[j] += tensor.Float(v)
	}
}

// pull adds the gradient of x in range k.
func (n *columnNorm) pull(dx, dy []tensor.Float, k int, bc []float64) {
	centre := n.centre(k)
	n.rowsOf(k, func(lo, hi int, buf []tensor.Float) {
		a, b, c, o := buf[:n.d], buf[n.d:2*n.d], buf[2*n.d:3*n.d], buf[3*n.d:]
		for j := range n.d {
			a[j] = tensor.Float(float64(n.of(n.scale, k)[j]) * n.gains(j))
			b[j], c[j] = tensor.Float(bc[j]), tensor.Float(bc[n.d+j])
		}
		for i := lo; i < hi; i++ {
			to := n.of(dx, i)
			simd.Sub.Forward(o, n.of(n.x.val.Data, i), centre, 1, 1)
			simd.Mul.Forward(o, o, b, 1, 1)
			simd.Add.Forward(o, o, c, 1, 1)
			addTo(to, o)
			simd.Mul.Forward(o, n.of(dy, i), a, 1, 1)
			addTo(to, o)
		}
	})
}

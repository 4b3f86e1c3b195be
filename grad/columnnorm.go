package grad

import (
	"fmt"
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
	one     bool           // all rows are one range
	all     [2]int         // the offsets of that
	pass    columnPass
}

// columnPass is what a pass over the ranges works on: y, or dy and dx, which is
// nil if not wanted.
type columnPass struct {
	y, dy, dx []tensor.Float
	sums      []float64 // 2·d of each range
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
	y, _ := n.apply("GraphNorm")
	return y
}

// Affine holds what a normalisation learns for each column; what is nil is left
// out.
type Affine struct {
	Gain, Bias *Var
	Shift      *Var // how much of the mean is taken off
}

// apply records what of says, and returns it with what its pass left.
func (of columnNorm) apply(name string) (*Var, *columnNorm) {
	of.extra = of.shift
	op := of.begin(name)
	n := Notes[columnNorm](op)
	*n = of
	if n.one {
		n.all[1] = n.rows
		n.offsets = n.all[:]
	}
	checkOffsets(name, n.rows, n.offsets)
	y := op.freshLike(n.x)
	size := (len(n.offsets) - 1) * n.d
	if !n.fixed {
		room := op.FreshFloats(2 * size)
		n.mean, n.scale = room[:size], room[size:]
	}
	if n.shift != nil {
		n.shifted = op.FreshFloats(size)
	}
	switch {
	case op.Dry(0):
	case n.few():
		n.fewForward(y.val.Data)
	default:
		n.pass = columnPass{y: y.val.Data}
		n.eachRange((*columnNorm).forward)
	}
	return op.RecordBy(y, n), n
}

// Pull adds to the gradients of x, gain, bias and shift.
func (n *columnNorm) Pull(dy *tensor.Dense) {
	if n.few() {
		n.fewBackward(dy.Data)
		return
	}
	n.pass = columnPass{dy: dy.Data}
	n.backward()
}

// eachRange calls f with every range that has rows, on several threads; of one
// range what f does is shared out instead.
func (n *columnNorm) eachRange(f func(n *columnNorm, k int)) {
	ranges := len(n.offsets) - 1
	grain := n.grain(n.rows * n.d / max(1, ranges))
	if ranges <= grain { // without the memory of a closure
		n.ranges(f, part{0, ranges})
		return
	}
	par.For(ranges, grain, func(lo, hi int) { n.ranges(f, part{lo, hi}) })
}

func (n *columnNorm) ranges(f func(n *columnNorm, k int), p part) {
	for k := p.lo; k < p.hi; k++ {
		if n.offsets[k] < n.offsets[k+1] && n.d > 0 {
			f(n, k)
		}
	}
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
func (n *columnNorm) forward(k int) {
	n.moments(k)
	n.rowsOf(k, (*columnNorm).write)
}

// write normalises rows p of range k.
func (n *columnNorm) write(k int, p part, buf []tensor.Float) {
	centre, scale := n.centre(k), buf[:n.d]
	copy(scale, n.of(n.scale, k))
	if n.gain != nil {
		simd.Mul.Forward(scale, scale, n.gain.val.Data, 1, 1)
	}
	for i := p.lo; i < p.hi; i++ {
		to := n.of(n.pass.y, i)
		simd.Sub.Forward(to, n.of(n.x.val.Data, i), centre, 1, 1)
		simd.Mul.Forward(to, to, scale, 1, 1)
		if n.bias != nil {
			simd.Add.Forward(to, to, n.bias.val.Data, 1, 1)
		}
	}
}

// rowsOf calls f with parts of the rows of range k and scratch of four rows.
func (n *columnNorm) rowsOf(k int, f func(n *columnNorm, k int, p part, buf []tensor.Float)) {
	rows, grain := n.span(k), n.grain(n.d)
	if rows.hi-rows.lo <= grain { // without the memory of a closure
		n.rowPart(k, f, rows)
		return
	}
	par.For(rows.hi-rows.lo, grain, func(lo, hi int) { n.rowPart(k, f, part{rows.lo + lo, rows.lo + hi}) })
}

func (n *columnNorm) rowPart(k int, f func(n *columnNorm, k int, p part, buf []tensor.Float), p part) {
	buf := borrowRows(4 * n.d)
	f(n, k, p, *buf)
	scratchRows.Put(buf)
}

// moments works out the mean, the centre and the scale of each column of range k.
func (n *columnNorm) moments(k int) {
	rows := n.span(k)
	count := float64(rows.hi - rows.lo)
	withSums(n.d, func(sums []float64) {
		w := columnSum{n: &n.norm, c: n, k: k, kind: valueRows, rows: rows, width: n.d}
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
		w.kind = squareRows
		sumRows(w, sums)
		for j, s := range sums {
			n.of(n.scale, k)[j] = n.scaleOf(s / count)
		}
	})
}

// columnGrads are the gradients of the operands, nil where not wanted.
type columnGrads struct{ gain, bias, shift *tensor.Dense }

func (n *columnNorm) grads() columnGrads {
	return columnGrads{gradOf(n.gain), gradOf(n.bias), gradOf(n.shift)}
}

// backward adds the gradients. With x̂ = o·scale and m the mean over a range,
//
//	do = gain·scale·(dy − x̂·m(dy·x̂)),   dx = do − shift·m(do),   dshift = −mean·Σdo
//
// and m(x̂) = scale·(1 − shift)·mean. Fixed means and scales give dx = gain·scale·dy.
func (n *columnNorm) backward() {
	into := n.grads()
	if dx := n.x.Grad(); dx != nil {
		n.pass.dx = dx.Data
	}
	withSums((len(n.offsets)-1)*2*n.d, func(sums []float64) {
		n.pass.sums = sums
		n.eachRange((*columnNorm).sum)
		for k := range len(n.offsets) - 1 { // in order: all ranges add to the same
			if n.offsets[k] < n.offsets[k+1] {
				n.pullAffine(&into, k)
			}
		}
		if n.pass.dx != nil {
			n.eachRange((*columnNorm).pull)
		}
	})
	n.pass = columnPass{}
}

// sums returns those of range k.
func (n *columnNorm) sums(k int) []float64 { return n.pass.sums[k*2*n.d : (k+1)*2*n.d] }

// sum adds up what the gradients of range k need.
func (n *columnNorm) sum(k int) {
	w := columnSum{n: &n.norm, c: n, k: k, dy: n.pass.dy, kind: offsetRows, rows: n.span(k), width: 2 * n.d}
	sumRows(w, n.sums(k))
}

// pullAffine adds what range k gives to the gradients of gain, bias and shift, and
// makes of Σdy·o and Σdy in sums the b and c of its columns.
func (n *columnNorm) pullAffine(into *columnGrads, k int) {
	sums := n.sums(k)
	for j := range n.d {
		sums[j], sums[n.d+j] = n.pullColumn(into, column{k, j}, sums[j], sums[n.d+j])
	}
}

// column is column j of range k.
type column struct{ k, j int }

// pullColumn adds what a column gives to the gradients of gain, bias and shift, from
// Σdy·o and Σdy, and returns b and c for which dx = gain·scale·dy + b·o + c.
func (n *columnNorm) pullColumn(into *columnGrads, at column, dyo, dy float64) (b, c float64) {
	j, p := at.j, n.span(at.k)
	rows := float64(p.hi - p.lo)
	mean, scale := float64(n.of(n.mean, at.k)[j]), float64(n.of(n.scale, at.k)[j])
	dyx := dyo * scale
	add(into.gain, j, dyx)
	add(into.bias, j, dy)
	if n.fixed {
		return 0, 0
	}
	f := scale * n.gains(j)
	mdo := f * (dy - scale*(mean-float64(n.centre(at.k)[j]))*dyx) / rows
	add(into.shift, j, -mean*mdo*rows)
	return -f * scale * dyx / rows, -n.shifts(j) * mdo
}

// add adds v to element j of d, unless d is nil.
func add(d *tensor.Dense, j int, v float64) {
	if d != nil {
		d.Data[j] += tensor.Float(v)
	}
}

// pull adds the gradient of x in range k.
func (n *columnNorm) pull(k int) { n.rowsOf(k, (*columnNorm).pullRows) }

// pullRows adds that of rows p of range k.
func (n *columnNorm) pullRows(k int, p part, buf []tensor.Float) {
	a, b, c, o := buf[:n.d], buf[n.d:2*n.d], buf[2*n.d:3*n.d], buf[3*n.d:]
	centre, bc := n.centre(k), n.sums(k)
	for j := range n.d {
		a[j] = tensor.Float(float64(n.of(n.scale, k)[j]) * n.gains(j))
		b[j], c[j] = tensor.Float(bc[j]), tensor.Float(bc[n.d+j])
	}
	for i := p.lo; i < p.hi; i++ {
		to := n.of(n.pass.dx, i)
		simd.Sub.Forward(o, n.of(n.x.val.Data, i), centre, 1, 1)
		simd.Mul.Forward(o, o, b, 1, 1)
		simd.Add.Forward(o, o, c, 1, 1)
		addTo(to, o)
		simd.Mul.Forward(o, n.of(n.pass.dy, i), a, 1, 1)
		addTo(to, o)
	}
}

package dense

import (
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// ColumnNorm normalises each column of X over ranges of rows; Offsets[k] to
// Offsets[k+1] is range k. In each range
//
//	for j := range D {
//		mean := Σ_i x[i,j] / rows
//		o[i] := x[i,j] − shift[j]·mean
//		scale := 1/√(Σ_i o[i]² / rows + Eps)
//		y[i,j] = o[i]·scale·gain[j] + bias[j]
//	}
//
// with sums in float64, and with ReLU max(y, 0). Forward sets Mean, Scale and Shifted,
// which Backward reads.
type ColumnNorm struct {
	X                 []tensor.Float
	D                 int // of the elements of a row
	Offsets           []int
	Gain, Bias, Shift []tensor.Float // an element a column; nil: 1, 0 and 1
	Eps               float64
	Fixed             bool // Mean and Scale are given
	ReLU              bool // of the result; not of rows that are Few

	Mean, Scale []tensor.Float // of each range, an element a column
	Shifted     []tensor.Float // Shift·Mean of each range, if there is a Shift

	pass columnPass
}

// columnPass is what a pass over the ranges works on: y, or dy and dx, which is
// nil if not wanted.
type columnPass struct {
	y, dy, dx []tensor.Float
	set       bool      // dx holds anything
	sums      []float64 // 2·D of each range
}

// ranges returns the number of ranges.
func (n *ColumnNorm) ranges() int { return len(n.Offsets) - 1 }

// rows returns the number of rows.
func (n *ColumnNorm) rows() int { return n.Offsets[n.ranges()] }

// span returns the rows of range k.
func (n *ColumnNorm) span(k int) part { return part{n.Offsets[k], n.Offsets[k+1]} }

// of returns what belongs to range k in an array of a row a range, or row k of an
// array like X.
func (n *ColumnNorm) of(a []tensor.Float, k int) []tensor.Float { return a[k*n.D : k*n.D+n.D] }

// centre returns Shift·Mean of range k.
func (n *ColumnNorm) centre(k int) []tensor.Float {
	if n.Shift != nil {
		return n.of(n.Shifted, k)
	}
	return n.of(n.Mean, k)
}

// Few reports whether the rows are so few and narrow that Forward does all at once.
func (n *ColumnNorm) Few() bool { return few(n.rows(), n.D) }

// Forward sets y to the normalised rows.
func (n *ColumnNorm) Forward(y []tensor.Float) {
	if n.Few() {
		n.fewForward(y)
		return
	}
	n.pass = columnPass{y: y}
	n.eachRange((*ColumnNorm).forward)
	n.pass = columnPass{}
}

// Moments is the first half of Forward: it sets Mean, Scale and Shifted.
func (n *ColumnNorm) Moments() { n.eachRange((*ColumnNorm).moments) }

// Write is the second half.
func (n *ColumnNorm) Write(y []tensor.Float) {
	n.pass = columnPass{y: y}
	n.eachRange((*ColumnNorm).writeRange)
	n.pass = columnPass{}
}

// Backward adds to the gradients of X, Gain, Bias and Shift. With x̂ = o·scale and m the
// mean over a range they are
//
//	do = gain·scale·(dy − x̂·m(dy·x̂)),   dx += do − shift·m(do),   dshift −= mean·Σdo
//	dgain += Σdy·x̂,   dbias += Σdy
//
// and m(x̂) = scale·(1 − shift)·mean. Fixed means and scales give dx += gain·scale·dy.
func (n *ColumnNorm) Backward(to NormGrads, dy []tensor.Float) {
	if n.Few() {
		if to.SetX {
			clear(to.X)
		}
		n.fewBackward(&to, dy)
		return
	}
	withSums(n.ranges()*2*n.D, func(sums []float64) {
		n.pass = columnPass{dy: dy, dx: to.X, set: to.SetX, sums: sums}
		n.eachRange((*ColumnNorm).sum)
		for k := range n.ranges() { // in order: all ranges add to the same
			if n.Offsets[k] < n.Offsets[k+1] {
				n.affineGrads(&to, k)
			}
		}
		if to.X != nil {
			n.eachRange((*ColumnNorm).backward)
		}
	})
	n.pass = columnPass{}
}

// eachRange calls f with every range that has rows, on several threads; of one
// range what f does is shared out instead.
func (n *ColumnNorm) eachRange(f func(n *ColumnNorm, k int)) {
	ranges := n.ranges()
	step := grain(n.rows() * n.D / max(1, ranges))
	if ranges <= step { // without the memory of a closure
		n.eachOf(part{0, ranges}, f)
		return
	}
	par.For(ranges, step, func(lo, hi int) { n.eachOf(part{lo, hi}, f) })
}

func (n *ColumnNorm) eachOf(p part, f func(n *ColumnNorm, k int)) {
	for k := p.lo; k < p.hi; k++ {
		if n.Offsets[k] < n.Offsets[k+1] && n.D > 0 {
			f(n, k)
		}
	}
}

// tileWidth is about how many elements of narrow rows are taken at a time: a call of a kernel
// for each row would cost more than the row's elements.
const tileWidth = 1 << 9

// tileArrays is how many tiles a pass over them has as scratch.
const tileArrays = 5

// tileRows returns how many rows of d elements are taken at a time.
func tileRows(d int) int { return max(1, tileWidth/max(1, d)) }

// repeat sets a whole number of rows to row.
func repeat(to, row []tensor.Float) []tensor.Float {
	for i := 0; i < len(to); i += len(row) {
		copy(to[i:], row)
	}
	return to
}

// tiles calls f with the first and the last element of each tile of rows p.
func (n *ColumnNorm) tiles(p part, f func(lo, hi int)) {
	for i, step := p.lo, tileRows(n.D); i < p.hi; i += step {
		f(i*n.D, min(i+step, p.hi)*n.D)
	}
}

// eachPart calls f with parts of the rows of range k and scratch of some tiles.
func (n *ColumnNorm) eachPart(k int, f func(n *ColumnNorm, k int, p part, buf []tensor.Float)) {
	rows, step := n.span(k), grain(n.D)
	if rows.hi-rows.lo <= step { // without the memory of a closure
		n.partOf(k, f, rows)
		return
	}
	par.For(rows.hi-rows.lo, step, func(lo, hi int) { n.partOf(k, f, part{rows.lo + lo, rows.lo + hi}) })
}

func (n *ColumnNorm) partOf(k int, f func(n *ColumnNorm, k int, p part, buf []tensor.Float), p part) {
	buf := scratch.Borrow(tileArrays * min(p.hi-p.lo, tileRows(n.D)) * n.D)
	f(n, k, p, *buf)
	scratch.Repay(buf)
}

// forward normalises range k.
func (n *ColumnNorm) forward(k int) {
	n.moments(k)
	n.writeRange(k)
}

// writeRange is forward without the moments.
func (n *ColumnNorm) writeRange(k int) { n.eachPart(k, (*ColumnNorm).write) }

// moments works out the mean, the centre and the scale of each column of range k.
func (n *ColumnNorm) moments(k int) {
	rows := n.span(k)
	count := float64(rows.hi - rows.lo)
	withSums(n.D, func(sums []float64) {
		w := columnSums{of: valueRows, x: n.X, d: n.D, rows: rows}
		if !n.Fixed {
			w.into(sums)
			for j, s := range sums {
				n.of(n.Mean, k)[j] = tensor.Float(s / count)
			}
		}
		if n.Shift != nil {
			vec.Mul.Forward(n.of(n.Shifted, k), n.of(n.Mean, k), n.Shift, 1, 1)
		}
		if n.Fixed {
			return
		}
		w.of, w.centre = squareRows, n.centre(k)
		w.into(sums)
		for j, s := range sums {
			n.of(n.Scale, k)[j] = inverseRoot(s/count, n.Eps)
		}
	})
}

// write normalises rows p of range k.
func (n *ColumnNorm) write(k int, p part, buf []tensor.Float) {
	w := len(buf) / tileArrays
	centre, scale, bias := repeat(buf[:w], n.centre(k)), repeat(buf[w:2*w], n.of(n.Scale, k)), buf[2*w:3*w]
	if n.Gain != nil {
		vec.Mul.Forward(scale, scale, repeat(bias, n.Gain), 1, 1)
	}
	by := vec.Columns{Centre: centre, Scale: scale}
	if n.Bias != nil {
		by.Bias = repeat(bias, n.Bias)
	}
	n.tiles(p, func(lo, hi int) { by.Standardise(n.pass.y[lo:hi], n.X[lo:hi], n.ReLU) })
}

// sums returns those of range k.
func (n *ColumnNorm) sums(k int) []float64 { return n.pass.sums[k*2*n.D : (k+1)*2*n.D] }

// sum adds up what the gradients of range k need: Σdy·o and Σdy.
func (n *ColumnNorm) sum(k int) {
	w := columnSums{of: offsetRows, x: n.X, dy: n.pass.dy, d: n.D, centre: n.centre(k), rows: n.span(k)}
	if !n.ReLU {
		w.into(n.sums(k))
		return
	}
	room := scratch.Borrow(2 * n.D)
	scale, bias := (*room)[:n.D], (*room)[n.D:]
	for j := range n.D {
		scale[j], bias[j] = n.factor(k, j), biasOf(n.Bias, j)
	}
	w.relu = vec.Columns{Centre: w.centre, Scale: scale, Bias: bias}
	w.into(n.sums(k))
	scratch.Repay(room)
}

// factor returns what column j of range k is multiplied by.
func (n *ColumnNorm) factor(k, j int) tensor.Float {
	return tensor.Float(float64(n.of(n.Scale, k)[j]) * gainOf(n.Gain, j))
}

// affineGrads adds what range k gives to the gradients of Gain, Bias and Shift, and
// makes of Σdy·o and Σdy in sums the b and c of its columns.
func (n *ColumnNorm) affineGrads(to *NormGrads, k int) {
	sums := n.sums(k)
	for j := range n.D {
		sums[j], sums[n.D+j] = n.columnGrad(to, column{k, j}, sums[j], sums[n.D+j])
	}
}

// column is column j of range k.
type column struct{ k, j int }

// columnGrad adds what a column gives to the gradients of Gain, Bias and Shift, from
// Σdy·o and Σdy, and returns b and c for which dx = gain·scale·dy + b·o + c.
func (n *ColumnNorm) columnGrad(to *NormGrads, at column, dyo, dy float64) (b, c float64) {
	j, p := at.j, n.span(at.k)
	rows := float64(p.hi - p.lo)
	mean, scale := float64(n.of(n.Mean, at.k)[j]), float64(n.of(n.Scale, at.k)[j])
	dyx := dyo * scale
	add(to.Gain, j, dyx)
	add(to.Bias, j, dy)
	if n.Fixed {
		return 0, 0
	}
	f := scale * gainOf(n.Gain, j)
	mdo := f * (dy - scale*(mean-float64(n.centre(at.k)[j]))*dyx) / rows
	add(to.Shift, j, -mean*mdo*rows)
	return -f * scale * dyx / rows, -gainOf(n.Shift, j) * mdo
}

// backward adds the gradient of X in range k.
func (n *ColumnNorm) backward(k int) { n.eachPart(k, (*ColumnNorm).addGrad) }

// addGrad adds that of rows p of range k.
func (n *ColumnNorm) addGrad(k int, p part, buf []tensor.Float) {
	w, bc := len(buf)/tileArrays, n.sums(k)
	a, b, c, bias, centre := buf[:w], buf[w:2*w], buf[2*w:3*w], buf[3*w:4*w], repeat(buf[4*w:], n.centre(k))
	for j := range n.D {
		a[j], bias[j] = n.factor(k, j), biasOf(n.Bias, j)
		b[j], c[j] = tensor.Float(bc[j]), tensor.Float(bc[n.D+j])
	}
	for _, row := range [][]tensor.Float{a, b, c, bias} {
		repeat(row[n.D:], row[:n.D])
	}
	by := vec.ColumnSlopes{Centre: centre, OfX: b, At0: c, OfDY: a, Bias: bias}
	n.tiles(p, func(lo, hi int) {
		dx, dy, x := n.pass.dx[lo:hi], n.pass.dy[lo:hi], n.X[lo:hi]
		if n.ReLU {
			by.ReLUGrad(dx, dy, x, n.pass.set)
		} else {
			by.Grad(dx, dy, x, n.pass.set)
		}
	})
}

package grad

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// normGrain is how many elements a thread takes at once: some ten microseconds.
const normGrain = 1 << 13

// LayerNorm normalises each row along the last axis,
//
//	y = (x − mean)/√(var + eps)·gain + bias
//
// var being the mean square of x − mean. gain and bias have an element for each
// column; nil means 1 and 0. Sums are float64.
func (x *Var) LayerNorm(gain, bias *Var, eps float64) *Var {
	of := norm{x: x, gain: gain, bias: bias, eps: eps}
	op := of.begin("LayerNorm")
	n := Notes[norm](op)
	*n = of
	y := op.freshLike(x)
	room, r := op.FreshFloats(3*n.rows), n.rows
	n.mean, n.rest, n.scale = room[:r], room[r:2*r], room[2*r:]
	switch {
	case op.Dry(0):
	case n.few():
		n.fewRows(y.val.Data)
	default:
		n.eachRow(y.val.Data, nil, (*norm).row)
	}
	return op.RecordBy(y, n)
}

// Pull adds to the gradients of x, gain and bias.
func (n *norm) Pull(dy *tensor.Dense) {
	if n.few() {
		n.pullFewRows(dy.Data)
		return
	}
	if dx := n.x.Grad(); dx != nil {
		n.eachRow(dx.Data, dy.Data, (*norm).pullRow)
	}
	n.pullAffine(dy)
}

// rowWork is row i of a normalisation: to is written or added to, from is the
// gradient, and buf is scratch of two rows.
type rowWork struct {
	i             int
	to, from, buf []tensor.Float
}

// eachRow calls f with every row.
func (n *norm) eachRow(to, from []tensor.Float, f func(n *norm, r rowWork)) {
	grain := n.grain(n.d)
	if n.rows <= grain { // without the memory of a closure
		n.rowRange(to, from, part{0, n.rows}, f)
		return
	}
	par.For(n.rows, grain, func(lo, hi int) { n.rowRange(to, from, part{lo, hi}, f) })
}

func (n *norm) rowRange(to, from []tensor.Float, p part, f func(n *norm, r rowWork)) {
	if n.d == 0 {
		return
	}
	buf := borrowRows(2 * n.d)
	for i := p.lo; i < p.hi; i++ {
		lo, hi := i*n.d, i*n.d+n.d
		f(n, rowWork{i, to[lo:hi], from[min(lo, len(from)):min(hi, len(from))], *buf})
	}
	scratchRows.Put(buf)
}

// norm is a normalisation of x, rows×d, by means and scales, followed by a gain
// and a bias for each column.
type norm struct {
	x, gain, bias *Var
	extra         *Var // one more operand with an element for each column, or nil
	eps           float64
	rows, d       int
	mean, scale   []tensor.Float // scale = 1/√(var + eps)
	rest          []tensor.Float // of a row's mean, what its rounding left
}

// begin checks the operands and starts the operation.
func (n *norm) begin(name string) Op {
	var all [4]*Var
	xs := append(all[:0], n.x)
	for _, v := range [...]*Var{n.gain, n.bias, n.extra} {
		if v != nil {
			xs = append(xs, v)
		}
	}
	op := Begin(name, xs...)
	n.rows, n.d = leading(n.x.Value().Shape()), n.x.Dim(-1)
	for _, v := range xs[1:] {
		if len(v.Value().Data) != n.d {
			panic(tensor.Mismatch("grad."+name, n.x, v))
		}
	}
	return op
}

// grain is how many rows, or columns, of that length a thread takes at once.
func (n *norm) grain(length int) int { return max(1, normGrain/max(1, length)) }

func (n *norm) gains(j int) float64 {
	if n.gain == nil {
		return 1
	}
	return float64(n.gain.val.Data[j])
}

// row writes a row of a layer norm.
func (n *norm) row(r rowWork) {
	y, x := r.to, n.x.val.Data[r.i*n.d:r.i*n.d+n.d]
	n.setMean(r.i, simd.Sum64(x)/float64(n.d))
	n.centre(y, r.i)
	n.scale[r.i] = n.scaleOf(dot64(y, y) / float64(n.d))
	simd.Scale.Forward(y, y, n.scale[r.i])
	if n.gain != nil {
		simd.Mul.Forward(y, y, n.gain.val.Data, 1, 1)
	}
	if n.bias != nil {
		simd.Add.Forward(y, y, n.bias.val.Data, 1, 1)
	}
}

// setMean notes the mean of row i.
func (n *norm) setMean(i int, mean float64) {
	n.mean[i] = tensor.Float(mean)
	n.rest[i] = tensor.Float(mean - float64(n.mean[i]))
}

// scaleOf is 1/√(var + eps).
func (n *norm) scaleOf(variance float64) tensor.Float {
	return tensor.Float(1 / math.Sqrt(variance+n.eps))
}

// centre sets c to row i of x minus its mean. That of large numbers that differ
// little is taken off in two steps, for what float32 cannot hold.
func (n *norm) centre(c []tensor.Float, i int) {
	simd.Shift.Forward(c, n.x.val.Data[i*n.d:i*n.d+n.d], -n.mean[i])
	if n.rest[i] != 0 {
		simd.Shift.Forward(c, c, -n.rest[i])
	}
}

// pullRow adds the gradient of a row: with x̂ the normalised row and g = dy·gain
// it is scale·(g − mean(g) − x̂·mean(g·x̂)).
func (n *norm) pullRow(r rowWork) {
	g, xh := r.from, r.buf[:n.d]
	if n.gain != nil {
		g = r.buf[n.d:]
		simd.Mul.Forward(g, r.from, n.gain.val.Data, 1, 1)
	}
	n.centre(xh, r.i)
	scale := float64(n.scale[r.i])
	mean, dot := simd.Sum64(g)/float64(n.d), dot64(g, xh)*scale/float64(n.d)
	simd.Scale.Forward(xh, xh, tensor.Float(-scale*scale*dot))
	simd.Shift.Forward(xh, xh, tensor.Float(-scale*mean))
	simd.Axpy(xh, tensor.Float(scale), g)
	addTo(r.to, xh)
}

// pullAffine adds the gradients of gain and bias.
func (n *norm) pullAffine(dy *tensor.Dense) {
	dg, db := gradOf(n.gain), gradOf(n.bias)
	if dg == nil && db == nil {
		return
	}
	w := columnSum{n: n, dy: dy.Data, kind: affineRows, rows: part{0, n.rows}, width: 2 * n.d}
	if n.rows <= sumRun {
		w.run(w.rows, func(sum []tensor.Float) {
			addRow(dg, sum[:n.d])
			addRow(db, sum[n.d:])
		})
		return
	}
	withSums(2*n.d, func(sums []float64) {
		sumRows(w, sums)
		addSums(dg, sums[:n.d])
		addSums(db, sums[n.d:])
	})
}

// gradOf is Grad of what may be nil.
func gradOf(v *Var) *tensor.Dense {
	if v == nil {
		return nil
	}
	return v.Grad()
}

// addRow adds a row to d, unless d is nil.
func addRow(d *tensor.Dense, row []tensor.Float) {
	if d != nil {
		addTo(d.Data, row)
	}
}

// addSums adds sums to d, unless d is nil.
func addSums(d *tensor.Dense, sums []float64) {
	for j, s := range sums {
		add(d, j, s)
	}
}

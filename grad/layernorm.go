package grad

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/par"
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
	n := &norm{x: x, gain: gain, bias: bias, eps: eps}
	op := n.begin("LayerNorm")
	y := op.New(x.Shape()...)
	n.mean, n.scale = op.Floats(n.rows), op.Floats(n.rows)
	if !op.Dry(0) {
		n.eachRow(y.val.Data, nil, (*norm).row)
	}
	return op.Record(y, func(dy *tensor.Dense) {
		if dx := x.Grad(); dx != nil {
			n.eachRow(dx.Data, dy.Data, (*norm).pullRow)
		}
		n.pullAffine(dy)
	})
}

// eachRow calls f with every row of to and of from, if there is one.
func (n *norm) eachRow(to, from []tensor.Float, f func(n *norm, to, from []tensor.Float, i int)) {
	grain := n.grain(n.d)
	if n.rows <= grain { // without the memory of a closure
		n.rowRange(to, from, part{0, n.rows}, f)
		return
	}
	par.For(n.rows, grain, func(lo, hi int) { n.rowRange(to, from, part{lo, hi}, f) })
}

func (n *norm) rowRange(to, from []tensor.Float, r part, f func(n *norm, to, from []tensor.Float, i int)) {
	for i := r.lo; i < r.hi; i++ {
		lo, hi := i*n.d, i*n.d+n.d
		f(n, to[lo:hi], from[min(lo, len(from)):min(hi, len(from))], i)
	}
}

// norm is a normalisation of x, rows×d, by means and scales, followed by a gain
// and a bias for each column.
type norm struct {
	x, gain, bias *Var
	extra         *Var // one more operand with an element for each column, or nil
	eps           float64
	rows, d       int
	mean, scale   []tensor.Float // scale = 1/√(var + eps)
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

func (n *norm) biases(j int) float64 {
	if n.bias == nil {
		return 0
	}
	return float64(n.bias.val.Data[j])
}

// row writes row i of a layer norm to y.
func (n *norm) row(y, _ []tensor.Float, i int) {
	x := n.x.val.Data[i*n.d : i*n.d+n.d]
	sum, square := 0.0, 0.0
	for _, v := range x {
		sum += float64(v)
	}
	mean := sum / float64(n.d)
	for _, v := range x {
		c := float64(v) - mean
		square += c * c
	}
	scale := 1 / math.Sqrt(square/float64(n.d)+n.eps)
	n.mean[i], n.scale[i] = tensor.Float(mean), tensor.Float(scale)
	for j, v := range x {
		y[j] = tensor.Float((float64(v)-mean)*scale*n.gains(j) + n.biases(j))
	}
}

// pullRow adds to dx the gradient of row i: with x̂ the normalised row and
// g = dy·gain it is scale·(g − mean(g) − x̂·mean(g·x̂)).
func (n *norm) pullRow(dx, dy []tensor.Float, i int) {
	x := n.x.val.Data[i*n.d : i*n.d+n.d]
	mean, scale := float64(n.mean[i]), float64(n.scale[i])
	sum, dot := 0.0, 0.0
	for j, v := range x {
		g := float64(dy[j]) * n.gains(j)
		sum += g
		dot += g * (float64(v) - mean) * scale
	}
	sum, dot = sum/float64(n.d), dot/float64(n.d)
	for j, v := range x {
		g := float64(dy[j]) * n.gains(j)
		dx[j] += tensor.Float(scale * (g - sum - (float64(v)-mean)*scale*dot))
	}
}

// block is how many columns are summed at once: their sums stay in registers or
// on the stack while rows go by.
const block = 16

// columns calls f with every range of columns, of at most block.
func (n *norm) columns(f func(lo, hi int)) {
	par.For((n.d+block-1)/block, n.grain(n.rows*block), func(from, to int) {
		for b := from; b < to; b++ {
			f(b*block, min(n.d, (b+1)*block))
		}
	})
}

// pullAffine adds the gradients of gain and bias.
func (n *norm) pullAffine(dy *tensor.Dense) {
	dg, db := gradOf(n.gain), gradOf(n.bias)
	if dg == nil && db == nil {
		return
	}
	n.columns(func(lo, hi int) {
		var gain, bias [block]float64
		for i := range n.rows {
			mean, scale := float64(n.mean[i]), float64(n.scale[i])
			x := n.x.val.Data[i*n.d+lo : i*n.d+hi]
			for j, g := range dy.Data[i*n.d+lo : i*n.d+hi] {
				bias[j] += float64(g)
				gain[j] += float64(g) * (float64(x[j]) - mean) * scale
			}
		}
		addSums(dg, lo, gain[:hi-lo])
		addSums(db, lo, bias[:hi-lo])
	})
}

// gradOf is Grad of what may be nil.
func gradOf(v *Var) *tensor.Dense {
	if v == nil {
		return nil
	}
	return v.Grad()
}

// addSums adds sums to the elements of d from lo on, unless d is nil.
func addSums(d *tensor.Dense, lo int, sums []float64) {
	if d != nil {
		for j, s := range sums {
			d.Data[lo+j] += tensor.Float(s)
		}
	}
}

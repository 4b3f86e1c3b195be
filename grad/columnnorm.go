package grad

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// columnNorm normalises each column over ranges of rows:
//
//	o = x − shift·mean,   y = o/√(mean(o²) + eps)·gain + bias
type columnNorm struct {
	norm
	shift   *Var  // of each column; nil means 1
	offsets []int // of the ranges
	fixed   bool  // mean and scale are given
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
	y := op.New(n.x.Shape()...)
	if !n.fixed {
		size := (len(n.offsets) - 1) * n.d
		n.mean, n.scale = op.Floats(size), op.Floats(size)
	}
	if !op.Dry(0) {
		n.columns(func(lo, hi int) {
			for k := range len(n.offsets) - 1 {
				n.forward(y, k, lo, hi)
			}
		})
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx, into := n.x.Grad(), affineGrads{gradOf(n.gain), gradOf(n.bias), gradOf(n.shift)}
		n.columns(func(lo, hi int) {
			for k := range len(n.offsets) - 1 {
				n.pull(dx, into, dy, columns{k, lo, hi})
			}
		})
	})
}

// shifts returns the part of the mean that is taken off column j.
func (n *columnNorm) shifts(j int) float64 {
	if n.shift == nil {
		return 1
	}
	return float64(n.shift.val.Data[j])
}

// forward computes columns lo to hi of range k.
func (n *columnNorm) forward(y *Var, k, lo, hi int) {
	a, b := n.offsets[k], n.offsets[k+1]
	if !n.fixed && b > a {
		n.moments(columns{k, lo, hi})
	}
	for i := a; i < b; i++ {
		for j := lo; j < hi; j++ {
			c := float64(n.x.val.Data[i*n.d+j]) - n.shifts(j)*float64(n.mean[k*n.d+j])
			y.val.Data[i*n.d+j] = tensor.Float(c*float64(n.scale[k*n.d+j])*n.gains(j) + n.biases(j))
		}
	}
}

// columns is the columns lo to hi of range number k.
type columns struct{ k, lo, hi int }

// moments works out the means and scales.
func (n *columnNorm) moments(c columns) {
	var mean, square [block]float64
	a, b := n.offsets[c.k], n.offsets[c.k+1]
	for i := a; i < b; i++ {
		for j, v := range n.x.val.Data[i*n.d+c.lo : i*n.d+c.hi] {
			mean[j] += float64(v)
		}
	}
	for j := range c.hi - c.lo {
		mean[j] /= float64(b - a)
		n.mean[c.k*n.d+c.lo+j] = tensor.Float(mean[j])
		mean[j] *= n.shifts(c.lo + j)
	}
	for i := a; i < b; i++ {
		for j, v := range n.x.val.Data[i*n.d+c.lo : i*n.d+c.hi] {
			o := float64(v) - mean[j]
			square[j] += o * o
		}
	}
	for j := range c.hi - c.lo {
		n.scale[c.k*n.d+c.lo+j] = tensor.Float(1 / math.Sqrt(square[j]/float64(b-a)+n.eps))
	}
}

// affineGrads are the gradients of an [Affine], nil where not wanted.
type affineGrads struct{ gain, bias, shift *tensor.Dense }

// pull adds the gradients of columns c. With x̂ = o·scale and m the mean over the
// range,
//
//	do = gain·scale·(dy − x̂·m(dy·x̂)),   dx = do − shift·m(do),   dshift = −mean·Σdo
//
// and m(x̂) = scale·(1 − shift)·mean. Fixed means and scales give dx = gain·scale·dy.
func (n *columnNorm) pull(dx *tensor.Dense, into affineGrads, dy *tensor.Dense, c columns) {
	a, b := n.offsets[c.k], n.offsets[c.k+1]
	var gain, bias [block]float64
	for i := a; i < b; i++ {
		for j, g := range dy.Data[i*n.d+c.lo : i*n.d+c.hi] {
			bias[j] += float64(g)
			gain[j] += float64(g) * n.normal(i, c.lo+j, c.k)
		}
	}
	addSums(into.gain, c.lo, gain[:c.hi-c.lo])
	addSums(into.bias, c.lo, bias[:c.hi-c.lo])
	if a == b {
		return
	}
	for j := c.lo; j < c.hi; j++ {
		n.pullColumn(dx, into.shift, dy, column{c.k, j, bias[j-c.lo] / float64(b-a), gain[j-c.lo] / float64(b-a)})
	}
}

// normal returns x̂ of element (i, j), in range k.
func (n *columnNorm) normal(i, j, k int) float64 {
	return (float64(n.x.val.Data[i*n.d+j]) - n.shifts(j)*float64(n.mean[k*n.d+j])) * float64(n.scale[k*n.d+j])
}

// column is column j of range k, with the means of dy and of dy·x̂.
type column struct {
	k, j     int
	dy, dyxh float64
}

func (n *columnNorm) pullColumn(dx, dshift, dy *tensor.Dense, c column) {
	mean, scale := float64(n.mean[c.k*n.d+c.j]), float64(n.scale[c.k*n.d+c.j])
	shift, f := n.shifts(c.j), scale*n.gains(c.j)
	if n.fixed {
		c.dy, c.dyxh = 0, 0
	}
	mdo := f * (c.dy - scale*(1-shift)*mean*c.dyxh)
	a, b := n.offsets[c.k], n.offsets[c.k+1]
	if dshift != nil {
		dshift.Data[c.j] -= tensor.Float(mean * mdo * float64(b-a))
	}
	if dx == nil {
		return
	}
	for i := a; i < b; i++ {
		do := f * (float64(dy.Data[i*n.d+c.j]) - n.normal(i, c.j, c.k)*c.dyxh)
		dx.Data[i*n.d+c.j] += tensor.Float(do - shift*mdo)
	}
}

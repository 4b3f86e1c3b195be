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
				n.forward(y.val.Data, tile{k, lo, hi})
			}
		})
	}
	return op.Record(y, func(dy *tensor.Dense) {
		p := columnPull{dy: dy.Data, dx: n.x.Grad(), gain: gradOf(n.gain), bias: gradOf(n.bias), shift: gradOf(n.shift)}
		n.columns(func(lo, hi int) {
			for k := range len(n.offsets) - 1 {
				n.pull(&p, tile{k, lo, hi})
			}
		})
	})
}

// tile is the columns lo to hi, at most block of them, of range number k.
type tile struct{ k, lo, hi int }

// row returns row i of the tile, of an array like x.
func (n *columnNorm) row(a []tensor.Float, i int, t tile) []tensor.Float {
	return a[i*n.d+t.lo : i*n.d+t.hi]
}

// shifts returns the part of the mean that is taken off column j.
func (n *columnNorm) shifts(j int) float64 {
	if n.shift == nil {
		return 1
	}
	return float64(n.shift.val.Data[j])
}

// forward computes a tile of y = a·x + b.
func (n *columnNorm) forward(y []tensor.Float, t tile) {
	from, to := n.offsets[t.k], n.offsets[t.k+1]
	if from == to {
		return
	}
	if !n.fixed {
		n.moments(t)
	}
	var a, b [block]float64
	for j := range t.hi - t.lo {
		c := t.lo + j
		a[j] = float64(n.scale[t.k*n.d+c]) * n.gains(c)
		b[j] = n.biases(c) - a[j]*n.shifts(c)*float64(n.mean[t.k*n.d+c])
	}
	for i := from; i < to; i++ {
		out := n.row(y, i, t)
		for j, v := range n.row(n.x.val.Data, i, t) {
			out[j] = tensor.Float(a[j&(block-1)]*float64(v) + b[j&(block-1)])
		}
	}
}

// moments works out the means and scales of a tile.
func (n *columnNorm) moments(t tile) {
	var mean, square [block]float64
	from, to := n.offsets[t.k], n.offsets[t.k+1]
	for i := from; i < to; i++ {
		for j, v := range n.row(n.x.val.Data, i, t) {
			mean[j&(block-1)] += float64(v)
		}
	}
	for j := range t.hi - t.lo {
		n.mean[t.k*n.d+t.lo+j] = tensor.Float(mean[j] / float64(to-from))
		mean[j] = n.shifts(t.lo+j) * float64(n.mean[t.k*n.d+t.lo+j])
	}
	for i := from; i < to; i++ {
		for j, v := range n.row(n.x.val.Data, i, t) {
			o := float64(v) - mean[j&(block-1)]
			square[j&(block-1)] += o * o
		}
	}
	for j := range t.hi - t.lo {
		n.scale[t.k*n.d+t.lo+j] = tensor.Float(1 / math.Sqrt(square[j]/float64(to-from)+n.eps))
	}
}

// columnPull is the gradient of the result and those of the operands, nil where
// not wanted.
type columnPull struct {
	dy                    []tensor.Float
	dx, gain, bias, shift *tensor.Dense
}

// pull adds the gradients of a tile. With x̂ = o·scale and m the mean over the
// range,
//
//	do = gain·scale·(dy − x̂·m(dy·x̂)),   dx = do − shift·m(do),   dshift = −mean·Σdo
//
// and m(x̂) = scale·(1 − shift)·mean. Fixed means and scales give dx = gain·scale·dy.
func (n *columnNorm) pull(p *columnPull, t tile) {
	from, to := n.offsets[t.k], n.offsets[t.k+1]
	if from == to {
		return
	}
	var dgain, dbias, dshift, centre, scale [block]float64
	for j := range t.hi - t.lo {
		centre[j] = n.shifts(t.lo+j) * float64(n.mean[t.k*n.d+t.lo+j])
		scale[j] = float64(n.scale[t.k*n.d+t.lo+j])
	}
	for i := from; i < to; i++ {
		x := n.row(n.x.val.Data, i, t)
		for j, g := range n.row(p.dy, i, t) {
			dbias[j&(block-1)] += float64(g)
			dgain[j&(block-1)] += float64(g) * (float64(x[j]) - centre[j&(block-1)])
		}
	}
	var a, b, c [block]float64 // dx = a·dy + b·x + c
	for j := range t.hi - t.lo {
		dgain[j] *= scale[j]
		a[j] = scale[j] * n.gains(t.lo+j)
		if n.fixed {
			continue
		}
		rows, mean := float64(to-from), float64(n.mean[t.k*n.d+t.lo+j])
		mdyx := dgain[j] / rows
		mdo := a[j] * (dbias[j]/rows - scale[j]*(mean-centre[j])*mdyx)
		dshift[j] = -mean * mdo * rows
		b[j] = -a[j] * scale[j] * mdyx
		c[j] = -b[j]*centre[j] - n.shifts(t.lo+j)*mdo
	}
	addSums(p.gain, t.lo, dgain[:t.hi-t.lo])
	addSums(p.bias, t.lo, dbias[:t.hi-t.lo])
	addSums(p.shift, t.lo, dshift[:t.hi-t.lo])
	if p.dx == nil {
		return
	}
	for i := from; i < to; i++ {
		x, dx := n.row(n.x.val.Data, i, t), n.row(p.dx.Data, i, t)
		for j, g := range n.row(p.dy, i, t) {
			dx[j] += tensor.Float(a[j&(block-1)]*float64(g) + b[j&(block-1)]*float64(x[j]) + c[j&(block-1)])
		}
	}
}

package grad

import (
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Dot returns the scalar products of x and y along the last axis, which is kept
// with length 1. y broadcasts over the leading axes: its shape is x's, or the
// last few axes of it, or has ones.
func (x *Var) Dot(y *Var) *Var {
	if z := x.dotAlong(y); z != nil {
		return z
	}
	if p := x.projected(); p != nil && p.takesRow(y) {
		return p.dotHeads(y)
	}
	op := Begin("Dot", x, y)
	d := x.Value().Dim(-1)
	if y.Value().Dim(-1) != d {
		panic(tensor.Mismatch("grad.Dot", x, y))
	}
	var room extents
	shape := op.broadcast(&room, x, y)
	shape[len(shape)-1] = 1
	z := op.New(shape...)
	if perHead(x, y) {
		return op.dotHeads(x, y, z)
	}
	n := notes[dotNotes](op)
	pairs := tensor.Pair(lastOne(&extents{}, x.val.Shape()), lastOne(&extents{}, y.val.Shape()), shape)
	*n = dotNotes{x, y, dense.PairDots{X: x.val.Data, Y: y.val.Data, D: d, Of: pairs}}
	if !op.dry(0) {
		n.of.Forward(z.val.Data)
	}
	return op.recordBy(z, n)
}

// dotNotes is the pullback of scalar products of rows.
type dotNotes struct {
	x, y *Var
	of   dense.PairDots
}

// Pull adds to the gradients of x and y.
func (n *dotNotes) Pull(dz *tensor.Dense) {
	n.of.Backward(gradOf(n.x), gradOf(n.y), dz.Data)
}

// SumAxis sums along one axis, which is taken away; of the only axis it leaves
// one element. A negative axis counts from the last.
func (x *Var) SumAxis(axis int) *Var { return x.sumAxis("SumAxis", axis, false) }

// MeanAxis is SumAxis divided by the length of the axis; of an empty axis zero.
func (x *Var) MeanAxis(axis int) *Var { return x.sumAxis("MeanAxis", axis, true) }

// sumAxis is the sum along an axis, or the mean.
func (x *Var) sumAxis(name string, axis int, mean bool) *Var {
	op := Begin(name, x)
	i, s := x.axis(name, axis)
	y := op.Fresh(without(&extents{}, x.val.Shape(), i)...)
	n := notes[sumNotes](op)
	*n = sumNotes{x: x, s: s, axis: i, c: 1}
	scratch := 0
	if mean {
		n.c = tensor.Float(1 / float64(max(1, s.n)))
		scratch = len(y.val.Data)
	}
	if !op.dry(scratch) {
		tensor.SumAxis(&y.val, &x.val, i)
		n.scale(y.val.Data, y.val.Data)
	}
	return op.recordBy(y, n)
}

// without writes a shape without an axis to room, or one element for the only
// axis.
func without(room *extents, shape []int, axis int) []int {
	if len(shape) == 1 {
		return append(room[:0], 1)
	}
	return append(append(room[:0], shape[:axis]...), shape[axis+1:]...)
}

// sumNotes is the pullback of c times the sums along an axis.
type sumNotes struct {
	x    *Var
	s    span
	axis int
	c    tensor.Float
}

// scale multiplies by c, which is 1 unless a mean is taken.
func (n *sumNotes) scale(to, from []tensor.Float) {
	if n.c != 1 {
		vec.Scale.Forward(to, from, n.c)
	}
}

// Pull adds to x's gradient.
func (n *sumNotes) Pull(dy *tensor.Dense) {
	if n.c == 1 {
		n.spread(dy)
		return
	}
	part := *dy
	part.Data, _ = n.x.tape.lend(len(dy.Data))
	n.scale(part.Data, dy.Data)
	n.spread(&part)
	n.x.tape.recycle(part.Data)
}

// spread adds dy to all that it is the sum of.
func (n *sumNotes) spread(dy *tensor.Dense) {
	dx := n.x.Grad()
	if len(dx.Data) > small {
		var room extents
		kept := append(room[:0], dx.Shape()...)
		kept[n.axis] = 1
		tensor.Add(dx, dx, dy.Reshape(kept...))
		return
	}
	for i := range n.s.outer {
		from := dy.Data[i*n.s.inner : (i+1)*n.s.inner]
		if n.s.inner == 1 {
			to := dx.Data[i*n.s.n : (i+1)*n.s.n]
			vec.Add.Forward(to, to, from, 1, 0)
			continue
		}
		for j := i * n.s.n; j < (i+1)*n.s.n; j++ {
			to := dx.Data[j*n.s.inner : (j+1)*n.s.inner]
			vec.Add.Forward(to, to, from, 1, 1)
		}
	}
}

// Sum returns the sum of all elements, added in float64.
func (x *Var) Sum() *Var { return x.sumAll("Sum", 1) }

// Mean returns the mean of all elements; of none zero.
func (x *Var) Mean() *Var {
	return x.sumAll("Mean", 1/float64(max(1, len(x.Value().Data))))
}

// sumAll returns c times the sum of all elements.
func (x *Var) sumAll(name string, c float64) *Var {
	op := Begin(name, x)
	y := op.Fresh(1)
	n := notes[allNotes](op)
	*n = allNotes{x, tensor.Float(c)}
	if !op.dry(0) {
		y.val.Data[0] = n.c * tensor.Float(tensor.Sum64(x.Value()))
	}
	return op.recordBy(y, n)
}

// allNotes is the pullback of c times the sum of all elements.
type allNotes struct {
	x *Var
	c tensor.Float
}

// Pull adds to x's gradient.
func (n *allNotes) Pull(dy *tensor.Dense) {
	dx := n.x.Grad()
	if len(dx.Data) <= small {
		g := [1]tensor.Float{n.c * dy.Data[0]}
		vec.Add.Forward(dx.Data, dx.Data, g[:], 1, 0)
		return
	}
	tensor.Add(dx, dx, tensor.Of([]tensor.Float{n.c * dy.Data[0]}, 1))
}

// Roll returns x with the last axis rolled: element i moves to i+shift, and
// what falls off one end enters at the other.
func (x *Var) Roll(shift int) *Var {
	op := Begin("Roll", x)
	y := op.freshLike(x)
	if !op.dry(0) {
		tensor.Roll(&y.val, &x.val, -1, shift)
	}
	return op.Record(y, func(dy *tensor.Dense) { tensor.RollAdd(x.Grad(), dy, -1, -shift) })
}

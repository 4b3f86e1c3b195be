package grad

import (
	"slices"

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
	pairs := tensor.Pair(lastOne(&extents{}, x.val.Shape()), lastOne(&extents{}, y.val.Shape()), shape)
	n := note(op, dotNotes{x, y, dense.PairDots{X: x.val.Data, Y: y.val.Data, D: d, Of: pairs}})
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
	n := note(op, sumNotes{x: x, s: s, axis: i, c: 1})
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
	n := note(op, allNotes{x, tensor.Float(c)})
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

// MaxAxis returns the largest elements along one axis, which is taken away as
// SumAxis does; [Var.InsertAxis] puts it back. The gradient goes to the first of
// equal ones. NaN counts as the largest; of an empty axis the maximum is −Inf.
func (x *Var) MaxAxis(axis int) *Var {
	op := Begin("MaxAxis", x)
	i, s := x.axis("MaxAxis", axis)
	return op.largest(x, &x.val, i, s)
}

// MinAxis returns the smallest elements along one axis, as [Var.MaxAxis] does the
// largest; of an empty axis +Inf.
func (x *Var) MinAxis(axis int) *Var {
	op := Begin("MinAxis", x)
	i, s := x.axis("MinAxis", axis)
	below := op.freshLike(x)
	if !op.dry(0) {
		tensor.Apply(&below.val, &x.val, tensor.Unary(vec.Neg), 0)
	}
	return op.largest(x, &below.val, i, s)
}

// largest returns the elements of x where v has its largest along axis i; v is x
// or −x.
func (op Op) largest(x *Var, v *tensor.Dense, i int, s span) *Var {
	y := op.Fresh(without(&extents{}, x.val.Shape(), i)...)
	n := note(op, placeNotes{x, s, op.Ints(len(y.val.Data))})
	if !op.dry(0) {
		if s.n > 0 {
			tensor.ArgMax(n.places, v, i)
		}
		n.fill(&y.val, v, i)
	}
	return op.recordBy(y, n)
}

// placeNotes is the pullback of one element of each run along an axis of x.
type placeNotes struct {
	x      *Var
	s      span
	places []int32
}

// fill sets y to the largest elements of v along axis i, or to those of −v if that
// is x.
func (n *placeNotes) fill(y, v *tensor.Dense, i int) {
	if n.s.n > 0 && len(v.Data) <= small { // less work than a call
		for k, p := range n.places {
			y.Data[k] = n.x.val.Data[n.at(k, p)]
		}
		return
	}
	tensor.MaxAxis(y, v, i)
	if v != &n.x.val {
		tensor.Apply(y, y, tensor.Unary(vec.Neg), 0)
	}
}

// at is the number of the element of x that is at place p of run k.
func (n *placeNotes) at(k int, p int32) int {
	in := n.s.inner
	return (k/in*n.s.n+int(p))*in + k%in
}

// Pull adds to x's gradient.
func (n *placeNotes) Pull(dy *tensor.Dense) {
	if n.s.n == 0 {
		return
	}
	dx := n.x.Grad().Data
	for k, p := range n.places {
		dx[n.at(k, p)] += dy.Data[k]
	}
}

// SumAxes sums along several axes, which are taken away.
func (x *Var) SumAxes(axes ...int) *Var {
	var room extents
	for _, i := range x.descending("SumAxes", &room, axes) {
		x = x.SumAxis(i)
	}
	return x
}

// MeanAxes takes the mean along several axes, which are taken away; over no
// elements it is zero.
func (x *Var) MeanAxes(axes ...int) *Var {
	var room extents
	for _, i := range x.descending("MeanAxes", &room, axes) {
		x = x.MeanAxis(i)
	}
	return x
}

// descending writes the numbers of the axes of a list to room, the last first,
// without doubles.
func (x *Var) descending(op string, room *extents, list []int) []int {
	var named [tensor.MaxAxes]bool
	for _, a := range list {
		i, _ := x.axis(op, a)
		named[i] = true
	}
	is := room[:0]
	for i := len(named) - 1; i >= 0; i-- {
		if named[i] {
			is = append(is, i)
		}
	}
	return is
}

// TopK returns the k largest elements along the last axis, the largest first, and
// their places there, row after row. Of equal ones the first comes first; NaN
// counts as the largest. The places are valid until the tape's next Reset.
func (x *Var) TopK(k int) (values *Var, places []int32) {
	op := Begin("TopK", x)
	var room extents
	shape := append(room[:0], x.Value().Shape()...)
	d := x.Dim(-1)
	if k < 0 || k > d {
		panic(&tensor.ShapeError{Op: "grad.TopK", Shapes: [][]int{slices.Clone(shape), {k}}, Why: "the last axis has fewer elements"})
	}
	shape[len(shape)-1] = k
	y := op.Fresh(shape...)
	places = op.Ints(len(y.val.Data))
	if !op.dry(0) {
		tensor.TopK(&y.val, places, &x.val)
	}
	return op.recordBy(y, note(op, topNotes{x, k, places})), places
}

// topNotes is the pullback of k elements of each row of x.
type topNotes struct {
	x      *Var
	k      int
	places []int32
}

// Pull adds to x's gradient.
func (n *topNotes) Pull(dy *tensor.Dense) {
	dx, d := n.x.Grad().Data, n.x.Dim(-1)
	for i, p := range n.places {
		dx[i/n.k*d+int(p)] += dy.Data[i]
	}
}

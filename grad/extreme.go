package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

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
	n := notes[placeNotes](op)
	*n = placeNotes{x, s, op.Ints(len(y.val.Data))}
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
	n := notes[topNotes](op)
	*n = topNotes{x, k, places}
	return op.recordBy(y, n), places
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

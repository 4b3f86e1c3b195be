package tensor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// spans are the slices of a pointwise function.
type spans struct {
	a, b, c, d []Float
	f          vec.Unary
	k          Float
	set        bool // of a gradient: a holds anything
}

var spanJobs jobs[spans]

// Apply sets dst to a function of each element of x, which may take a constant
// c. dst has x's shape; it may be x itself but must not overlap it otherwise.
func Apply(dst, x *Dense, fn Unary, c Float) {
	f := vec.Unary(fn)
	sameShape(f.String(), dst, x)
	inPlace(f.String(), dst, x)
	if alone(len(x.Data), costOf(f)) {
		f.Forward(dst.Data, x.Data, c)
		return
	}
	spanJobs.run(spans{a: dst.Data, b: x.Data, f: f, k: c}, len(x.Data), costOf(f), func(s *spans, lo, hi int) {
		s.f.Forward(s.a[lo:hi], s.b[lo:hi], s.k)
	})
}

// ApplyGrad adds to dx the gradient of y = f(x) whose result has the gradient
// dy. All have one shape. dx must not overlap the others.
func ApplyGrad(dx, dy, x, y *Dense, f Unary, c Float) {
	applyGrad(dx, dy, x, y, spans{f: vec.Unary(f), k: c})
}

// SetGrad sets dx, whatever it held, to what [ApplyGrad] makes of zeros.
func SetGrad(dx, dy, x, y *Dense, f Unary, c Float) {
	applyGrad(dx, dy, x, y, spans{f: vec.Unary(f), k: c, set: true})
}

func applyGrad(dx, dy, x, y *Dense, s spans) {
	f := s.f
	for _, o := range [...]*Dense{dy, x, y} {
		sameShape(f.String(), dx, o)
		apart(f.String(), dx, o)
	}
	s.a, s.b, s.c, s.d = dx.Data, dy.Data, x.Data, y.Data
	if alone(len(dx.Data), costOf(f)) {
		s.pull(0, len(dx.Data))
		return
	}
	spanJobs.run(s, len(dx.Data), costOf(f), (*spans).pull)
}

// pull adds gradients, or sets them.
func (s *spans) pull(lo, hi int) {
	switch {
	case s.set && s.f == vec.Shift: // a sum's, in one pass; adding to zero leaves no −0
		vec.Shift.Forward(s.a[lo:hi], s.b[lo:hi], 0)
		return
	case s.set:
		clear(s.a[lo:hi])
	}
	s.f.Backward(s.a[lo:hi], s.b[lo:hi], s.c[lo:hi], s.d[lo:hi], s.k)
}

// costOf is the work of an element of f, in elements of a stream.
func costOf(f vec.Unary) int {
	switch f {
	case vec.Scale, vec.Shift, vec.Neg, vec.ReLU, vec.LeakyReLU, vec.Abs, vec.Sign, vec.Square:
		return 1
	}
	return costFunction
}

// Add adds x to d, which have one shape.
func (d *Dense) Add(x *Dense) { d.axpy("Add", x, 1) }

// AddScaled adds c·x to d, which have one shape.
func (d *Dense) AddScaled(x *Dense, c Float) { d.axpy("AddScaled", x, c) }

func (d *Dense) axpy(op string, x *Dense, c Float) {
	sameShape(op, x, d)
	inPlace(op, d, x)
	spanJobs.run(spans{a: d.Data, b: x.Data, k: c}, len(x.Data), 1, func(s *spans, lo, hi int) {
		vec.Axpy(s.a[lo:hi], s.k, s.b[lo:hi])
	})
}

// MulAdd adds the product of x and y, element by element, to dst. All have one
// shape. dst must not overlap the others.
func MulAdd(dst, x, y *Dense) {
	for _, o := range [...]*Dense{x, y} {
		sameShape("MulAdd", dst, o)
		apart("MulAdd", dst, o)
	}
	spanJobs.run(spans{a: dst.Data, b: x.Data, c: y.Data}, len(dst.Data), 1, func(s *spans, lo, hi int) {
		vec.MulAdd(s.a[lo:hi], s.b[lo:hi], s.c[lo:hi])
	})
}

// Unary is a function of one element, which may take a constant c. [Named] finds
// it by its name, which String prints: Scale (c·x), Shift (x + c), Neg, ReLU,
// LeakyReLU (c·x where x is not above 0), ELU (c·(eˣ − 1) there), Sigmoid, Tanh,
// Softplus, SiLU, Exp, Log, Sqrt, Abs, Sign, Square, Reciprocal, GELU, GELUTanh,
// SELU, Sin, Cos and Pow (xᶜ).
type Unary uint8

func (f Unary) String() string { return vec.Unary(f).String() }

// Binary is a function of two elements. [Named] finds it by its name, which String
// prints: Add, Sub, Mul, Div, Min and Max.
type Binary uint8

func (f Binary) String() string { return vec.Binary(f).String() }

// Named returns the function of a name, for [Apply] and [Combine]:
//
//	exp, err := tensor.Named[tensor.Unary]("Exp")
func Named[F Unary | Binary](name string) (F, error) {
	var none F
	names := vec.BinaryNames()
	what := "two elements"
	if _, one := any(none).(Unary); one {
		names, what = vec.UnaryNames(), "one element"
	}
	i := slices.Index(names, name)
	if i < 0 {
		return none, fmt.Errorf("tensor: no function of %s is called %q; there are %s", what, name, strings.Join(names, ", "))
	}
	return F(i), nil
}

package convert

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// field is an array of a state dict: what it is of a layer.
type field struct {
	key      string
	shape    []int
	places   []place      // none: it is read by nobody, and zeros where it is written
	number   *float64     // a number among the layer's fields, for an array of one element
	fill     tensor.Float // what stands where it is written, unless something else does
	optional bool         // it may be missing, and is not written
	any      bool         // it may have any shape
}

// place is a part of an array of a state dict that is a part of a Param: a view of both
// of one shape.
type place struct {
	param *grad.Param
	shape []int
	here  view                              // in the Param
	there view                              // in the array
	extra bool                              // it is added to what others give; where it is written it is zeros
	turn  func(v tensor.Float) tensor.Float // from there to here; nil: the same
	back  func(v tensor.Float) tensor.Float
}

// view is where the elements are.
type view struct {
	offset  int
	strides []int
}

// each calls f with the places of each element in the Param and in the array.
func (p *place) each(f func(here, there int)) {
	here, there := newWalk(p.shape, p.here.offset, p.here.strides), newWalk(p.shape, p.there.offset, p.there.strides)
	for range size(p.shape) {
		f(here.next(), there.next())
	}
}

func (p *place) from(v tensor.Float) tensor.Float { return apply(p.turn, v) }
func (p *place) to(v tensor.Float) tensor.Float   { return apply(p.back, v) }

func apply(f func(v tensor.Float) tensor.Float, v tensor.Float) tensor.Float {
	if f == nil {
		return v
	}
	return f(v)
}

// whole is an array that is a Param, in the same order.
func whole(key string, p *grad.Param, shape ...int) field {
	return field{key: key, shape: shape, places: []place{flat(p, 0, size(shape), 0)}}
}

// flat is n elements of a Param from offset on, in the same order there from element at.
func flat(p *grad.Param, offset, n, at int) place {
	return place{param: p, shape: []int{n}, here: view{offset, []int{1}}, there: view{at, []int{1}}}
}

// turned is rows lo up to hi of a matrix, in×out, that stands there as its transpose,
// from element at on; its rows are width elements apart there.
func turned(p *grad.Param, lo, hi, at, width int) place {
	out := p.Value.Dim(-1)
	return place{param: p, shape: []int{out, hi - lo}, here: view{lo * out, []int{1, out}}, there: view{at, []int{width, 1}}}
}

// added is p, of which the values are added to those of others.
func added(p place) place {
	p.extra = true
	return p
}

// negated is p with the other sign.
func negated(p place) place {
	p.turn = func(v tensor.Float) tensor.Float { return -v }
	p.back = p.turn
	return p
}

// size returns the elements of a shape, of which a scalar has none.
func size(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// sameShape reports whether shapes agree. A scalar is an array of one element.
func sameShape(a, b []int) bool {
	return slices.Equal(a, b) || len(a)+len(b) == 1 && size(a)*size(b) == 1
}

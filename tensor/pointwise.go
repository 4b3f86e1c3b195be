package tensor

import (
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// The functions here set dst to a function of the elements of a and b under
// NumPy's broadcasting: shapes are aligned at the last axis, and a length of 1
// stretches. dst has the shape that a and b share. It may be a or b itself,
// where that has this shape too, but must not overlap them otherwise.

// Add sets dst to a + b, with broadcasting.
func Add(dst, a, b *Dense) { Combine(dst, a, b, Binary(vec.Add)) }

// Sub sets dst to a − b, with broadcasting.
func Sub(dst, a, b *Dense) { Combine(dst, a, b, Binary(vec.Sub)) }

// Mul sets dst to the product of a and b, element by element, with broadcasting.
func Mul(dst, a, b *Dense) { Combine(dst, a, b, Binary(vec.Mul)) }

// Div sets dst to the quotient of a and b, element by element, with
// broadcasting.
func Div(dst, a, b *Dense) { Combine(dst, a, b, Binary(vec.Div)) }

// Min sets dst to the smaller of a and b, and to NaN where either is, with
// broadcasting.
func Min(dst, a, b *Dense) { Combine(dst, a, b, Binary(vec.Min)) }

// Max sets dst to the larger of a and b, and to NaN where either is, with
// broadcasting.
func Max(dst, a, b *Dense) { Combine(dst, a, b, Binary(vec.Max)) }

// Combine sets dst to f of a and b, with broadcasting.
func Combine(dst, a, b *Dense, fn Binary) {
	f := vec.Binary(fn)
	if !broadcasts(dst.Shape(), a.Shape(), b.Shape()) {
		panic(Mismatch("tensor."+f.String(), a, b, dst))
	}
	inPlace(f.String(), dst, a)
	inPlace(f.String(), dst, b)
	c := combination{f: f, z: dst.Data, x: a.Data, y: b.Data, Pairing: Pair(a.Shape(), b.Shape(), dst.Shape())}
	c.cut()
	c.stream = len(c.z) >= cpu.StreamFrom && c.SX == 1 && c.SY == 1 && !overlap(dst.Data, a.Data) && !overlap(dst.Data, b.Data)
	pieces := c.runs() * c.segments
	if pieces > 0 && alone(pieces, c.segment) {
		c.forward(0, pieces)
		return
	}
	combineJobs.run(c, pieces, c.segment, (*combination).forward)
}

// combination is a function of two arrays in pieces: the runs of a Pairing, of
// which a long one is cut into segments.
type combination struct {
	Pairing
	f                 vec.Binary
	z, x, y           []Float // z and, of a gradient, dz
	d                 []Float // the gradient of one operand, which
	second            bool    // is the second
	segment, segments int
	stream            bool // write past the caches
	parts             int  // of a gradient that sums: its parts, and their private sums
	private           []Float
}

var combineJobs jobs[combination]

// cut sets how long segments are and how many there are in a run.
func (c *combination) cut() {
	c.segment = min(max(c.N, 1), share)
	c.segments = (c.N + c.segment - 1) / c.segment
}

// forward computes pieces lo to hi, without hi.
func (c *combination) forward(lo, hi int) {
	w := c.from(lo / c.segments)
	for i := lo; i < hi; i++ {
		at := i % c.segments * c.segment
		if at == 0 && i > lo {
			w.next(&c.Pairing)
		}
		n := min(c.segment, c.N-at)
		z, x, y := c.z[w.z+at:w.z+at+n], c.x[w.x+at*c.SX:], c.y[w.y+at*c.SY:]
		if c.stream {
			c.f.Stream(z, x, y)
		} else {
			c.f.Forward(z, x, y, c.SX, c.SY)
		}
	}
}

// broadcasts reports whether a and b share the shape to. It is [Broadcast]
// without the memory for a shape.
func broadcasts(to, a, b []int) bool {
	if len(to) != max(len(a), len(b)) {
		return false
	}
	for i, n := range to {
		x, y := 1, 1
		if j := i - len(to) + len(a); j >= 0 {
			x = a[j]
		}
		if j := i - len(to) + len(b); j >= 0 {
			y = b[j]
		}
		if x == 1 {
			x = y
		}
		if n != x || y != 1 && y != x {
			return false
		}
	}
	return true
}

package compare

import (
	"math"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// Tolerance says how far a number may be from the one that is wanted. That of the zero value must be equal.
type Tolerance struct {
	abs, rel float64 // abs + rel·size is allowed
	size     size
	terms    []float64
	bits     bool
	nan      bool
}

// size is what an error is measured by.
type size int

const (
	ofNumber      size = iota // |want|
	ofNumberOrOne             // max(1, |want|)
	ofLargest                 // max(1, |want|) of the largest number
	ofTerms                   // given, number by number
)

// Exactly wants numbers that are equal: 0 equals −0.
var Exactly = Tolerance{}

// SameBits wants the bits, so that 0 is not −0.
var SameBits = Tolerance{bits: true}

// Off allows abs + rel·|want|.
func Off(abs, rel float64) Tolerance { return Tolerance{abs: abs, rel: rel} }

// Part allows part·max(1, |want|).
func Part(part float64) Tolerance { return Tolerance{rel: part, size: ofNumberOrOne} }

// PartOfLargest allows part·max(1, max|want|): the same for each number.
func PartOfLargest(part float64) Tolerance { return Tolerance{rel: part, size: ofLargest} }

// PartOfTerms allows abs + rel·size[i] for number i, a sum whose terms have this size: Σ|terms|.
func PartOfTerms(abs, rel float64, size []float64) Tolerance {
	return Tolerance{abs: abs, rel: rel, size: ofTerms, terms: size}
}

// OrNaN lets a NaN be near to NaN, whatever their bits.
func (w Tolerance) OrNaN() Tolerance {
	w.nan = true
	return w
}

// In returns narrow in float32 and wide in a build with the tag f64.
func In(narrow, wide float64) float64 {
	if unsafe.Sizeof(cpu.Float(0)) == 8 {
		return wide
	}
	return narrow
}

// Near reports whether a number is near to the one that is wanted. It is for tolerances that need no other number.
func (w Tolerance) Near(got, want float64) bool {
	return w.holds(got, want, w.allowed(0, want, math.Abs(want)))
}

// allowed returns how far number i may be from want, where the largest is given.
func (w Tolerance) allowed(i int, want, largest float64) float64 {
	switch w.size {
	case ofNumberOrOne:
		return w.abs + w.rel*max(1, math.Abs(want))
	case ofLargest:
		return w.abs + w.rel*max(1, largest)
	case ofTerms:
		return w.abs + w.rel*w.terms[i]
	}
	return w.abs + w.rel*math.Abs(want)
}

// holds reports whether got is want, up to what is allowed.
func (w Tolerance) holds(got, want, allowed float64) bool {
	switch {
	case w.nan && got != got && want != want:
		return true
	case w.bits:
		return got == got && math.Float64bits(got) == math.Float64bits(want)
	case got == want:
		return true
	case math.IsInf(want, 0) || math.IsInf(got, 0):
		return false
	}
	return math.Abs(got-want) <= allowed
}

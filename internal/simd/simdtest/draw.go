package simdtest

import (
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/internal/sparing"
)

// Lengths returns the lengths that a kernel is tried on: all up to 72, which have each rest
// of a division by 64 and less, and beyond, for several rounds, every fifth up to 200, which
// have each rest by 16. If sparing.Full, all up to 200; where there is no assembly, half.
func Lengths() []int {
	var lengths []int
	for n := range 201 {
		if sparing.Full() || n <= 72 || n%5 == 0 {
			lengths = append(lengths, n)
		}
	}
	return sparing.Some(lengths)
}

// Edges returns rows with edges to columns: their offsets, which do not start
// at zero, and the columns of all edges, some of them of no row here.
func Edges(rng *rand.Rand, rows, cols, most int) (offsets []int64, columns []int32) {
	offsets = make([]int64, rows+1)
	offsets[0] = rng.Int64N(5)
	for r := range rows {
		offsets[r+1] = offsets[r] + max(0, rng.Int64N(int64(most)+3)-2)
	}
	columns = make([]int32, offsets[rows]+rng.Int64N(3))
	for k := range columns {
		columns[k] = rng.Int32N(int32(cols))
	}
	return offsets, columns
}

// Positive returns a source of numbers whose sums lose nothing, a few of them special.
func Positive(rng *rand.Rand) func() Float {
	return func() Float {
		if rng.IntN(100) == 0 {
			return Special[rng.IntN(3)] // NaN and both infinities
		}
		return Float(math.Abs(rng.NormFloat64())) + 0.01
	}
}

// Special are the arguments at which functions are cut, or break.
var Special = []Float{
	Float(math.NaN()), Float(math.Inf(1)), Float(math.Inf(-1)), 0, Float(math.Copysign(0, -1)), 1, -1, 0.5, -0.5,
	Float(math.SmallestNonzeroFloat32), -Float(math.SmallestNonzeroFloat32), 1e-39, -1e-39, 1.1754944e-38, 1e-20, -1e-20, 1e-5, -1e-5,
	88.72, 88.73, 89, 90, -87.3, -87.4, -88, -90, -103.9, -104.1, -110, 300, -300, 1e30, -1e30, math.MaxFloat32, -math.MaxFloat32,
}

// Some returns a source of numbers of all sizes, one in eight of them special.
func Some(rng *rand.Rand) func() Float {
	return func() Float {
		switch rng.IntN(8) {
		case 0:
			return Special[rng.IntN(len(Special))]
		case 1:
			return Float(rng.NormFloat64() * 30)
		}
		return Float(rng.NormFloat64())
	}
}

// OneSign is some of what is not negative, so that sums have no infinities of both
// signs.
func OneSign(rng *rand.Rand) func() Float {
	with := Some(rng)
	return func() Float {
		v := with()
		if v < 0 {
			return -v
		}
		return v
	}
}

// Plain returns a source of normal numbers.
func Plain(rng *rand.Rand) func() Float { return func() Float { return Float(rng.NormFloat64()) } }

// Draw returns n numbers of a source.
func Draw(n int, next func() Float) []Float {
	x := make([]Float, n)
	for i := range x {
		x[i] = next()
	}
	return x
}

// NearOne draws from [0.5, 1.5).
func NearOne(rng *rand.Rand) func() Float {
	return func() Float { return Float(0.5 + rng.Float64()) }
}

// Index returns n numbers below most.
func Index(rng *rand.Rand, n, most int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = rng.Int32N(int32(most))
	}
	return out
}

package simdtest

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/sparing"
)

// Lengths returns the lengths that a kernel is tried on: all up to 40, which have each rest
// of a division by 32 and less, up to 72 those on either side of a whole register of 8, and
// beyond, for several rounds, every fifteenth up to 200, each of another rest by 16. If
// sparing.Full, all up to 200; where there is no assembly, half.
func Lengths() []int {
	var lengths []int
	for n := range 201 {
		if sparing.Full() || n <= 40 || n <= 72 && (n+1)%8 <= 2 || n%15 == 0 {
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

// source is a kind of numbers. Many of them are drawn once, since to draw each takes longer
// than to compute with it; they come one after the other, from a place that is drawn.
type source func() []Float

// newSource returns that of what draw returns.
func newSource(draw func(rng *rand.Rand) Float) source {
	return sync.OnceValue(func() []Float {
		rng, all := rand.New(rand.NewPCG(7, 1)), make([]Float, 16381) // a prime number: no rows are alike
		for i := range all {
			all[i] = draw(rng)
		}
		return all
	})
}

// from returns the numbers from a random place on.
func (s source) from(rng *rand.Rand) func() Float {
	all := s()
	at := rng.IntN(len(all))
	return func() Float {
		if at++; at >= len(all) {
			at = 0
		}
		return all[at]
	}
}

var positive = newSource(func(rng *rand.Rand) Float {
	if rng.IntN(100) == 0 {
		return Special[rng.IntN(3)] // NaN and both infinities
	}
	return Float(math.Abs(rng.NormFloat64())) + 0.01
})

// Positive returns a source of numbers whose sums lose nothing, a few of them special.
func Positive(rng *rand.Rand) func() Float { return positive.from(rng) }

// Special are the arguments at which functions are cut, or break.
var Special = []Float{
	Float(math.NaN()), Float(math.Inf(1)), Float(math.Inf(-1)), 0, Float(math.Copysign(0, -1)), 1, -1, 0.5, -0.5,
	Float(math.SmallestNonzeroFloat32), -Float(math.SmallestNonzeroFloat32), 1e-39, -1e-39, 1.1754944e-38, 1e-20, -1e-20, 1e-5, -1e-5,
	88.72, 88.73, 89, 90, -87.3, -87.4, -88, -90, -103.9, -104.1, -110, 300, -300, 1e30, -1e30, math.MaxFloat32, -math.MaxFloat32,
}

var some = newSource(func(rng *rand.Rand) Float {
	switch rng.IntN(8) {
	case 0:
		return Special[rng.IntN(len(Special))]
	case 1:
		return Float(rng.NormFloat64() * 30)
	}
	return Float(rng.NormFloat64())
})

// Some returns a source of numbers of all sizes, one in eight of them special.
func Some(rng *rand.Rand) func() Float { return some.from(rng) }

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

var plain = newSource(func(rng *rand.Rand) Float { return Float(rng.NormFloat64()) })

// Plain returns a source of normal numbers.
func Plain(rng *rand.Rand) func() Float { return plain.from(rng) }

// Draw returns n numbers of a source.
func Draw(n int, next func() Float) []Float {
	x := make([]Float, n)
	for i := range x {
		x[i] = next()
	}
	return x
}

var nearOne = newSource(func(rng *rand.Rand) Float { return Float(0.5 + rng.Float64()) })

// NearOne returns a source of numbers of [0.5, 1.5).
func NearOne(rng *rand.Rand) func() Float { return nearOne.from(rng) }

// Index returns n numbers below most.
func Index(rng *rand.Rand, n, most int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = rng.Int32N(int32(most))
	}
	return out
}

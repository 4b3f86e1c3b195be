//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// number is what the plain twins of kernels are made of: float32, and float64 for what is true.
type number interface{ float32 | float64 }

// guard stands around the arrays that kernels are given.
const guard = float32(-12345.5)

// room is an array between guards, not aligned.
type room struct {
	all  []float32
	x    []float32
	from int
}

// drawn returns a room of n numbers. Behind some, memory cannot be read either.
func drawn(rng *rand.Rand, n int, next func() float32) *room {
	r := &room{from: 8 + rng.IntN(4)}
	if r.all = make([]float32, n+r.from+8); rng.IntN(8) == 0 && n > 0 {
		r.all = paged(n + r.from)
	}
	for i := range r.all {
		r.all[i] = guard
	}
	r.x = r.all[r.from : r.from+n : r.from+n]
	for i := range r.x {
		r.x[i] = next()
	}
	return r
}

// at is the place of element i.
func (r *room) at(i int) unsafe.Pointer { return unsafe.Pointer(&r.all[r.from+i]) }

// intact fails the test where a guard is gone.
func (r *room) intact(t *testing.T, what string) {
	t.Helper()
	for i, v := range r.all {
		if (i < r.from || i >= r.from+len(r.x)) && v != guard {
			t.Fatalf("%s: wrote outside, at %d of %d", what, i-r.from, len(r.x))
		}
	}
}

// begin is where a slice begins.
func begin[T any](x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

// wide is a slice in float64.
func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// positive and normal draw numbers.
func positive(rng *rand.Rand) func() float32 { return func() float32 { return rng.Float32() + 0.1 } }
func normal(rng *rand.Rand) func() float32 {
	return func() float32 { return float32(rng.NormFloat64()) }
}

// near fails the test where got is further from what is true than so many roundings of
// it, or some of the smallest numbers.
func near(t *testing.T, what string, got []float32, want []float64, roundings float64) {
	t.Helper()
	for i, w := range want {
		g := float64(got[i])
		if g == w || math.IsNaN(g) && math.IsNaN(w) || float64(float32(w)) == g {
			continue
		}
		if off := math.Abs(g - w); !(off <= roundings*0x1p-24*math.Abs(w)+1e-42) {
			t.Fatalf("%s: element %d is %v, want %v: %.3g roundings", what, i, g, w, off/math.Abs(w)*0x1p24)
		}
	}
}

// list is a random matrix: offsets of rows and columns of nonzeros.
func list(rng *rand.Rand, rows, cols, most int) (offsets []int64, columns, edges []int32) {
	offsets = make([]int64, rows+1)
	offsets[0] = rng.Int64N(3)
	for i := range rows {
		offsets[i+1] = offsets[i] + rng.Int64N(int64(most)+1)
	}
	n := int(offsets[rows])
	columns, edges = make([]int32, n), make([]int32, n)
	for k := range columns {
		columns[k] = rng.Int32N(int32(cols))
	}
	for k, e := range rng.Perm(n) {
		edges[k] = int32(e)
	}
	return offsets, columns, edges
}

// each runs a test of random numbers several times.
func each(t *testing.T, times int, f func(t *testing.T, rng *rand.Rand)) {
	t.Helper()
	for seed := range times {
		f(t, rand.New(rand.NewPCG(uint64(seed+1000*1), 7)))
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

// named is what a test says of a case.
func named(format string, args ...any) string { return fmt.Sprintf(format, args...) }

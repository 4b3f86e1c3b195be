package spmm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

func checkValues(t *testing.T, rng *rand.Rand, rows, most int) {
	t.Helper()
	o, c := simdtest.Edges(rng, rows, 5000, most)
	d := vec.NewDropout(rng.Uint64(), 1, 1, 0.6)
	row := rng.IntN(1 << 20)
	next := simdtest.Some(rng)
	what := fmt.Sprintf("Values.Drop of %d rows", rows)
	simdtest.Trial(t, what, 0, [][]Float{simdtest.Draw(len(c), next), simdtest.Draw(len(c), next)}, func(s [][]Float) {
		v := Values{Offsets: o, Cols: c, From: s[0], To: s[1], Row: row}
		v.Drop(&d)
	})
	simdtest.Trial(t, what+" in place", 0, [][]Float{simdtest.Draw(len(c), next)}, func(s [][]Float) {
		v := Values{Offsets: o, Cols: c, From: s[0], To: s[0], Row: row}
		v.Drop(&d)
	})
}

func TestAsmValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 1))
	for rows := range 50 {
		checkValues(t, rng, rows, 20)
	}
	for _, most := range simdtest.Lengths() {
		checkValues(t, rng, 2, most)
	}
}

func FuzzValues(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(8))
	f.Fuzz(func(t *testing.T, seed uint64, rows, most uint8) {
		checkValues(t, rand.New(rand.NewPCG(seed, 0)), int(rows), int(most))
	})
}

// kept is what Values.Keep leaves.
type kept struct {
	values []Float
	cols   []int32
	starts []int64
	intact bool
}

// keep runs Values.Keep, with guard words around all that it writes.
func keep(o []int64, c []int32, from []Float, d *vec.Dropout, row, shift int) kept {
	first := int64(shift)
	n := int(first+o[len(o)-1]-o[0]) + KeepRoom
	values, okValues := simdtest.Guarded(n, shift, func() Float { return 7 })
	cols := make([]int32, n+16)
	for i := range cols {
		cols[i] = -9
	}
	starts := make([]int64, len(o)+1)
	starts[0], starts[len(o)] = first, -9
	v := Values{Offsets: o, Cols: c, From: from, Row: row, ToCols: cols[:n:n], Kept: values, Starts: starts[:len(o)]}
	v.Keep(d)
	ok := okValues() && starts[len(o)] == -9
	for _, c := range cols[n:] {
		ok = ok && c == -9
	}
	for i := range shift {
		ok = ok && cols[i] == -9 && values[i] == 7
	}
	end := starts[len(o)-1]
	return kept{values[first:end], cols[first:end], starts[:len(o)], ok}
}

// checkKept compares Values.Keep with Drop and what is not zero of it.
func checkKept(t *testing.T, rng *rand.Rand, rows, most int) {
	t.Helper()
	o, c := simdtest.Edges(rng, rows, 5000, most)
	d := vec.NewDropout(rng.Uint64(), 1, 1, 0.6)
	next := simdtest.Some(rng)
	from := simdtest.Draw(len(c), func() Float {
		if rng.IntN(9) == 0 {
			return 0
		}
		return next()
	})
	row, shift := rng.IntN(1<<20), rng.IntN(8)
	got := keep(o, c, from, &d, row, shift)
	undo := cpu.Disable()
	want := keep(o, c, from, &d, row, shift)
	undo()
	if !got.intact || !want.intact {
		t.Fatalf("%d rows: wrote outside a slice", rows)
	}
	same := compare.Exactly.OrNaN()
	compare.Near(t, fmt.Sprintf("%d rows, from %v: what is kept, and in plain Go", rows, from), got.values, want.values, same)
	if !slices.Equal(got.cols, want.cols) || !slices.Equal(got.starts, want.starts) {
		t.Fatalf("%d rows, from %v: kept columns %v from %v, in plain Go %v from %v", rows, from, got.cols, got.starts, want.cols, want.starts)
	}
	dropped := make([]Float, len(c))
	v := Values{Offsets: o, Cols: c, From: from, To: dropped, Row: row}
	v.Drop(&d)
	at := 0
	for k := o[0]; k < o[rows]; k++ {
		if x := dropped[k]; x != 0 {
			if at == len(got.values) || !same.Near(float64(got.values[at]), float64(x)) || got.cols[at] != c[k] {
				t.Fatalf("nonzero %d, %v in column %d, is not number %d of what is kept", k, x, c[k], at)
			}
			at++
		}
	}
	if at != len(got.values) {
		t.Fatalf("kept %d, want %d", len(got.values), at)
	}
}

func TestAsmKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 1))
	for rows := 1; rows < 50; rows++ {
		checkKept(t, rng, rows, 20)
	}
	for _, most := range simdtest.Lengths() {
		checkKept(t, rng, 2, most)
	}
}

func FuzzKept(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(8))
	f.Fuzz(func(t *testing.T, seed uint64, rows, most uint8) {
		checkKept(t, rand.New(rand.NewPCG(seed, 0)), 1+int(rows), int(most))
	})
}

package vec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// repeated returns rows times row.
func repeated(row []Float, rows int) []Float { return slices.Repeat(row, rows) }

// Kernels of a norm of columns have the bits of the steps that they are made of, each on its
// own: what is beyond a call, or past 32 and 8 columns, is no other arithmetic.
func TestCentredSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for _, d := range []int{1, 7, 8, 9, 31, 32, 33, 71, 700} {
		for _, rows := range []int{1, 2, 64, 65} {
			n, next := d*rows, simdtest.Some(rng)
			x, dy, centre, y := simdtest.Draw(n, next), simdtest.Draw(n, next), simdtest.Draw(d, next), simdtest.Draw(n, next)
			o, g, none := make([]Float, n), make([]Float, n), []Float(nil)
			Sub.Forward(o, x, repeated(centre, rows), 1, 1)
			ReLU.SetBackward(g, dy, y, y, 0)
			squares, dots, sums, plain := simdtest.Draw(d, next), make([]Float, d), make([]Float, d), make([]Float, d)
			want, wantDots, wantSums, wantPlain := slices.Clone(squares), make([]Float, d), make([]Float, d), make([]Float, d)
			part := make([]Float, n)
			Square.Forward(part, o, 0)
			AddRows(want, part)
			Mul.Forward(part, o, g, 1, 1)
			AddRows(wantDots, part)
			AddRows(wantSums, g)
			Mul.Forward(part, o, dy, 1, 1)
			AddRows(wantPlain, part)
			CentredSquares(squares, x, centre)
			CentredDots(dots, sums, dy, y, x, centre)
			CentredDots(plain, make([]Float, d), dy, nil, x, centre)
			for name, pair := range map[string][2][]Float{"squares": {squares, want}, "dots": {dots, wantDots}, "sums": {sums, wantSums}, "dots without ReLU": {plain, wantPlain}} {
				for j, v := range pair[0] {
					if v != pair[1][j] && (v == v || pair[1][j] == pair[1][j]) {
						t.Fatalf("%s of %d rows of %d: column %d is %v, want %v", name, rows, d, j, v, pair[1][j])
					}
				}
			}
			what := fmt.Sprintf("%d rows of %d", rows, d)
			simdtest.Trial(t, "CentredSquares, "+what, 0, [][]Float{squares, x, centre}, func(s [][]Float) { CentredSquares(s[0], s[1], s[2]) })
			simdtest.Trial(t, "CentredDots, "+what, 0, [][]Float{dots, sums, dy, y, x, centre}, func(s [][]Float) { CentredDots(s[0], s[1], s[2], s[3], s[4], s[5]) })
			simdtest.Trial(t, "CentredDots without ReLU, "+what, 0, [][]Float{dots, sums, dy, none, x, centre}, func(s [][]Float) { CentredDots(s[0], s[1], s[2], nil, s[4], s[5]) })
		}
	}
}

func TestAsmStandardise(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 2))
	for _, n := range []int{0, 1, 7, 8, 9, 31, 32, 33, 100, 1<<14 + 9} {
		s := make([][]Float, 8)
		for i := range s {
			s[i] = simdtest.Draw(n, simdtest.Some(rng))
		}
		for _, yes := range []bool{false, true} {
			what := fmt.Sprintf("%v of %d", yes, n)
			simdtest.Trial(t, "Standardise with ReLU "+what, 0, s, func(s [][]Float) { (&Columns{s[2], s[3], s[4]}).Standardise(s[0], s[1], yes) })
			simdtest.Trial(t, "Standardise without bias, with ReLU "+what, 0, s, func(s [][]Float) { (&Columns{s[2], s[3], nil}).Standardise(s[0], s[1], yes) })
			simdtest.Trial(t, "Standardise in place, with ReLU "+what, 0, s, func(s [][]Float) { (&Columns{s[2], s[3], s[4]}).Standardise(s[1], s[1], yes) })
			of := func(s [][]Float) *ColumnSlopes { return &ColumnSlopes{s[4], s[5], s[6], s[7]} }
			simdtest.Trial(t, "ColumnSlopes.Grad set "+what, 0, s, func(s [][]Float) { of(s).Grad(s[0], s[1], s[2], s[3], yes) })
			simdtest.Trial(t, "ColumnSlopes.Grad without ReLU, set "+what, 0, s, func(s [][]Float) { of(s).Grad(s[0], s[1], nil, s[3], yes) })
		}
	}
}

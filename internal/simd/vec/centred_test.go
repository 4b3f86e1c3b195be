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

// Sums of a norm's columns have the bits of the steps that they are made of, each on its own:
// what is beyond a call, or past 32 and 8 columns, is no other arithmetic.
func TestCentredSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for _, d := range []int{1, 7, 8, 9, 31, 32, 33, 71, 700} {
		for _, rows := range []int{1, 2, 64, 65} {
			n, next := d*rows, simdtest.Some(rng)
			x, dy := simdtest.Draw(n, next), simdtest.Draw(n, next)
			c := Columns{simdtest.Draw(d, next), simdtest.Draw(d, next), simdtest.Draw(d, next)}
			y, o, g, part := make([]Float, n), make([]Float, n), make([]Float, n), make([]Float, n)
			(&Columns{repeated(c.Centre, rows), repeated(c.Scale, rows), repeated(c.Bias, rows)}).Standardise(y, x, true)
			Sub.Forward(o, x, repeated(c.Centre, rows), 1, 1)
			ReLU.SetBackward(g, dy, y, y, 0)
			none := func() []Float { return make([]Float, d) }
			squares, dots, sums, plainDots, plainSums := simdtest.Draw(d, next), none(), none(), none(), none()
			want, wantDots, wantSums, wantPlain, wantPlainSums := slices.Clone(squares), none(), none(), none(), none()
			Square.Forward(part, o, 0)
			AddRows(want, part)
			Mul.Forward(part, o, g, 1, 1)
			AddRows(wantDots, part)
			AddRows(wantSums, g)
			Mul.Forward(part, o, dy, 1, 1)
			AddRows(wantPlain, part)
			AddRows(wantPlainSums, dy)
			CentredSquares(squares, x, c.Centre)
			c.ReLUDots(dots, sums, dy, x)
			CentredDots(plainDots, plainSums, dy, x, c.Centre)
			for name, pair := range map[string][2][]Float{"squares": {squares, want}, "ReLU dots": {dots, wantDots}, "ReLU sums": {sums, wantSums}, "dots": {plainDots, wantPlain}, "sums": {plainSums, wantPlainSums}} {
				for j, v := range pair[0] {
					if v != pair[1][j] && (v == v || pair[1][j] == pair[1][j]) {
						t.Fatalf("%s of %d rows of %d: column %d is %v, want %v", name, rows, d, j, v, pair[1][j])
					}
				}
			}
			what := fmt.Sprintf("%d rows of %d", rows, d)
			simdtest.Trial(t, "CentredSquares, "+what, 0, [][]Float{squares, x, c.Centre}, func(s [][]Float) { CentredSquares(s[0], s[1], s[2]) })
			simdtest.Trial(t, "ReLUDots, "+what, 0, [][]Float{dots, sums, dy, x, c.Centre, c.Scale, c.Bias}, func(s [][]Float) { (&Columns{s[4], s[5], s[6]}).ReLUDots(s[0], s[1], s[2], s[3]) })
			simdtest.Trial(t, "CentredDots, "+what, 0, [][]Float{dots, sums, dy, x, c.Centre}, func(s [][]Float) { CentredDots(s[0], s[1], s[2], s[3], s[4]) })
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
			of := func(s [][]Float) *ColumnSlopes { return &ColumnSlopes{s[3], s[4], s[5], s[6], s[7]} }
			simdtest.Trial(t, "ColumnSlopes.Grad, set "+what, 0, s, func(s [][]Float) { of(s).Grad(s[0], s[1], s[2], yes) })
			simdtest.Trial(t, "ColumnSlopes.ReLUGrad, set "+what, 0, s, func(s [][]Float) { of(s).ReLUGrad(s[0], s[1], s[2], yes) })
		}
		// A ReLU's slope is that of its result, and what it leaves has no other gradient.
		y, dy, dx, want := make([]Float, n), make([]Float, n), make([]Float, n), make([]Float, n)
		(&Columns{s[3], s[6], s[7]}).Standardise(y, s[2], true)
		ReLU.SetBackward(dy, s[1], y, y, 0)
		of := &ColumnSlopes{s[3], s[4], s[5], s[6], s[7]}
		of.ReLUGrad(dx, s[1], s[2], true)
		of.Grad(want, dy, s[2], true)
		for i, v := range dx {
			if v != want[i] && (v == v || want[i] == want[i]) {
				t.Fatalf("element %d of %d: the gradient is %v, that of the slope %v", i, n, v, want[i])
			}
		}
	}
}

package vec

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// dotOf is the sum of float64 products that OffsetRows promises, in its
// order.
func dotOf(x, y []Float) float64 {
	var four [4]float64
	for j, v := range x {
		k := j % 4
		if j >= len(x)/4*4 {
			k = 0
		}
		four[k] += float64(v) * float64(y[j])
	}
	return (four[0] + four[1]) + (four[2] + four[3])
}

// Sums of rows without their means have the bits of those that are taken one row at a
// time, however many rows there are, and g those of its products.
func TestOffsetSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, d := range []int{1, 3, 4, 7, 8, 20, 33, 16390} {
		for rows := range 8 {
			if d > 100 && rows%3 != 1 {
				continue
			}
			x, dy := simdtest.Draw(rows*d, simdtest.NearOne(rng)), simdtest.Draw(rows*d, simdtest.NearOne(rng))
			mean, rest, gain := simdtest.Draw(rows, simdtest.NearOne(rng)), make([]Float, rows), simdtest.Draw(d, simdtest.NearOne(rng))
			for i := range rest {
				rest[i] = 1e-8 * Float(i-2)
			}
			squares, dots, plain, g := make([]float64, rows), make([]float64, rows), make([]float64, rows), make([]Float, rows*d)
			of := OffsetRows{x, mean, rest}
			of.Squares(squares)
			of.Dots(dots, g, dy, gain)
			of.Dots(plain, nil, dy, nil)
			for i := range rows {
				row, by := slices.Clone(x[i*d:i*d+d]), slices.Clone(dy[i*d:i*d+d])
				for j := range row {
					row[j] = row[j] - mean[i] - rest[i]
				}
				if want := dotOf(row, row); squares[i] != want {
					t.Errorf("%d rows of %d: squares of row %d are %v, want %v", rows, d, i, squares[i], want)
				}
				if want := dotOf(by, row); plain[i] != want {
					t.Errorf("%d rows of %d: the product of row %d is %v, want %v", rows, d, i, plain[i], want)
				}
				for j := range by {
					by[j] *= gain[j]
				}
				if want := dotOf(by, row); dots[i] != want {
					t.Errorf("%d rows of %d: with a gain the product of row %d is %v, want %v", rows, d, i, dots[i], want)
				}
				if !slices.Equal(g[i*d:i*d+d], by) {
					t.Errorf("%d rows of %d: g of row %d is %v, want %v", rows, d, i, g[i*d:i*d+d], by)
				}
			}
		}
	}
}

func TestAsmNormalise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	m := Moments{Mean: 0.9, Rest: 2e-8, Scale: 1.7}
	for _, size := range []int{0, 1, 7, 8, 9, 16, 17, 33, 100, 20000} {
		s := make([][]Float, 4)
		for i := range s {
			s[i] = simdtest.Draw(size, simdtest.NearOne(rng))
		}
		simdtest.Trial(t, "Normalise", 0, s, func(s [][]Float) { Normalise(s[0], s[1], s[2], s[3], m) })
		simdtest.Trial(t, "Normalise in place of with", 0, s, func(s [][]Float) { Normalise(s[3], s[1], s[2], s[3], m) })
		simdtest.Trial(t, "Normalise without a gain", 0, s, func(s [][]Float) { Normalise(s[0], s[1], nil, s[3], m) })
		simdtest.Trial(t, "Normalise with nothing", 0, s, func(s [][]Float) { Normalise(s[0], s[1], s[2], nil, m) })
		simdtest.Trial(t, "Normalise alone", 0, s, func(s [][]Float) { Normalise(s[0], s[1], nil, nil, m) })
		simdtest.Trial(t, "NormaliseSums", 0, s, func(s [][]Float) { NormaliseSums(s[0], s[1], s[2], s[3], m) })
		simdtest.Trial(t, "NormaliseSums of a gain", 0, s, func(s [][]Float) { NormaliseSums(s[0], nil, s[2], s[3], m) })
		for _, set := range []bool{false, true} {
			simdtest.Trial(t, "NormaliseGrad", 0, s, func(s [][]Float) { NormaliseGrad(s[0], s[1], s[2], m, Line{-0.3, 0.2}, set) })
		}
	}
}

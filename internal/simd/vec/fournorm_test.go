package vec

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// Numbers of one sign, so that nothing cancels.
func TestFourNorms(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	a, b := Moments{Mean: -0.3, Rest: 2e-8, Scale: 1.7}, Moments{Mean: -0.9, Rest: -1e-8, Scale: 0.6}
	of := Line{Slope: 0.8, At0: 0.1}
	row := func(s [][]Float, m Moments) NormRow { return NormRow{s[0], s[1], m} }
	for _, size := range []int{0, 1, 7, 8, 9, 16, 31, 32, 33, 47, 100, cpu.AtOnce + 5} {
		var s [][]Float
		for range 6 {
			s = append(s, simdtest.Draw(size, simdtest.NearOne(rng)))
		}
		s = append(s, make([]Float, 2))
		sums := func(sum, other float64) []Float { return []Float{Float(sum), Float(other)} }
		simdtest.Trial(t, "FourMoments", 1e-6, s, func(s [][]Float) { copy(s[6], sums(FourMoments(s[0], -0.2))) })
		simdtest.Trial(t, "NormaliseWith", 1e-6, s, func(s [][]Float) { row(s, a).NormaliseWith(row(s[2:], b), s[4], s[5]) })
		simdtest.Trial(t, "NormaliseWith in a row's place", 1e-6, s, func(s [][]Float) { row(s, a).NormaliseWith(row(s[2:], b), s[2], nil) })
		simdtest.Trial(t, "GradSums", 1e-6, s, func(s [][]Float) { copy(s[6], sums(row(s, a).GradSums(s[3], s[4], s[2]))) })
		simdtest.Trial(t, "GradSums without a bias", 1e-6, s, func(s [][]Float) { copy(s[6], sums(row(s, a).GradSums(s[3], nil, s[2]))) })
		for _, set := range []bool{false, true} {
			simdtest.Trial(t, "Grad", 1e-6, s, func(s [][]Float) { row(s, a).Grad(s[3], s[2], of, set) })
		}
	}
}

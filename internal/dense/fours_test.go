package dense_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// exactNorm is a normalised row and its gradient in float64, with those of the gain, and how
// large the terms of the gradient are.
func exactNorm(x, gain, dy []tensor.Float, eps float64) (y, dx, dgain []float64, terms float64) {
	d := float64(len(x))
	mean, variance, sum, dot := 0.0, 0.0, 0.0, 0.0
	for _, v := range x {
		mean += float64(v) / d
	}
	for _, v := range x {
		variance += (float64(v) - mean) * (float64(v) - mean) / d
	}
	scale := 1 / math.Sqrt(variance+eps)
	for j, v := range x {
		y, dgain = append(y, (float64(v)-mean)*scale), append(dgain, float64(dy[j])*(float64(v)-mean)*scale)
		sum += float64(dy[j]) * float64(gain[j]) / d
		dot += float64(dy[j]) * float64(gain[j]) * y[j] / d
	}
	for j := range x {
		g := float64(dy[j]) * float64(gain[j])
		dx, terms = append(dx, scale*(g-sum-y[j]*dot)), max(terms, scale*(math.Abs(g)+math.Abs(sum)+math.Abs(y[j]*dot)))
		y[j] *= float64(gain[j])
	}
	return y, dx, dgain, terms
}

// Sums of four in float32 give what sums in float64 give, but for the last bit of a number as large
// as the largest there is or, of a gradient, as its terms, however far from zero the row lies.
func TestFours(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	for _, d := range []int{1, 2, 5, 31, 32, 128, 512, 1003} {
		for _, far := range []float64{0, 1, -30, 1e4, 1e6} {
			x, gain, dy := make([]tensor.Float, d), make([]tensor.Float, d), make([]tensor.Float, d)
			for j := range x {
				x[j], gain[j], dy[j] = tensor.Float(far+rng.NormFloat64()), tensor.Float(1+0.2*rng.NormFloat64()), tensor.Float(rng.NormFloat64())
			}
			y, dx, dgain, terms := exactNorm(x, gain, dy, 1e-5)
			room := make([]tensor.Float, 3)
			n := dense.LayerNorm{X: x, D: d, Gain: gain, Eps: 1e-5, Mean: room[:1], Rest: room[1:2], Scale: room[2:]}
			slow, slowX, slowGain := make([]tensor.Float, d), make([]tensor.Float, d), make([]tensor.Float, d)
			n.Forward(slow)
			n.Backward(dense.NormGrads{X: slowX, Gain: slowGain}, dy)
			n.FourMoments(0)
			got, gotX, gotGain := make([]tensor.Float, d), make([]tensor.Float, d), make([]tensor.Float, d)
			vec.Normalise(got, x, gain, nil, n.NormRow(0).Moments)
			to := dense.NormGrads{X: gotX, Gain: gotGain, SetX: true}
			n.FourGrad(to, dy, 0, n.FourSums(to, dy, 0))
			for what, of := range map[string]struct {
				slow, got []tensor.Float
				want      []float64
				most      float64
			}{"row": {slow, got, y, 1}, "gradient": {slowX, gotX, dx, terms}, "gain's gradient": {slowGain, gotGain, dgain, 1}} {
				worst, most := 0.0, of.most
				for j, v := range of.want {
					worst, most = max(worst, math.Abs(float64(of.slow[j])-v)), max(most, math.Abs(v))
				}
				compare.Near(t, fmt.Sprintf("%d elements about %v: the %s", d, far, what), of.got, of.want, compare.Off(worst+most*0x1p-23, 0))
			}
		}
	}
}

// A row of one number is its bias, and one whose squares are no numbers is normalised all the same.
func TestFoursOfOddRows(t *testing.T) {
	for _, size := range []int{3, 8, 40, 515} {
		for _, unit := range []float64{0, 0.1, 1e-30, 3e19, 1e30} {
			for _, spread := range []float64{0, 1} {
				x := make([]tensor.Float, size)
				for j := range x {
					x[j] = tensor.Float(unit * (1 + spread*float64(j%3)))
				}
				room := make([]tensor.Float, 6)
				n := dense.LayerNorm{X: x, D: size, Eps: 1e-5, Mean: room[:1], Rest: room[1:2], Scale: room[2:3]}
				n.Forward(make([]tensor.Float, size))
				got := dense.LayerNorm{X: x, D: size, Eps: 1e-5, Mean: room[3:4], Rest: room[4:5], Scale: room[5:]}
				got.FourMoments(0)
				if want, s := float64(n.Scale[0]), float64(got.Scale[0]); !(math.Abs(s-want) <= 1e-6*want) || spread == 0 && !slices.Equal(room[3:5], room[:2]) {
					t.Errorf("%d of %v, spread %v: mean %v + %v and scale %v, want %v", size, unit, spread, got.Mean, got.Rest, got.Scale, room[:3])
				}
			}
		}
	}
	bad := dense.LayerNorm{X: []tensor.Float{1, tensor.Float(math.NaN())}, D: 2, Mean: make([]tensor.Float, 1), Rest: make([]tensor.Float, 1), Scale: make([]tensor.Float, 1)}
	if bad.FourMoments(0); bad.Scale[0] == bad.Scale[0] {
		t.Errorf("the scale of a row with a NaN is %v", bad.Scale[0])
	}
}

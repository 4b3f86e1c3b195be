package dense

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// These passes over one row have sums of four elements in float32, and of those in float64. That
// is as good as all in float64 where what is added is about zero, beside its spread: a row that
// lies far from zero is taken from there in a second pass, and one whose squares are no numbers
// is added in float64.

// FourMoments sets Mean, Rest and Scale of row i.
func (n *LayerNorm) FourMoments(i int) {
	x, d := n.row(n.X, i), float64(n.D)
	sum, squares := vec.FourMoments(x, 0)
	mean := sum / d
	variance := squares/d - mean*mean
	if !(mean*mean <= variance) { // most of the squares is the mean's, or there is a NaN
		shift := tensor.Float(mean)
		sum, squares = vec.FourMoments(x, shift)
		rest := sum / d
		mean, variance = float64(shift)+rest, squares/d-rest*rest
		if !(rest*rest <= variance) {
			variance = math.NaN()
		}
	}
	if math.IsNaN(variance) || math.IsInf(variance, 0) {
		n.setMoments(part{i, i + 1})
		return
	}
	n.setMean(i, mean)
	n.Scale[i] = inverseRoot(variance, n.Eps)
}

// NormRow is row i, whose moments are set. There is a Gain.
func (n *LayerNorm) NormRow(i int) vec.NormRow {
	return vec.NormRow{X: n.row(n.X, i), Gain: n.Gain, Moments: n.moments(i)}
}

// FourSums adds what row i contributes to the gradients of Gain and, unless to has none, of Bias,
// and returns the line of its own gradient, over Scale. dy is for the row. There is a Gain.
func (n *LayerNorm) FourSums(to NormGrads, dy []tensor.Float, i int) vec.Line {
	r := n.NormRow(i)
	sum, dot := r.GradSums(to.Gain, to.Bias, dy)
	by := -1 / float64(n.D)
	return vec.Line{Slope: tensor.Float(by * float64(r.Scale) * dot), At0: tensor.Float(by * sum)}
}

// FourGrad sets or adds to row i of the gradient of X, unless none is wanted.
func (n *LayerNorm) FourGrad(to NormGrads, dy []tensor.Float, i int, of vec.Line) {
	if to.X != nil {
		n.NormRow(i).Grad(n.row(to.X, i), dy, of, to.SetX)
	}
}

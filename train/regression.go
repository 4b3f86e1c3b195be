package train

import (
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// MAE returns the mean of |prediction − target| over all elements whose target is not
// NaN, which stands for one that is not known; NaN of none. The shapes are equal.
func MAE(predictions, targets *tensor.Dense) float64 {
	sum, n := 0.0, 0
	numbers("train.MAE", predictions, targets, func(x, y float64) {
		sum += math.Abs(x - y)
		n++
	})
	return sum / float64(n)
}

// RMSE returns the root of the mean of (prediction − target)². Its arguments are
// those of [MAE].
func RMSE(predictions, targets *tensor.Dense) float64 {
	sum, n := 0.0, 0
	numbers("train.RMSE", predictions, targets, func(x, y float64) {
		sum += (x - y) * (x - y)
		n++
	})
	return math.Sqrt(sum / float64(n))
}

// R2 returns the coefficient of determination, 1 − Σ(x−y)²/Σ(y−ȳ)²: 1 is perfect, 0
// as good as always giving the mean of the targets, and less is worse. It is NaN if
// the targets are all equal. Its arguments are those of [MAE].
func R2(predictions, targets *tensor.Dense) float64 {
	mean, n := 0.0, 0
	numbers("train.R2", predictions, targets, func(_, y float64) {
		mean += y
		n++
	})
	mean /= float64(n)
	left, all := 0.0, 0.0
	numbers("train.R2", predictions, targets, func(x, y float64) {
		left += (x - y) * (x - y)
		all += (y - mean) * (y - mean)
	})
	if all == 0 {
		return math.NaN()
	}
	return 1 - left/all
}

// numbers calls f for each element whose target is known.
func numbers(op string, predictions, targets *tensor.Dense, f func(x, y float64)) {
	if !slices.Equal(predictions.Shape(), targets.Shape()) {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{predictions.Shape(), targets.Shape()}, Why: "each prediction has a target"})
	}
	for i, x := range predictions.Data {
		if y := float64(targets.Data[i]); y == y {
			f(float64(x), y)
		}
	}
}

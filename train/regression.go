package train

import (
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Errors say how far numbers are from those that were to be predicted.
type Errors struct {
	MAE  float64 // the mean of |prediction − target|
	RMSE float64 // the root of the mean of (prediction − target)²
	R2   float64 // 1 − Σ(x−y)²/Σ(y−ȳ)²: 1 is perfect, 0 as good as always giving the mean of the targets; NaN if these are all equal
}

// MeasureNumbers returns the errors over all elements whose target is not NaN, which
// stands for one that is not known; NaN of none. The shapes are equal. Columns count as one list, with one
// mean: of numbers of several kinds take a column at a time, and then the mean of the R2.
func MeasureNumbers(predictions, targets *tensor.Dense) Errors {
	if predictions == nil || targets == nil || !slices.Equal(predictions.Shape(), targets.Shape()) {
		panic(&tensor.ShapeError{Op: "train.MeasureNumbers", Shapes: [][]int{shapeOf(predictions), shapeOf(targets)}, Why: "each prediction has a target"})
	}
	var n, mean, absolute, squares, about float64
	for i, v := range targets.Data {
		if y := float64(v); y == y {
			away := float64(predictions.Data[i]) - y
			n, mean, absolute, squares = n+1, mean+y, absolute+math.Abs(away), squares+away*away
		}
	}
	mean /= n
	for _, v := range targets.Data {
		if y := float64(v); y == y {
			about += (y - mean) * (y - mean)
		}
	}
	e := Errors{MAE: absolute / n, RMSE: math.Sqrt(squares / n), R2: math.NaN()}
	if about > 0 {
		e.R2 = 1 - squares/about
	}
	return e
}

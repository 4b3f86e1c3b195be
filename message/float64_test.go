package message_test

import (
	"math"

	"github.com/edgewise-ml/edgewise/tensor"
)

// What naive evaluations are made of.

func tanh(x float64) float64    { return math.Tanh(x) }
func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func softmax(x []float64) []float64 {
	p, sum := make([]float64, len(x)), 0.0
	for i, v := range x {
		p[i] = math.Exp(v)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func wide(x []tensor.Float) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// rowsOf is a matrix of cellWidth columns.
func rowsOf(x [][]float64) *tensor.Dense {
	d := tensor.New(len(x), cellWidth)
	for i, row := range x {
		for j, v := range row {
			d.Row(i)[j] = tensor.Float(v)
		}
	}
	return d
}

package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
)

// split gives the columns of x, a head after the other, an axis for the heads.
func split(x *grad.Var, heads, width int) *grad.Var { return x.Reshape(x.Dim(0), heads, width) }

// merge takes the mean over the heads of y, N×H×D, or lays them side by side.
func merge(y *grad.Var, average bool) *grad.Var {
	if average && y.Dim(1) > 1 {
		return y.MeanAxis(1)
	}
	return y.Reshape(y.Dim(0), y.Dim(1)*y.Dim(2))
}

// merged returns the width of merge's result.
func merged(heads, width int, average bool) int {
	if average {
		return width
	}
	return heads * width
}

// slope returns the slope of a LeakyReLU whose field is s.
func slope(s float64) float64 { return grad.Preset(s, 0.2) }

// or returns v, or preset if v is the zero value. Where 0 may be meant, as of a
// number that is no count, [grad.Preset] takes its place.
func or[T comparable](v, preset T) T {
	var zero T
	if v == zero {
		return preset
	}
	return v
}

// attention returns an attention vector of each head, Glorot uniform over
// heads and width.
func attention(rng *rand.Rand, heads, width int) *grad.Param { return glorot(rng, heads, width) }

// timesHeads multiplies each head of x, N×H×A, by its columns of w, A×(H·B):
// N×(H·B).
func timesHeads(x, w *grad.Var) *grad.Var {
	heads, a := x.Dim(1), x.Dim(2)
	return byHead(heads, func(h int) *grad.Var {
		b := w.Dim(1) / heads
		return x.Reshape(x.Dim(0), heads*a).Columns(h*a, (h+1)*a).MatMul(w.Columns(h*b, (h+1)*b))
	})
}

// timesHeadsT multiplies each head of x, N×H×B, by the transpose of its columns
// of w, A×(H·B): N×(H·A).
func timesHeadsT(x, w *grad.Var) *grad.Var {
	heads, b := x.Dim(1), x.Dim(2)
	return byHead(heads, func(h int) *grad.Var {
		return x.Reshape(x.Dim(0), heads*b).Columns(h*b, (h+1)*b).MatMulT(w.Columns(h*b, (h+1)*b))
	})
}

// byHead lays what f makes of each head side by side.
func byHead(heads int, f func(h int) *grad.Var) *grad.Var {
	parts := make([]*grad.Var, heads)
	for h := range parts {
		parts[h] = f(h)
	}
	return grad.Concat(parts...)
}

package compose

import "github.com/edgewise-ml/edgewise/grad"

// SplitHeads gives the columns of x, a head after the other, an axis for the heads.
func SplitHeads(x *grad.Var, heads, width int) *grad.Var { return x.Reshape(x.Dim(0), heads, width) }

// MergeHeads takes the mean over the heads of y, N×H×D, or lays them side by side.
func MergeHeads(y *grad.Var, average bool) *grad.Var {
	if average && y.Dim(1) > 1 {
		return y.MeanAxis(1)
	}
	return y.Reshape(y.Dim(0), y.Dim(1)*y.Dim(2))
}

// MergedWidth returns the width of MergeHeads' result.
func MergedWidth(heads, width int, average bool) int {
	if average {
		return width
	}
	return heads * width
}

// TimesHeads multiplies each head of x, N×H×A, by its columns of w, A×(H·B):
// N×(H·B).
func TimesHeads(x, w *grad.Var) *grad.Var {
	heads, a := x.Dim(1), x.Dim(2)
	return byHead(heads, func(h int) *grad.Var {
		b := w.Dim(1) / heads
		return x.Reshape(x.Dim(0), heads*a).Columns(h*a, (h+1)*a).MatMul(w.Columns(h*b, (h+1)*b))
	})
}

// TimesHeadsT multiplies each head of x, N×H×B, by the transpose of its columns
// of w, A×(H·B): N×(H·A).
func TimesHeadsT(x, w *grad.Var) *grad.Var {
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

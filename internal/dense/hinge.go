package dense

import "github.com/edgewise-ml/edgewise/tensor"

// Hinge is the margin loss of rows of scores against one label each:
//
//	for i, y := range Labels {
//		loss += 1/Classes·Σ_{c≠y} max(0, Margin − x[i,y] + x[i,c])
//	}
//
// in float64. Rows whose label is negative do not count.
type Hinge struct {
	X       []tensor.Float // a row a label
	Classes int            // the elements of a row
	Labels  []int32
	Margin  float64
}

// Forward returns the sum of the losses of all rows that count and how many these are,
// and sets each, unless it is nil, to their losses.
func (h *Hinge) Forward(each []tensor.Float) (loss, count float64) {
	for i, l := range h.Labels {
		if l < 0 {
			continue
		}
		ℓ := h.row(i, nil, 0)
		if each != nil {
			each[i] = tensor.Float(ℓ)
		}
		loss += ℓ
		count++
	}
	return loss, count
}

// Backward adds factor·dy times the gradient of each row's loss to that of X. dy has an
// element a row, or one for all.
func (h *Hinge) Backward(dx, dy []tensor.Float, factor float64) {
	for i, l := range h.Labels {
		if l >= 0 {
			h.row(i, dx[i*h.Classes:(i+1)*h.Classes], factor*float64(dy[min(i, len(dy)-1)]))
		}
	}
}

// row returns the loss of row i and, if dx is not nil, adds g times its gradient
// there.
func (h *Hinge) row(i int, dx []tensor.Float, g float64) (loss float64) {
	x, label := h.X[i*h.Classes:(i+1)*h.Classes], int(h.Labels[i])
	share := 1 / float64(len(x))
	for c, v := range x {
		d := h.Margin - float64(x[label]) + float64(v)
		if c == label || d <= 0 {
			continue
		}
		loss += d * share
		if dx != nil {
			dx[c] += tensor.Float(g * share)
			dx[label] -= tensor.Float(g * share)
		}
	}
	return loss
}

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
		ℓ := h.loss(h.row(h.X, i), int(l))
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
			h.pull(h.row(dx, i), h.row(h.X, i), int(l), factor*float64(dy[min(i, len(dy)-1)]))
		}
	}
}

// row returns row i of an array like X.
func (h *Hinge) row(a []tensor.Float, i int) []tensor.Float {
	return a[i*h.Classes : i*h.Classes+h.Classes]
}

// loss returns that of one row.
func (h *Hinge) loss(x []tensor.Float, label int) (loss float64) {
	share, over := 1/float64(len(x)), h.Margin-float64(x[label])
	for c, v := range x {
		if d := over + float64(v); c != label && !(d <= 0) {
			loss += d * share
		}
	}
	return loss
}

// pull adds g times the gradient of one row.
func (h *Hinge) pull(dx, x []tensor.Float, label int, g float64) {
	step, over := tensor.Float(g*(1/float64(len(x)))), h.Margin-float64(x[label])
	own := dx[label]
	for c, v := range x {
		if c != label && !(over+float64(v) <= 0) {
			dx[c] += step
			own -= step
		}
	}
	dx[label] = own
}

package dense

import (
	"math"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Squared is (x − y)².
type Squared struct{}

// At returns the loss of a pair with its slopes.
func (Squared) At(_ int, x, y float64) (loss, dx, dy float64) {
	d := x - y
	return d * d, 2 * d, -2 * d
}

// Huber is Slope/To·d²/2 where d = |x − y| is at most To, and beyond
// Slope·(d − To/2): quadratic up to To, with a slope there and beyond.
type Huber struct{ To, Slope float64 }

// At returns the loss of a pair with its slopes.
func (h Huber) At(_ int, x, y float64) (loss, dx, dy float64) {
	d := x - y
	switch {
	case d > h.To:
		return h.Slope * (d - h.To/2), h.Slope, -h.Slope
	case d < -h.To:
		return h.Slope * (-d - h.To/2), -h.Slope, h.Slope
	case h.To == 0:
		return d, 0, 0 // 0, or NaN
	}
	s := h.Slope / h.To
	return s * d * d / 2, s * d, -s * d
}

// KL is y·(log y − x), of which x is a logarithm; 0 where y is.
type KL struct{}

// At returns the loss of a pair with its slopes.
func (KL) At(_ int, x, y float64) (loss, dx, dy float64) {
	if y == 0 {
		return 0, 0, 0
	}
	l := math.Log(y)
	return y * (l - x), -y, l + 1 - x
}

// Ranking is max(0, Margin − x + y).
type Ranking struct{ Margin float64 }

// At returns the loss of a pair with its slopes.
func (r Ranking) At(_ int, x, y float64) (loss, dx, dy float64) {
	if d := r.Margin - x + y; !(d <= 0) {
		return d, -1, 1
	}
	return 0, 0, 0
}

// BCE is the binary cross-entropy of logits x against targets t from 0 to 1,
//
//	−w·(p·t·log σ(x) + (1 − t)·log(1 − σ(x)))
//
// with a weight w of each pair and p of each column of rows of Width.
type BCE struct {
	Width   int
	Pos     []float64      // p; nil: all 1
	Weights []tensor.Float // w; nil: all 1
}

// At returns the loss of a pair with its slope by x; t gets none.
func (b *BCE) At(i int, x, t float64) (loss, dx, dt float64) {
	w, k := b.weights(i, t)
	e := math.Exp(-math.Abs(x))
	soft := math.Log1p(e) + math.Max(-x, 0) // −log σ(x)
	return w * ((1-t)*x + k*soft), b.slope(pairTerms{x, t, e, w, k}), 0
}

// Slope returns the slope by x alone, without a logarithm.
func (b *BCE) Slope(i int, x, t float64) (dx, dt float64) {
	w, k := b.weights(i, t)
	return b.slope(pairTerms{x, t, math.Exp(-math.Abs(x)), w, k}), 0
}

// weights returns the weight of pair i and that of −log σ(x).
func (b *BCE) weights(i int, t float64) (w, k float64) {
	w, p := 1.0, 1.0
	if b.Weights != nil {
		w = float64(b.Weights[i])
	}
	if b.Pos != nil {
		p = b.Pos[i%b.Width]
	}
	return w, 1 + (p-1)*t
}

// pairTerms are a pair, e^−|x| and its weights.
type pairTerms struct{ x, t, e, w, k float64 }

func (b *BCE) slope(p pairTerms) float64 {
	down := p.e / (1 + p.e) // σ(−|x|)
	if p.x < 0 {
		down = 1 / (1 + p.e)
	}
	return p.w * ((1 - p.t) - p.k*down)
}

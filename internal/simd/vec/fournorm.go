package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// A sum over a row in float64 costs a conversion of each element. The sums here may add up to four
// elements in float32 first, and what that gives in float64: an error of at most some 2⁻²³ of what
// is added, where the rounding of the elements themselves is half as much.

// NormRow is a row that is normalised, with its gain.
type NormRow struct {
	X, Gain []Float
	Moments
}

// offset is element j without the mean.
func (r *NormRow) offset(j int) Float { return r.X[j] - r.Mean - r.Rest }

// FourMoments returns Σ e[j] and Σ e[j]², where e[j] = x[j] − shift.
func FourMoments(x []Float, shift Float) (sum, squares float64) {
	done := 0
	if cpu.Fast {
		sum, squares, done = fourMomentsFast(x, shift)
	}
	for _, v := range x[done:] {
		e := float64(v - shift)
		sum += e
		squares += e * e
	}
	return sum, squares
}

// NormaliseWith sets the sum of two normalised rows and, unless it is nil, of a bias:
//
//	y[j] = a̅[j]·a.Gain[j] + b̅[j]·b.Gain[j] + bias[j]
//
// where a̅[j] is (a.X[j] − a.Mean − a.Rest)·a.Scale.
func (a NormRow) NormaliseWith(b NormRow, y, bias []Float) {
	if cpu.Fast && normaliseBothFast(y, bias, a, b) {
		return
	}
	for j := range y {
		v := Float(Float(a.offset(j)*a.Scale) * a.Gain[j])
		if bias != nil {
			v += bias[j]
		}
		y[j] = v + Float(Float(b.offset(j)*b.Scale)*b.Gain[j])
	}
}

// GradSums adds to the gradients of the gain and, unless it is nil, of the bias what the
// gradient dy of a normalised row contributes, and returns the sums that [NormRow.Grad] is of:
//
//	gain[j] += dy[j]·r̅[j]    bias[j] += dy[j]
//	sum = Σ dy[j]·r.Gain[j]   dot = Σ dy[j]·r.Gain[j]·r̅[j]
func (r NormRow) GradSums(gain, bias, dy []Float) (sum, dot float64) {
	done := 0
	if cpu.Fast {
		sum, dot, done = fourGradSumsFast(gain, bias, dy, r)
	}
	for j := done; j < len(dy); j++ {
		d := dy[j]
		y, g := Float(r.offset(j)*r.Scale), Float(d*r.Gain[j])
		gain[j] += Float(d * y)
		if bias != nil {
			bias[j] += d
		}
		sum += float64(g)
		dot += float64(g) * float64(y)
	}
	return sum, dot
}

// Grad sets, or adds to, the gradient of a row:
//
//	dx[j] = (dy[j]·r.Gain[j] + of.At0 + (r.X[j] − r.Mean − r.Rest)·of.Slope)·r.Scale
func (r NormRow) Grad(dx, dy []Float, of Line, set bool) {
	if cpu.Fast && fourGradFast(dx, dy, r, of, set) {
		return
	}
	for j, d := range dy {
		v := Float(d*r.Gain[j]) + of.At0
		v = Float((v + Float(r.offset(j)*of.Slope)) * r.Scale)
		if !set {
			v += dx[j]
		}
		dx[j] = v
	}
}

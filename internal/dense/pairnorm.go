package dense

import (
	"math"

	"github.com/edgewise-ml/edgewise/tensor"
)

// PairNorm takes the mean of each column over a range of rows off X and scales what is
// left, c; Offsets[k] to Offsets[k+1] is range k. In each range
//
//	for i := range rows {
//		c[i,j] := x[i,j] − Σ_i x[i,j] / rows
//		divisor[i] = √(Eps + Σ c² / rows), or Eps + ‖c[i]‖ if Each
//		y[i,j] = Scale·c[i,j] / divisor[i]
//	}
//
// in float64.
type PairNorm struct {
	X          []tensor.Float
	D          int // of the elements of a row
	Offsets    []int
	Scale, Eps float64
	Each       bool

	Y, Divisor []tensor.Float // what Forward sets and Backward reads
}

// Forward sets Y and Divisor.
func (p *PairNorm) Forward() {
	withSums(p.D, func(means []float64) {
		for k := range len(p.Offsets) - 1 {
			lo, hi := p.Offsets[k], p.Offsets[k+1]
			p.forward(p.Y[lo*p.D:hi*p.D], p.X[lo*p.D:hi*p.D], p.Divisor[lo:hi], means)
		}
	})
}

// Backward adds to the gradient of X that of c without its mean over the rows of a
// range. Of c = y·divisor/Scale it is
//
//	Scale/divisor·dy − y·⟨dy, y⟩/(Scale·divisor·rows)     of all rows together
//	Scale/divisor·dy − y·⟨dy, y⟩/(Scale·‖c‖)              of each by itself
func (p *PairNorm) Backward(dx, dy []tensor.Float) {
	withSums(p.D+len(dx), func(room []float64) {
		for k := range len(p.Offsets) - 1 {
			if p.Offsets[k] < p.Offsets[k+1] {
				p.backward(k, dx, dy, room)
			}
		}
	})
}

// forward normalises the rows of one range, whose means it leaves.
func (p *PairNorm) forward(y, x, divisor []tensor.Float, means []float64) {
	columnMeans(means, x, len(divisor))
	d, total := len(means), 0.0
	for i := range divisor {
		square := squareFrom(x[i*d:i*d+d], means)
		divisor[i] = tensor.Float(p.Eps + math.Sqrt(square))
		total += square
	}
	for i := range divisor {
		if !p.Each {
			divisor[i] = tensor.Float(math.Sqrt(p.Eps + total/float64(len(divisor))))
		}
		by := float64(divisor[i])
		if math.IsInf(by, 1) { // a length beyond float32
			if by = math.Sqrt(p.Eps + total/float64(len(divisor))); p.Each {
				by = math.Sqrt(squareFrom(x[i*d:i*d+d], means))
			}
		}
		for j, m := range means {
			y[i*d+j] = tensor.Float(p.Scale * (float64(x[i*d+j]) - m) / by)
		}
	}
}

// squareFrom returns the squared distance of a row from the means.
func squareFrom(x []tensor.Float, means []float64) (square float64) {
	for j, m := range means {
		c := float64(x[j]) - m
		square += c * c
	}
	return square
}

// backward adds the gradient of range k. room is for a row and for what the range has.
func (p *PairNorm) backward(k int, dx, dy []tensor.Float, room []float64) {
	d, lo, hi := p.D, p.Offsets[k], p.Offsets[k+1]
	n, y, divisor := hi-lo, p.Y[lo*d:hi*d], p.Divisor[lo:hi]
	dx, dy = dx[lo*d:hi*d], dy[lo*d:hi*d]
	means, dc, all := room[:d], room[d:d+len(y)], 0.0
	for i, v := range y {
		all += float64(v) * float64(dy[i])
	}
	for i := range n {
		s := float64(divisor[i])
		dot, by := all, s*float64(n)
		if p.Each {
			dot, by = 0, s-p.Eps
			for j := i * d; j < i*d+d; j++ {
				dot += float64(y[j]) * float64(dy[j])
			}
		}
		for j := i * d; j < i*d+d; j++ {
			dc[j] = p.Scale / s * float64(dy[j])
			if by > 0 {
				dc[j] -= float64(y[j]) * dot / (p.Scale * by)
			}
		}
	}
	columnMeans(means, dc, n)
	for i := range dx {
		dx[i] += tensor.Float(dc[i] - means[i%d])
	}
}

// columnMeans sets means to the mean of each column of n rows.
func columnMeans[T ~float32 | ~float64](means []float64, x []T, n int) {
	clear(means)
	for i := range n {
		for j := range means {
			means[j] += float64(x[i*len(means)+j])
		}
	}
	for j := range means {
		means[j] /= float64(n)
	}
}

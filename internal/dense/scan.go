package dense

import "github.com/edgewise-ml/edgewise/tensor"

// CumSumGrad adds to dx the gradient of y[i,j] = Σ_{k≤j} x[i,k] of rows of d elements:
//
//	dx[i,j] += Σ_{k≥j} dy[i,k]
//
// added in float64.
func CumSumGrad(dx, dy []tensor.Float, d int) {
	for lo := 0; lo < len(dx); lo += d {
		s := 0.0
		for i := lo + d - 1; i >= lo; i-- {
			s += float64(dy[i])
			dx[i] += tensor.Float(s)
		}
	}
}

// CumProdGrad adds to dx the gradient of y[i,j] = Π_{k≤j} x[i,k] of rows of d elements:
//
//	dx[i,j] += Σ_{k≥j} dy[i,k]·Π_{l≤k, l≠j} x[i,l]
//
// multiplied in float64, without a division: it is right for zeros too.
func CumProdGrad(dx, dy, x []tensor.Float, d int) {
	withSums(d, func(after []float64) {
		for lo := 0; lo < len(dx); lo += d {
			cumProdRow(dx[lo:lo+d], dy[lo:lo+d], x[lo:lo+d], after)
		}
	})
}

// cumProdRow adds the gradient of one row. With the product of what lies before
// element i called before, and after = Σ_{j≥i} dy_j·Π_{i<k≤j} x_k, it is before·after.
func cumProdRow(dx, dy, x []tensor.Float, after []float64) {
	for i := len(x) - 1; i >= 0; i-- {
		after[i] = float64(dy[i])
		if i+1 < len(x) {
			after[i] += float64(x[i+1]) * after[i+1]
		}
	}
	before := 1.0
	for i, v := range x {
		dx[i] += tensor.Float(before * after[i])
		before *= float64(v)
	}
}

// CircularConv is the circular convolution of rows of N elements with Taps taps, which
// are those of the row or one row for all:
//
//	for j := range Taps {
//		y[r,i] += k[r,j]·x[r, (i−j) mod N]
//	}
type CircularConv struct {
	X, K    []tensor.Float
	N, Taps int
}

// Forward adds the convolution to y.
func (c CircularConv) Forward(y []tensor.Float) {
	c.each(func(tap, to, from int) { y[to] += c.K[tap] * c.X[from] })
}

// Backward adds to the gradients of X and K, which are nil where not wanted.
func (c CircularConv) Backward(dx, dk, dy []tensor.Float) {
	c.each(func(tap, to, from int) {
		if dx != nil {
			dx[from] += c.K[tap] * dy[to]
		}
		if dk != nil {
			dk[tap] += c.X[from] * dy[to]
		}
	})
}

// each calls f with every product: the numbers of its tap, of the element that it is
// added to and of the one that is multiplied.
func (c CircularConv) each(f func(tap, to, from int)) {
	n, m := c.N, c.Taps
	for at := 0; at < len(c.X); at += n {
		taps := at / n * m
		if len(c.K) == m { // one row for all
			taps = 0
		}
		for i := range n {
			for j := range m {
				f(taps+j, at+i, at+(i-j+n)%n)
			}
		}
	}
}

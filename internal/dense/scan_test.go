package dense_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestScanGrads compares the gradients of running sums and products with their sums, also
// of rows with zeros.
func TestScanGrads(t *testing.T) {
	rng := rand.New(rand.NewPCG(56, 56))
	for _, s := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {4, 2}, {3, 9}} {
		n, d := s[0], s[1]
		x, dy, dx := random(rng, n*d), random(rng, n*d), random(rng, n*d)
		if len(x) > 7 {
			x[1], x[6], x[7] = 0, 0, 0
		}
		sums, products := slices.Clone(dx), slices.Clone(dx)
		for i := range n {
			for j := range d {
				sum, product := 0.0, 0.0
				for k := j; k < d; k++ {
					f := float64(dy[i*d+k])
					sum += f
					for l := range k + 1 {
						if l != j {
							f *= float64(x[i*d+l])
						}
					}
					product += f
				}
				sums[i*d+j] += tensor.Float(sum)
				products[i*d+j] += tensor.Float(product)
			}
		}
		what, got := fmt.Sprintf("%d×%d", n, d), copied(dx, dx)
		dense.CumSumGrad(got[0], dy, d)
		dense.CumProdGrad(got[1], dy, x, d)
		compare.Near(t, "sums of "+what, got[0], sums, rounded)
		compare.Near(t, "products of "+what, got[1], products, rounded)
	}
}

// TestCircularConv compares convolutions, with taps of each row and of all, with a plain
// loop.
func TestCircularConv(t *testing.T) {
	rng := rand.New(rand.NewPCG(57, 57))
	for _, s := range [][4]int{{2, 5, 3, 2}, {3, 4, 4, 1}, {1, 1, 1, 1}, {2, 3, 1, 2}, {0, 3, 2, 0}, {2, 0, 0, 1}} {
		n, d, m, kinds := s[0], s[1], s[2], s[3]
		x, k, dy := random(rng, n*d), random(rng, kinds*m), random(rng, n*d)
		y, dx, dk := make([]tensor.Float, n*d), random(rng, n*d), random(rng, kinds*m)
		want := copied(y, dx, dk)
		for r := range n {
			for i := range d {
				for j := range m {
					tap, to, from := min(r, kinds-1)*m+j, r*d+i, r*d+(i-j+d)%d
					want[0][to] += k[tap] * x[from]
					want[1][from] += k[tap] * dy[to]
					want[2][tap] += x[from] * dy[to]
				}
			}
		}
		c := dense.CircularConv{X: x, K: k, N: d, Taps: m}
		c.Forward(y)
		c.Backward(dx, dk, dy)
		c.Backward(nil, nil, dy)
		what := fmt.Sprint(s)
		compare.Near(t, "values of "+what, y, want[0], rounded)
		compare.Near(t, "gradients of "+what, dx, want[1], rounded)
		compare.Near(t, "gradients of the taps of "+what, dk, want[2], rounded)
	}
}

package dense_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestPerHead compares the products of rows of heads with one row, and with two, and their
// gradients with a plain loop: few heads, a block, and many parts.
func TestPerHead(t *testing.T) {
	rng := rand.New(rand.NewPCG(64, 64))
	for _, s := range [][3]int{{1, 1, 3}, {2, 4, 5}, {30, 3, 7}, {700, 8, 8}, {6001, 1, 33}} {
		rows, heads, width := s[0], s[1], s[2]
		n, f := rows*heads, heads*width
		x, ys, dw, dx, dy := random(rng, n*width), random(rng, 2*f), random(rng, 2*n), random(rng, n*width), random(rng, 2*f)
		small(dw)
		for _, with := range []int{1, 2} {
			for _, apart := range []bool{false, true} {
				what := fmt.Sprintf("%d×%d×%d with %d, apart %v", rows, heads, width, with, apart)
				want := copied(make([]tensor.Float, 2*n), dx, dy)
				for j := range with {
					for i := range n {
						y, g := ys[j*f+i%heads*width:][:width], dw[j*n+i]
						for c, v := range y {
							want[0][j*n+i] += x[i*width+c] * v
							want[1][i*width+c] += g * v
							want[2][j*f+i%heads*width+c] += g * x[i*width+c]
						}
					}
				}
				got := threaded(t, what, func() []tensor.Float {
					got := copied(make([]tensor.Float, 2*n), dx, dy)
					k := dense.PerHead{X: x, Rows: rows, Heads: heads, Width: width}
					to := dense.HeadGrads{X: got[1], Apart: apart}
					for j := range with {
						k.With[j] = dense.HeadRow{Y: ys[j*f:][:f], W: got[0][j*n:][:n]}
						to.Y[j] = got[2][j*f:][:f]
					}
					k.Forward()
					for j := range with {
						k.With[j].W = dw[j*n:][:n]
					}
					k.Backward(&to, make([]tensor.Float, with*k.Room()))
					return slices.Concat(got...)
				})
				near(t, what, got, slices.Concat(want...))
			}
		}
	}
}

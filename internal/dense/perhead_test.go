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

// TestPerHead compares the products of rows of heads with one row, and with two, and their
// gradients with a plain loop: few heads, a block, and many parts.
func TestPerHead(t *testing.T) {
	rng := rand.New(rand.NewPCG(64, 64))
	for _, s := range [][3]int{{1, 1, 3}, {2, 4, 5}, {30, 3, 7}, {700, 8, 8}, {6001, 1, 33}, {3, 2, 127}, {90, 3, 128}} {
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
				compare.Near(t, what, got, slices.Concat(want...), rounded)
			}
		}
	}
}

// TestPerHeadAlone: a row has the products that it has among others, with one row and with two,
// of any width.
func TestPerHeadAlone(t *testing.T) {
	const rows = 40
	rng := rand.New(rand.NewPCG(65, 65))
	for _, heads := range []int{1, 2, 4, 8, 9} {
		for _, width := range []int{1, 3, 7, 8, 9, 16, 31, 64, 127, 128, 200} {
			f := heads * width
			x, ys, want, got := random(rng, rows*f), random(rng, 2*f), make([]tensor.Float, 2*rows*heads), make([]tensor.Float, 2*rows*heads)
			run := func(with, lo, n int, w []tensor.Float) {
				clear(w)
				k := dense.PerHead{X: x[lo*f : (lo+n)*f], Rows: n, Heads: heads, Width: width}
				for j := range with {
					k.With[j] = dense.HeadRow{Y: ys[j*f:][:f], W: w[j*n*heads:][:n*heads]}
				}
				k.Forward()
			}
			run(2, 0, rows, want)
			for _, n := range []int{1, 2, 5, 8} {
				for with := 1; with <= 2; with++ {
					part := got[:with*n*heads]
					run(with, rows-n, n, part)
					for j := range with {
						if !slices.Equal(part[j*n*heads:][:n*heads], want[j*rows*heads:][(rows-n)*heads:rows*heads]) {
							t.Errorf("%d heads of %d elements: %d rows alone have other products with row %d of %d", heads, width, n, j, with)
						}
					}
				}
			}
		}
	}
}

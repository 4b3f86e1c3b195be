package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// kindCase is a product with a matrix for each kind, what it gives, and its gradients.
type kindCase struct {
	a         *sparse.CSR
	kinds     []int32
	n         int
	mean      bool
	x, w, dy  *tensor.Dense
	y, dx, dw []float64
	in, out   int
}

// newKindCase computes them by loops.
func newKindCase(rng *rand.Rand, a *sparse.CSR, n, in, out int, mean bool) *kindCase {
	c := &kindCase{a: a, n: n, mean: mean, in: in, out: out, x: normal(rng, a.NumCols, in), w: normal(rng, n, in, out), dy: normal(rng, a.NumRows, out)}
	for range a.NNZ() {
		c.kinds = append(c.kinds, rng.Int32N(int32(max(1, n-1)))) // none of the last
	}
	c.y, c.dx, c.dw = make([]float64, a.NumRows*out), make([]float64, a.NumCols*in), make([]float64, n*in*out)
	for i := range a.NumRows {
		count := make([]float64, n)
		for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
			count[c.kinds[k]]++
		}
		for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
			u, kind, share := int(a.Cols[k]), int(c.kinds[k]), 1.0
			if mean {
				share /= count[kind]
			}
			for p := range in {
				for q := range out {
					at := (kind*in+p)*out + q
					xp, w, dq := float64(c.x.Data[u*in+p]), float64(c.w.Data[at]), float64(c.dy.Data[i*out+q])
					c.y[i*out+q] += share * xp * w
					c.dx[u*in+p] += share * dq * w
					c.dw[at] += share * xp * dq
				}
			}
		}
	}
	return c
}

// run computes the product and its gradients, which are added to what is there.
func (c *kindCase) run() (y, dx, dw *tensor.Dense) {
	k := sparse.NewKinds(c.a, c.kinds, c.n, c.mean)
	y, dx, dw = tensor.New(c.a.NumRows, c.out), tensor.New(c.a.NumCols, c.in), tensor.New(c.n, c.in, c.out)
	y.Fill(float(math.NaN()))
	k.Into(y, c.x, c.w)
	dx.Fill(1)
	dw.Fill(1)
	k.Grad(dx, dw, c.dy, c.x, c.w)
	for _, d := range []*tensor.Dense{dx, dw} {
		for i := range d.Data {
			d.Data[i]--
		}
	}
	return y, dx, dw
}

// Products with a matrix for each kind are those of loops, and have their bits on any
// number of threads: of a hub that fills tiles alone, of many tiles, of rows without
// nonzeros, of one kind and of kinds that no nonzero has.
func TestKinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	none, err := sparse.New(3, 2, []int64{0, 0, 0, 0}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range []*sparse.CSR{hubs(t, rng), random(rng, 5000, 4000, 9000, false), random(rng, 40, 50, 90, false), none} {
		for _, mean := range []bool{false, true} {
			for _, s := range [][3]int{{1, 3, 5}, {4, 7, 2}} {
				what := fmt.Sprint("matrix ", i, ", mean ", mean, ", kinds, in, out ", s)
				c := newKindCase(rng, a, s[0], s[1], s[2], mean)
				y, dx, dw := c.run()
				compare.Near(t, what+": y", y.Data, c.y, sums)
				compare.Near(t, what+": dx", dx.Data, c.dx, sums)
				compare.Near(t, what+": dw", dw.Data, c.dw, sums)
				for _, n := range append(sparing.Threads(), 1) {
					undo := par.SetThreads(n)
					y2, dx2, dw2 := c.run()
					undo()
					compare.Equal(t, what+": y on threads", y2.Data, y.Data)
					compare.Equal(t, what+": dx on threads", dx2.Data, dx.Data)
					compare.Equal(t, what+": dw on threads", dw2.Data, dw.Data)
				}
				undo := cpu.Disable()
				plain, _, _ := c.run()
				undo()
				compare.Near(t, what+": y in Go", plain.Data, c.y, sums)
			}
		}
	}
}

// sums is for sums of 5000 elements, which round in each.
var sums = compare.PartOfLargest(compare.In(1e-4, 1e-12))

// One gradient alone has the bits that it has beside the other.
func TestKindsOneGrad(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	c := newKindCase(rng, random(rng, 300, 200, 900, false), 3, 4, 5, true)
	k := sparse.NewKinds(c.a, c.kinds, c.n, c.mean)
	var grads [4]*tensor.Dense
	for i := range grads {
		grads[i] = tensor.New(c.a.NumCols, c.in)
		if i%2 == 1 {
			grads[i] = tensor.New(c.n, c.in, c.out)
		}
	}
	k.Grad(grads[0], grads[1], c.dy, c.x, c.w)
	k.Grad(grads[2], nil, c.dy, c.x, c.w)
	k.Grad(nil, grads[3], c.dy, c.x, c.w)
	k.Grad(nil, nil, c.dy, c.x, c.w)
	compare.Equal(t, "dx", grads[2].Data, grads[0].Data)
	compare.Equal(t, "dw", grads[3].Data, grads[1].Data)
}

// A list of kinds that does not fit, and arrays that do not, are refused.
func TestKindsMisuse(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	a := random(rng, 5, 6, 7, false)
	kinds := make([]int32, a.NNZ())
	k := sparse.NewKinds(a, kinds, 2, false)
	below, above := make([]int32, a.NNZ()), make([]int32, a.NNZ())
	below[3], above[3] = -1, 2
	for what, f := range map[string]func(){
		"too few kinds": func() { sparse.NewKinds(a, kinds[1:], 2, false) },
		"a kind below":  func() { sparse.NewKinds(a, below, 2, false) },
		"a kind above":  func() { sparse.NewKinds(a, above, 2, false) },
		"rows of y":     func() { k.Into(tensor.New(6, 4), tensor.New(6, 3), tensor.New(2, 3, 4)) },
		"matrices":      func() { k.Into(tensor.New(5, 4), tensor.New(6, 3), tensor.New(3, 3, 4)) },
		"dx":            func() { k.Grad(tensor.New(6, 4), nil, tensor.New(5, 4), tensor.New(6, 3), tensor.New(2, 3, 4)) },
		"dw":            func() { k.Grad(nil, tensor.New(2, 4, 4), tensor.New(5, 4), tensor.New(6, 3), tensor.New(2, 3, 4)) },
	} {
		if err := tensor.Try(f); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

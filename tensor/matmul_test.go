package tensor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
)

func normal(rng *rand.Rand, shape ...int) *Dense {
	d := New(shape...)
	d.Normal(rng, 0, 1)
	return d
}

// operands returns a and b of a product of m×k and k×n.
func operands(rng *rand.Rand, m, k, n int, f Flags) (a, b *Dense) {
	a, b = normal(rng, m, k), normal(rng, k, n)
	if f&TransA != 0 {
		a = normal(rng, k, m)
	}
	if f&TransB != 0 {
		b = normal(rng, n, k)
	}
	return a, b
}

// TestMatMul compares every transposition with three loops.
func TestMatMul(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, f := range []Flags{0, TransA, TransB, TransA | TransB} {
		for range 60 {
			m, k, n := rng.IntN(9), rng.IntN(40), rng.IntN(20)
			a, b := operands(rng, m, k, n, f)
			dst := normal(rng, m, n)
			was := dst.Clone()
			MatMul(dst, a, b, f)
			for i := range m {
				for j := range n {
					want := float64(was.Row(i)[j])
					for l := range k {
						x, y := i*k+l, l*n+j
						if f&TransA != 0 {
							x = l*m + i
						}
						if f&TransB != 0 {
							y = j*k + l
						}
						want += float64(a.Data[x]) * float64(b.Data[y])
					}
					compare.Number(t, fmt.Sprintf("flags %d, %d×%d×%d: element %d,%d", f, m, k, n, i, j), dst.Row(i)[j], want, compare.Off(2e-5, 0))
				}
			}
		}
	}
}

// TestMatMulRows shows, to the bit, that a row of a product is the product of
// the row, and that the transpositions agree.
func TestMatMulRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, s := range [][3]int{{1, 1, 1}, {7, 33, 5}, {16, 64, 16}, {9, 100, 17}, {3, 1433, 8}} {
		a, b := operands(rng, s[0], s[1], s[2], 0)
		all := New(s[0], s[2])
		MatMul(all, a, b, 0)
		for i := range s[0] {
			one := New(1, s[2])
			MatMul(one, a.RowRange(i, i+1), b, 0)
			if !slices.Equal(one.Data, all.Row(i)) {
				t.Errorf("%v: row %d differs", s, i)
			}
		}
		at, bt := transpose(a), transpose(b)
		for f, ab := range map[Flags][2]*Dense{TransA: {at, b}, TransB: {a, bt}, TransA | TransB: {at, bt}} {
			y := New(s[0], s[2])
			MatMul(y, ab[0], ab[1], f)
			if !slices.Equal(y.Data, all.Data) {
				t.Errorf("%v: flags %d give other bits", s, f)
			}
		}
	}
}

func transpose(x *Dense) *Dense {
	y := New(x.RowLen(), x.Rows())
	for i := range x.Rows() {
		for j, v := range x.Row(i) {
			y.Row(j)[i] = v
		}
	}
	return y
}

func TestMatMulShapes(t *testing.T) {
	for _, s := range [][6]int{{2, 2, 2, 3, 2, 2}, {2, 2, 2, 2, 2, 3}, {3, 2, 2, 2, 2, 2}} {
		err := Try(func() { MatMul(New(s[0], s[1]), New(s[2], s[3]), New(s[4], s[5]), 0) })
		want := fmt.Sprintf("tensor.MatMul: cannot take shape %v with %v with %v", s[2:4], s[4:6], s[:2])
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

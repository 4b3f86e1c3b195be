package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// regular returns the structure of a matrix of so many nonzeros, about as many in each
// row and at random columns.
func regular(t testing.TB, rng *rand.Rand, rows, cols, nnz int) *sparse.CSR {
	t.Helper()
	offsets, at := make([]int64, rows+1), make([]int32, nnz)
	for r := range rows + 1 {
		offsets[r] = int64(nnz) * int64(r) / int64(rows)
	}
	for k := range at {
		at[k] = rng.Int32N(int32(cols))
	}
	a, err := sparse.New(rows, cols, offsets, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The gradient of a destination's logits is added up in 1, 2, 4 or 8 copies, from
// 2⁹, 2¹⁷ and 2²² edges on. The last of these limits is set to 2¹⁸ here.
func TestAttentionCopies(t *testing.T) {
	defer sparse.SetMostCopiesFrom(1 << 18)()
	rng := rand.New(rand.NewPCG(4, 4))
	for _, edges := range []int{1<<9 - 1, 1 << 9, 1<<17 - 1, 1 << 17, 1 << 18} {
		for _, c := range []struct {
			heads, d int
			weighted bool // then in tiles
		}{{1, 2, false}, {2, 1, true}, {8, 1, false}} {
			if c.heads == 8 && edges > 1<<17 {
				continue // slow in the oracle, and the same loop
			}
			a := regular(t, rng, 1+edges/200, 1+edges/150, edges)
			k := &sparse.Attention{In: a, El: normal(rng, a.NumCols, c.heads), Er: normal(rng, a.NumRows, c.heads), Ft: normal(rng, a.NumCols, c.heads, c.d), Slope: 0.2}
			if c.weighted {
				k.Weight = normal(rng, edges, 1)
			}
			dOut := normal(rng, a.NumRows, c.heads, c.d)
			checkAttention(t, fmt.Sprintf("%d edges, %d heads, weighted %v", edges, c.heads, c.weighted), k, dOut)
		}
	}
}

// checkAttention compares attention with the oracle, where gradients are set and where
// they are added.
func checkAttention(t *testing.T, what string, k *sparse.Attention, dOut *tensor.Dense) {
	t.Helper()
	want := newOracle(k, dOut)
	out, stats := spoiltLike(dOut), spoilt(k.StatsLen())
	k.Forward(out, stats)
	closeTo(t, what+": out", out, want.out)
	for _, sets := range []sparse.Sets{0, sparse.SetEl | sparse.SetEr | sparse.SetFt} {
		into := &sparse.AttentionGrads{El: k.El.Like(), Er: k.Er.Like(), Ft: k.Ft.Like(), Sets: sets}
		if sets != 0 {
			into.El, into.Er, into.Ft = spoiltLike(k.El), spoiltLike(k.Er), spoiltLike(k.Ft)
		}
		k.Backward(dOut, out, stats, into)
		closeTo(t, fmt.Sprintf("%s: El, sets %b", what, sets), into.El, want.el)
		closeTo(t, fmt.Sprintf("%s: Er, sets %b", what, sets), into.Er, want.er)
		closeTo(t, fmt.Sprintf("%s: Ft, sets %b", what, sets), into.Ft, want.ft)
	}
}

// spoiltLike returns an array of x's shape that nobody may read.
func spoiltLike(x *tensor.Dense) *tensor.Dense {
	y := x.Like()
	y.Fill(float(math.NaN()))
	return y
}

// A product with the transpose spills where its result has at most 2¹⁸ elements and
// what is gathered more, or where a dropout has left something: in eights, sixteens or
// 32 columns at a time. On either side of that, and with stored zeros, it is what
// the transpose makes of it, whatever was there before.
func TestSpill(t *testing.T) {
	const rows, cols, nnz = 16500, 60, 34000
	rng := rand.New(rand.NewPCG(8, 3))
	plain := regular(t, rng, rows, cols, nnz)
	values := normal(rng, nnz).Data
	holed := append([]float(nil), values...)
	for i := 0; i < nnz; i += 3 {
		holed[i] = 0
	}
	drop := simd.NewDropout(1, 2, 3, 0.4)
	for _, f := range []int{8, 15, 16, 24, 32, 48, 64} { // spilt in 0, 0, 8, 8, 16, 16 and 32
		x := normal(rng, rows, f)
		for name, a := range map[string]*sparse.CSR{
			"no zeros": plain.WithValues(values), "zeros": plain.WithValues(holed), "dropped": dropped(plain.WithValues(values), &drop),
			"few": regular(t, rng, 3000, cols, nnz).WithValues(values), // whose x is not large
		} {
			x := tensor.Of(x.Data[:a.NumRows*f], a.NumRows, f)
			turned, _ := a.Transpose()
			want := tensor.New(cols, f)
			sparse.MulDense(want, turned, x)
			got := spoiltLike(want)
			sparse.SetMulDenseT(got, a, x)
			sameBits(t, fmt.Sprintf("%s, %d columns, set", name, f), got, want)
			got.Fill(3)
			want.Fill(3)
			sparse.MulDenseT(got, a, x)
			sparse.MulDense(want, turned, x)
			sameBits(t, fmt.Sprintf("%s, %d columns, added", name, f), got, want)
		}
	}
}

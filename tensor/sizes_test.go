package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/sparing"
)

// whole returns an array of small whole numbers, of which sums are exact in any order.
func whole(rng *rand.Rand, shape ...int) *Dense {
	d, at := New(shape...), rng.Uint32()
	for i := range d.Data {
		at = at*1664525 + 1013904223
		d.Data[i] = Float(int(at>>16)%7 - 3)
	}
	return d
}

// times returns d·v, or with transposed dᵀ·v.
func times(d *Dense, transposed bool, v []float64) []float64 {
	m, n := d.Rows(), d.RowLen()
	out := make([]float64, m)
	if transposed {
		out = make([]float64, n)
	}
	for i := range m {
		for j, x := range d.Row(i) {
			if transposed {
				out[j] += float64(x) * v[i]
			} else {
				out[i] += float64(x) * v[j]
			}
		}
	}
	return out
}

// expected is a product of whole numbers, and a bias or none, by what both sides make of a
// vector of whole numbers: exact, and without the work of a product.
type expected struct {
	v, product []float64
	sum, added float64 // of v, and of v times the bias
}

func newExpected(f Flags, a, b, bias *Dense) expected {
	n := b.RowLen()
	if f&TransB != 0 {
		n = b.Rows()
	}
	e := expected{v: make([]float64, n)}
	for j := range e.v {
		e.v[j] = float64(j*7919%1013 + 1)
		e.sum += e.v[j]
		if bias != nil {
			e.added += float64(bias.Data[j]) * e.v[j]
		}
	}
	e.product = times(a, f&TransA != 0, times(b, f&TransB != 0, e.v))
	return e
}

// check checks that c is what it was, everywhere, and the product, and the bias if that was set.
func (e expected) check(t *testing.T, what string, c *Dense, was Float, set bool) {
	t.Helper()
	add := float64(was) * e.sum
	if set {
		add += e.added
	}
	for i, got := range times(c, false, e.v) {
		if got != e.product[i]+add {
			t.Fatalf("%s: row %d is wrong", what, i)
		}
	}
}

// TestProductSizes has a product on either side of every size at which it is computed in
// another way, added to what is there and set over NaN.
func TestProductSizes(t *testing.T) {
	type size struct {
		m, k, n int
		f       Flags
	}
	var all []size
	add := func(f Flags, ms, ks, ns []int) {
		crossed := len(ms)*len(ks)*len(ns) > max(len(ms), len(ks), len(ns))
		for i, m := range ms {
			for j, k := range ks {
				for l, n := range ns {
					if crossed && (i+j+l)%2 != 0 && !sparing.Full() {
						continue // each size is beside others too
					}
					all = append(all, size{m, k, n, f})
				}
			}
		}
	}
	add(0, []int{8}, []int{8}, []int{16, 17})                               // less work than to plan it
	add(0, []int{31, 32, 33}, []int{40}, []int{24, 25})                     // b in place or in panels
	add(0, []int{5, 40}, []int{511, 512, 513, 1025}, []int{15, 16, 17, 40}) // steps of k
	add(0, []int{143, 144, 145, 289}, []int{20}, []int{40})                 // rows of a block
	add(0, []int{23, 24, 25, 49}, []int{127, 128}, []int{1023, 1024})       // few steps and wide rows
	add(0, []int{7, 150}, []int{1024, 1025, 2048}, []int{64, 65})           // a's rows share sets of a cache
	add(0, []int{33}, []int{1025}, []int{1100})                             // more steps than are packed at a time
	add(0, []int{580}, []int{260}, []int{256})                              // as many chunks as there may be
	add(0, []int{8, 40}, []int{300}, []int{4000})                           // and these beside each other
	add(0, []int{40}, []int{500}, []int{524, 525, 1048, 1049})              // b beyond the second cache
	add(0, []int{287, 288}, []int{500}, []int{1049})                        // and few rows or many
	add(TransA, []int{130}, []int{520}, []int{1025})
	add(TransB, []int{31, 32}, []int{300, 513}, []int{17, 700})
	add(TransA|TransB, []int{128, 129}, []int{257}, []int{30})
	add(TransA, []int{128, 129, 130}, []int{255, 256, 257, 512}, []int{40})   // columns of a in groups
	add(TransA, []int{130}, []int{260}, []int{495, 513})                      // columns cut less, as groups are made for each
	add(TransA, []int{511, 512, 513, 1030}, []int{20}, []int{40})             // rows of a group
	add(TransA, []int{5, 40}, []int{2047, 2048, 4095, 4096, 6144}, []int{20}) // k in parts
	add(TransA, []int{3}, []int{4095, 4096}, []int{512, 513})
	add(TransA, []int{3}, []int{16384, 20000}, []int{20})
	add(TransA, []int{130}, []int{6144}, []int{30})                      // both
	add(TransA, []int{200}, []int{2048}, []int{100})                     // parts that are added in chunks
	add(TransA, []int{63, 64}, []int{255, 256, 6144}, []int{11, 12, 13}) // as the transpose
	for _, s := range sparing.Some(all) {
		if sparing.Raced && s.m*s.n*s.k > 1<<21 {
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(s.m*s.n), uint64(s.k)))
		a, b, bias := whole(rng, s.m, s.k), whole(rng, s.k, s.n), whole(rng, s.n)
		if s.f&TransA != 0 {
			a = whole(rng, s.k, s.m)
		}
		if s.f&TransB != 0 {
			b = whole(rng, s.n, s.k)
		}
		what, c, want := fmt.Sprint(s), New(s.m, s.n), newExpected(s.f, a, b, bias)
		c.Fill(2)
		MatMul(c, a, b, s.f)
		want.check(t, what+" added", c, 2, false)
		c.Fill(Float(math.NaN()))
		MatMulThen(c, a, b, s.f, Epilogue{Bias: bias})
		want.check(t, what+" set", c, 0, true)
		if s.f == 0 {
			c.Fill(Float(math.NaN()))
			MatMulPackedThen(c, a, Pack(b, 0), 0, Epilogue{Bias: bias})
			want.check(t, what+" packed", c, 0, true)
		}
		if s.f == TransA {
			sums, ones := New(s.n), make([]float64, s.k)
			c.Fill(Float(math.NaN()))
			MatMulSum(c, a, b, true, sums)
			want.check(t, what+" with sums", c, 0, false)
			for i := range ones {
				ones[i] = 1
			}
			for j, want := range times(b, true, ones) {
				if float64(sums.Data[j]) != want {
					t.Fatalf("%s: the sum of column %d is %v, want %v", what, j, sums.Data[j], want)
				}
			}
		}
	}
}

// TestBatchSizes has batches that one thread computes, that are cut into chunks of several
// products, the last of fewer, and of products that are cut themselves.
func TestBatchSizes(t *testing.T) {
	for _, s := range [][4]int{{3, 8, 8, 8}, {7, 64, 64, 64}, {8, 64, 64, 64}, {9, 60, 64, 64}, {3, 90, 90, 90}, {2, 204, 204, 204}} {
		rng := rand.New(rand.NewPCG(1, uint64(s[1])))
		a, b, c := whole(rng, s[0], s[1], s[2]), whole(rng, s[0], s[2], s[3]), New(s[0], s[1], s[3])
		c.Fill(1)
		BatchMatMul(c, a, b, 0)
		for i := range s[0] {
			want := newExpected(0, Of(a.Row(i), s[1], s[2]), Of(b.Row(i), s[2], s[3]), nil)
			want.check(t, fmt.Sprintf("%v, product %d", s, i), Of(c.Row(i), s[1], s[3]), 1, false)
		}
	}
}

// TestChunks compares everything that is cut into chunks, and sums into parts, with the
// same in one piece, which the oracles test: with the usual share of work, and with so
// small a one that there are as many parts as there may be.
func TestChunks(t *testing.T) {
	defer func(old int) { share = old }(share)
	usual := share
	for _, op := range sparing.Some(operations(1000)) {
		result := func(of int) *Dense {
			share = of
			dst := rough(9, op.dst...)
			op.run(dst)
			return dst
		}
		want := result(math.MaxInt)
		for _, of := range []int{usual, 1 << 9} {
			sums := compare.Off(1e-3, 1e-4).OrNaN() // of terms up to some hundreds
			compare.Near(t, fmt.Sprintf("%s, shares of %d", op.name, of), result(of).Data, want.Data, sums)
		}
	}
}

// TestMovedRows has rows of every width at which sums of rows go another way, where they
// are many and where few.
func TestMovedRows(t *testing.T) {
	for _, n := range []int{1, 63, 64, 127, 128, 129, 191, 192, 300} {
		for _, rows := range []int{50, 16384/n - 1, 16384 / n, 70000 / n} {
			rng := rand.New(rand.NewPCG(uint64(n), uint64(rows)))
			list := make([]int32, rows)
			for i := range list {
				list[i] = rng.Int32N(37)
			}
			x, table := whole(rng, rows, n), whole(rng, 37, n)
			got, want := New(rows, n), table.Clone()
			got.Fill(Float(math.NaN()))
			GatherRows(got, table, list)
			sum := table.Clone()
			ScatterAddRows(sum, x, list)
			for i, r := range list {
				if !slices.Equal(got.Row(i), table.Row(int(r))) {
					t.Fatalf("%d rows of %d: row %d is not gathered", rows, n, i)
				}
				for j, v := range x.Row(i) {
					want.Row(int(r))[j] += v
				}
			}
			if !slices.Equal(sum.Data, want.Data) {
				t.Fatalf("%d rows of %d are not added up", rows, n)
			}
		}
	}
}

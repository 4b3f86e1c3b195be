package sparse

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestStrips: a product with the transpose of a matrix of many rows and few columns, which
// runs by strips, has the bits of a plain loop over the rows: with zeros, which are left out
// beside infinities too, added to and set, on any number of threads, and after Values change.
func TestStrips(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	const rows, columns = 16*stripRows + 9, 11
	a := &CSR{NumRows: rows, NumCols: columns, Offsets: []int64{0}}
	for range rows {
		for range rng.IntN(9) {
			a.Cols = append(a.Cols, int32(rng.IntN(columns-1))) // the last is empty
			a.Values = append(a.Values, tensor.Float(rng.NormFloat64()))
		}
		a.Offsets = append(a.Offsets, int64(len(a.Cols)))
	}
	for _, f := range []int{64, 80, 32} {
		x := tensor.New(rows, f)
		x.Normal(rng, 0, 1)
		for _, kind := range []string{"set", "add", "zeros"} {
			if kind == "zeros" { // of the strips from the third on
				for k := a.Offsets[2*stripRows]; k < int64(len(a.Values)); k += 7 {
					a.Values[k] = 0
				}
				row := 3*stripRows + 5
				clear(a.Values[a.Offsets[row]:a.Offsets[row+1]])
				x.Row(row)[1] = tensor.Float(math.Inf(1))
			}
			p := Product{A: a, Transpose: true, Add: kind != "set"}
			was, want := tensor.New(columns, f), tensor.New(columns, f)
			was.Normal(rng, 0, 1)
			if p.Add {
				copy(want.Data, was.Data)
			}
			p.scatter(want, x)
			for _, threads := range []int{1, 2, 13} {
				undo := par.SetThreads(threads)
				got, by := was.Clone(), was.Clone()
				p.Into(got, x)
				undo()
				if !slices.Equal(got.Data, want.Data) {
					t.Errorf("%s, %d columns of x, %d threads: other sums", kind, f, threads)
				}
				if f <= stripMost && !p.strips(x) {
					t.Errorf("a product of %d columns does not run by strips", f)
				}
				if p.byStrips(by, x); !slices.Equal(by.Data, want.Data) && f <= stripMost {
					t.Errorf("%s, %d columns of x, %d threads: other sums by strips", kind, f, threads)
				}
			}
		}
		for k := range a.Values {
			a.Values[k] = tensor.Float(rng.NormFloat64())
		}
	}
	if b := a.WithValues(nil); b.structureStrips() != a.structureStrips() {
		t.Error("a matrix of the same structure makes strips again")
	}
}

// Loops over rows have a multiple of the threads as chunks, or fewer than there are threads, and
// columns are spilt in more pieces where more threads take them.
func TestChunksOfThreads(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 16, 24, 100} {
		undo := par.SetThreads(threads)
		for _, work := range []int{0, 1, 5 * partWork, 40 * partWork, 1000 * partWork} {
			parts := partsOf(work)
			if parts < 1 || parts > threads && parts%threads > 0 || parts < min(work/partWork, threads) || parts > max(1, work/partWork) {
				t.Errorf("%d parts of %d on %d threads", parts, work/partWork, threads)
			}
		}
		undo()
	}
	for _, c := range [][3]int{{1, 64, 32}, {2, 64, 32}, {3, 64, 32}, {4, 64, 16}, {16, 64, 16}, {4, 128, 32}, {8, 128, 16}, {16, 128, 16}, {16, 15, 0}, {16, 24, 8}, {1, 16, 8}} {
		undo := par.SetThreads(c[0])
		if w := spillWidth(c[1]); w != c[2] {
			t.Errorf("%d threads spill %d of %d columns each, want %d", c[0], w, c[1], c[2])
		}
		undo()
	}
}

// Many keys are placed by several threads, each a range of them.
func TestSortManyKeys(t *testing.T) {
	const n = 2*listGrain + 77
	rng, keys := rand.New(rand.NewPCG(4, 3)), make([]int32, 3*n+5)
	for i := range keys {
		keys[i] = rng.Int32N(n)
	}
	defer par.SetThreads(1)()
	order, offsets := sortByKey(n, keys)
	for _, threads := range []int{2, 3, 16} {
		par.SetThreads(threads)
		if got, at := sortByKey(n, keys); !slices.Equal(got, order) || !slices.Equal(at, offsets) {
			t.Errorf("%d threads: another order", threads)
		}
	}
}

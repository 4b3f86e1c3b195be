package spmm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
	"github.com/edgewise-ml/edgewise/internal/sparing"
)

// rowTrial is a matrix of a few rows, some of them empty, and the rows that the
// kernels work on, not aligned and with guard words around.
type rowTrial struct {
	Gather
	y, w   []Float
	edges  []int32
	arg    []int32
	rows   int
	intact []func() bool
}

// newRowTrial makes a matrix of rows of random lengths below degree.
func newRowTrial(rng *rand.Rand, rows, degree, f, heads int, next func() Float) *rowTrial {
	t := &rowTrial{rows: rows}
	t.F, t.Far, t.Stream = f, rng.IntN(2) == 0, rng.IntN(2) == 0
	columns := 1 + rng.IntN(9)
	t.Offsets = []int64{0}
	for range rows {
		n := rng.IntN(degree + 1)
		if rng.IntN(4) == 0 {
			n = 0
		}
		for range n {
			t.Cols = append(t.Cols, rng.Int32N(int32(columns)))
		}
		t.Offsets = append(t.Offsets, int64(len(t.Cols)))
	}
	some := func(n int) []Float {
		x, ok := simdtest.Guarded(n, rng.IntN(8), next)
		t.intact = append(t.intact, ok)
		return x
	}
	nnz := len(t.Cols)
	t.X, t.y, t.w = some(columns*f), some(rows*f), some(nnz*heads)
	for range t.Cols {
		t.edges = append(t.edges, rng.Int32N(int32(nnz)))
	}
	t.arg = make([]int32, rows*f+2)
	t.arg[rows*f], t.arg[rows*f+1] = 77, 78
	return t
}

// check runs a kernel as built and in plain Go on copies of out.
func (t *rowTrial) check(tt *testing.T, what string, out []Float, size []float64, run func()) {
	tt.Helper()
	was := append([]Float(nil), out...)
	run()
	got := append([]Float(nil), out...)
	arg := append([]int32(nil), t.arg...)
	copy(out, was)
	undo := cpu.Disable()
	run()
	undo()
	for i, ok := range t.intact {
		if !ok() {
			tt.Fatalf("%s: wrote outside slice %d", what, i)
		}
	}
	compare.Near(tt, fmt.Sprintf("%s: rows of %d, and in plain Go", what, t.F), got, out, rounded(size))
	for i, k := range arg {
		if k != t.arg[i] {
			tt.Fatalf("%s: element %d is from nonzero %d, in plain Go %d", what, i, k, t.arg[i])
		}
	}
	copy(out, was)
}

// rounded allows the rounding of sums of a size, number by number. A size of 0 wants the same number.
func rounded(size []float64) compare.Tolerance { return compare.PartOfTerms(0, 1e-5, size).OrNaN() }

// all returns n times the same size.
func all(n int, size float64) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = size
	}
	return s
}

// checkRows compares every kernel on rows of one width and number of heads.
func checkRows(tt *testing.T, rng *rand.Rand, f, heads int, next func() Float) {
	tt.Helper()
	t := newRowTrial(rng, rng.IntN(7), 40, f, max(heads, 1), next)
	what := func(op string) string { return fmt.Sprintf("%s of %d in %d heads", op, f, heads) }
	lo := 0
	if t.rows > 2 {
		lo = rng.IntN(2)
	}
	for _, edges := range [][]int32{nil, t.edges} {
		for kind := range 3 {
			p := &RowSum{Gather: t.Gather, Y: t.y, W: t.w, Heads: heads, Edges: edges, Set: kind > 0, Mean: kind > 1}
			t.check(tt, what("RowSum"), t.y, all(len(t.y), 0), func() { p.AddRows(lo, t.rows) })
			if heads == 1 && f%16 == 0 { // of which there is a kernel of sixteen lanes, too
				undo := cpu.Narrow()
				t.check(tt, what("RowSum by eight lanes"), t.y, all(len(t.y), 0), func() { p.AddRows(lo, t.rows) })
				undo()
			}
		}
	}
	if heads == 0 {
		for _, least := range []bool{false, true} {
			p := &RowBest{Gather: t.Gather, Y: t.y, Arg: t.arg[:t.rows*f], Min: least}
			t.check(tt, what("RowBest"), t.y, all(len(t.y), 0), func() { p.SetRows(lo, t.rows) })
			p.Arg = nil
			t.check(tt, what("RowBest without Arg"), t.y, all(len(t.y), 0), func() { p.SetRows(lo, t.rows) })
		}
		checkWon(tt, rng, t)
		return
	}
	for _, set := range []bool{false, true} {
		p := &EdgeDot{Gather: t.Gather, Y: t.y, Z: t.w, Heads: heads, Set: set}
		t.check(tt, what("EdgeDot"), t.w, all(len(t.w), float64(8*f+8)), func() { p.AddRows(lo, t.rows) })
	}
}

// checkApart compares the kernels of heads that have a row of X in common.
func checkApart(tt *testing.T, rng *rand.Rand, f, heads int, next func() Float) {
	tt.Helper()
	t := newRowTrial(rng, 1+rng.IntN(7), 40, f, heads, next)
	what := func(op string) string { return fmt.Sprintf("%s of %d in %d heads apart", op, f, heads) }
	lo, apart := rng.IntN(2), t.rows*f+rng.IntN(3)
	y, intact := simdtest.Guarded(heads*apart, rng.IntN(8), next)
	t.intact = append(t.intact, intact)
	for _, set := range []bool{false, true} {
		s := &RowSum{Gather: t.Gather, Y: y, W: t.w, Heads: heads, Apart: apart, Set: set}
		t.check(tt, what("RowSum"), y, all(len(y), 0), func() { s.AddRows(lo, t.rows) })
		d := &EdgeDot{Gather: t.Gather, Y: y, Z: t.w, Heads: heads, Apart: apart, Set: set}
		t.check(tt, what("EdgeDot"), t.w, all(len(t.w), float64(8*f+8)), func() { d.AddRows(lo, t.rows) })
	}
}

// checkWon compares RowWon, whose numbers are in X's rows, and means.
func checkWon(tt *testing.T, rng *rand.Rand, t *rowTrial) {
	arg := make([]int32, len(t.X))
	for i := range arg {
		if arg[i] = -1; len(t.Cols) > 0 && rng.IntN(5) > 0 {
			arg[i] = t.edges[rng.IntN(min(4, len(t.edges)))]
		}
	}
	p := &RowWon{Gather: t.Gather, Y: t.y, Arg: arg, Edges: t.edges}
	t.check(tt, "RowWon", t.y, all(len(t.y), 0), func() { p.AddRows(0, t.rows) })
	s := simdtest.Draw(len(t.y), simdtest.Plain(rng))
	t.check(tt, "AddMeans", t.y, all(len(t.y), 0), func() { Rows(t.F).AddMeans(t.y, s, t.Offsets) })
	t.check(tt, "DivideRanges", t.y, all(len(t.y), 0), func() { Rows(t.F).DivideRanges(t.y, t.y, t.Offsets) })
}

func TestPick(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 7))
	few := []Float{0, Float(math.Copysign(0, -1)), Float(math.NaN()), math.SmallestNonzeroFloat32, 1, 2}
	for _, n := range simdtest.Lengths() {
		cols, w := make([]int32, n), simdtest.Draw(n, func() Float { return few[rng.IntN(len(few))] })
		for k := range cols {
			cols[k] = int32(k)
		}
		toW, intact := simdtest.Guarded(n, n%8, func() Float { return simdtest.Guard })
		toCols := make([]int32, n+1)
		toCols[n] = 99
		got := Pick(toCols, toW, cols, w)
		at := 0
		for k, v := range w {
			if v == 0 {
				continue
			}
			if toCols[at] != int32(k) || toW[at] != v && v == v {
				t.Fatalf("nonzero %d of %v is %v in column %d", at, w, toW[at], toCols[at])
			}
			at++
		}
		if got != at || toCols[n] != 99 || !intact() {
			t.Fatalf("%d nonzeros of %v, or outside", got, w)
		}
		edges, mixed := make([]int32, n), make([]Float, n)
		for k, e := range rng.Perm(n) {
			edges[k], mixed[e] = int32(e), w[k]
		}
		alsoW, alsoCols := make([]Float, n+1), make([]int32, n+1)
		if also := PickEdges(alsoCols, alsoW, cols, mixed, edges); also != at {
			t.Fatalf("%d nonzeros by edges, want %d", also, at)
		}
		for k := range at {
			if alsoCols[k] != toCols[k] || alsoW[k] != toW[k] && toW[k] == toW[k] {
				t.Fatalf("nonzero %d by edges is %v in column %d, want %v in %d", k, alsoW[k], alsoCols[k], toW[k], toCols[k])
			}
		}
		if in := Pick(cols, w, cols, w); in != at {
			t.Fatalf("%d nonzeros in place, want %d", in, at)
		}
	}
}

// headsOf returns the numbers of heads that divide f, and none. Beyond 40 columns those
// beside one and f whose heads are whole registers, if not sparing.Full: the rest have no
// kernel of their own.
func headsOf(f int) []int {
	out := []int{0}
	for h := 1; h <= f; h++ {
		if f%h == 0 && (f <= 40 || h == 1 || h == f || f/h%8 == 0 || sparing.Full()) {
			out = append(out, h)
		}
	}
	return out
}

func TestRowKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for _, f := range simdtest.Lengths() {
		for _, heads := range headsOf(f) {
			checkRows(t, rng, f, heads, simdtest.Plain(rng))
		}
	}
	for _, hd := range [][2]int{{6, 121}, {4, 64}, {8, 64}, {12, 8}, {13, 16}, {11, 32}, {5, 32}, {1, 500}} {
		checkRows(t, rng, hd[0]*hd[1], hd[0], simdtest.Plain(rng))
	}
	for heads := 1; heads <= 9; heads++ {
		for _, f := range []int{1, 8, 13, 64, 72, 256, 300} {
			checkApart(t, rng, f, heads, simdtest.Plain(rng))
		}
	}
}

// NaN and infinities go where they go in plain Go.
func TestRowKernelsSpecial(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	few := []Float{Float(math.NaN()), Float(math.Inf(1)), Float(math.Inf(0)), 0, Float(math.Copysign(0, 0)), 1, -1, 2}
	next := func() Float { return few[rng.IntN(len(few))] }
	for _, f := range simdtest.Lengths() {
		if f > 72 && !sparing.Full() {
			break
		}
		for _, heads := range headsOf(f) {
			checkRows(t, rng, f, heads, next)
		}
		checkApart(t, rng, f, 5, next)
	}
}

// TestRowStartsWithNaN wants a NaN that comes first to stay, the only NaN there is.
func TestRowStartsWithNaN(t *testing.T) {
	nan := Float(math.NaN())
	for _, f := range []int{1, 16, 64, 80, 128} {
		for at := range f {
			for _, least := range []bool{false, true} {
				x := make([]Float, 3*f)
				for j := range f {
					x[f+j], x[2*f+j] = 1, -1
				}
				x[at] = nan
				y, arg := make([]Float, 2*f), make([]int32, 2*f)
				p := &RowBest{Y: y, Arg: arg, Min: least}
				p.Gather = Gather{X: x, F: f, Offsets: []int64{0, 3, 4}, Cols: []int32{0, 1, 2, 0}}
				p.SetRows(0, 2)
				for i, first := range []int32{0, 3} {
					if v, k := y[i*f+at], arg[i*f+at]; v == v || k != first {
						t.Fatalf("row %d of %d, least %t: element %d is %v from nonzero %d, not NaN from %d", i, f, least, at, v, k, first)
					}
				}
				p.Arg = nil
				if p.SetRows(0, 2); y[at] == y[at] || y[f+at] == y[f+at] {
					t.Fatalf("rows of %d without Arg, least %t: element %d is %v and %v, not NaN", f, least, at, y[at], y[f+at])
				}
			}
		}
	}
}

// A row that is cut into pieces has the bits of one that is not.
func TestRowPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	for _, f := range []int{8, 67, 256} {
		tr := newRowTrial(rng, 3, 5*pieceWork/f, f, 1, simdtest.Plain(rng)) // two pieces and a half, on the average
		y := append([]Float(nil), tr.y...)
		p := &RowSum{Gather: tr.Gather, Y: tr.y, W: tr.w, Heads: 1}
		p.AddRows(0, 3)
		for i := range 3 { // by hand, 7 nonzeros at a time
			for k := tr.Offsets[i]; k < tr.Offsets[i+1]; k += 7 {
				q := *p
				q.Y = y[i*f : i*f+f]
				q.Offsets = []int64{k, min(k+7, tr.Offsets[i+1])}
				q.AddRows(0, 1)
			}
		}
		for i, v := range tr.y {
			if v != y[i] {
				t.Fatalf("rows of %d: element %d is %v in large pieces, %v in small ones", f, i, v, y[i])
			}
		}
		set := *p
		set.Set = true
		tr.check(t, "RowSum", tr.y, all(len(tr.y), 0), func() { set.AddRows(0, 3) })
		set.Mean = true
		tr.check(t, "means by RowSum", tr.y, all(len(tr.y), 0), func() { set.AddRows(0, 3) })
		tr.check(t, "RowBest", tr.y, all(len(tr.y), 0), func() {
			b := &RowBest{Gather: tr.Gather, Y: tr.y, Arg: tr.arg[:3*f]}
			b.SetRows(0, 3)
		})
	}
}

func FuzzRowKernels(f *testing.F) {
	f.Add(uint64(1), uint8(8), uint8(8))
	f.Add(uint64(2), uint8(3), uint8(5))
	f.Add(uint64(3), uint8(1), uint8(121))
	f.Fuzz(func(t *testing.T, seed uint64, heads, d uint8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		next := simdtest.Plain(rng)
		if seed%2 == 1 {
			next = func() Float { return simdtest.Special[rng.IntN(12)] } // the sums are exact or not finite
		}
		h := int(heads % 16)
		checkRows(t, rng, max(h, 1)*int(d%140), h, next)
	})
}

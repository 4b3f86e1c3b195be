package attend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// dotWalkOf returns nodes with so many edges, from edge 3 on, among columns.
func dotWalkOf(rng *rand.Rand, deg []int, columns int) DotWalk {
	f := edgeRowsCase{h: 8, d: 8, deg: deg}.edgeRows(rng, columns)
	return DotWalk{Offsets: f.Offsets, Cols: f.Cols, Scale: Float(0.1 + rng.Float64()), Stream: f.Add,
		SetQ: rng.IntN(2) == 0, SetK: rng.IntN(2) == 0, SetV: rng.IntN(2) == 0, Work: make([]Float, DotWork)}
}

// dotFormula is what a DotWalk says in float64.
type dotFormula struct {
	*rounding.Formula
	s          *DotWalk
	q, k, v, r []rounding.Number
}

func newDotFormula(s *DotWalk) *dotFormula {
	f := rounding.NewFormula()
	return &dotFormula{f, s, rounding.Given(f, s.Q), rounding.Given(f, s.K), rounding.Given(f, s.V), rounding.Given(f, s.R)}
}

// part is a head of a row.
func part(x []rounding.Number, row, h int) []rounding.Number { return x[row*DotRow+8*h:][:8] }

// each calls do with the nodes of a call, the range of their edges, and heads, and returns how many nodes there are.
func (f *dotFormula) each(do func(r, lo, hi, h int)) Float {
	for r := range len(f.s.Offsets) - 1 {
		lo, hi := int(f.s.Offsets[r]), int(f.s.Offsets[r+1])
		if hi > int(f.s.Offsets[0])+DotMost {
			return Float(r)
		}
		for h := range 8 {
			do(r, lo, hi, h)
		}
	}
	return Float(len(f.s.Offsets) - 1)
}

// kept is what dropout multiplies a weight with.
func (f *dotFormula) kept(e, h int) float64 {
	if f.s.Kept == nil {
		return 1
	}
	return float64(f.s.Kept[8*(e-int(f.s.Offsets[0]))+h])
}

func (f *dotFormula) score(v, u, h int) rounding.Number {
	return f.Scale(f.Dot(part(f.q, v, h), part(f.k, u, h)), float64(f.s.Scale))
}

// attend sets what Attend makes of the results and the records, and returns the number of nodes.
func (f *dotFormula) attend(y, rec []rounding.Result) Float {
	added := rounding.Given(f.Formula, f.s.Add)
	return f.each(func(r, lo, hi, h int) {
		var z, below []rounding.Number
		for _, u := range f.s.Cols[lo:hi] {
			z = append(z, f.score(r, int(u), h))
		}
		at := r*DotRecord + DotPlace(h)
		if rec[at], rec[at+8] = (rounding.Result{}), (rounding.Result{}); lo < hi {
			top := f.Max(z...)
			for _, z := range z {
				below = append(below, f.Exp(f.Sub(z, top)))
			}
			rec[at], rec[at+8] = f.Result(top), f.Result(f.Div(f.Constant(1), f.Sum(below...)))
		}
		weights := f.Softmax(z)
		for i := range weights {
			weights[i] = f.Scale(weights[i], f.kept(lo+i, h))
		}
		for j := range 8 {
			at := r*DotRow + 8*h + j
			sum := f.Dot(weights, f.column(f.v, lo, hi, h, j))
			if f.s.Add != nil {
				sum = f.Sum(sum, added[at])
			}
			y[at] = f.Result(sum)
		}
	})
}

// column is element j of a head of the columns of some edges.
func (f *dotFormula) column(x []rounding.Number, lo, hi, h, j int) (out []rounding.Number) {
	for _, c := range f.s.Cols[lo:hi] {
		out = append(out, part(x, int(c), h)[j])
	}
	return out
}

// pair returns α and dα of an edge between destination v and source u.
func (f *dotFormula) pair(v, u, e, h int) (alpha, d rounding.Number) {
	at := v*DotRecord + DotPlace(h)
	alpha = f.Scale(f.ExpLess(f.score(v, u, h), float64(f.s.Rec[at])), float64(f.s.Rec[at+8]))
	return alpha, f.Scale(f.Dot(part(f.v, u, h), part(f.r, v, h)), f.kept(e, h))
}

// given adds a sum times scale to what there was, or not, if it is set.
func (f *dotFormula) given(was Float, set bool, x, y []rounding.Number, scale Float) rounding.Result {
	sum := f.Scale(f.Dot(x, y), float64(scale))
	if !set {
		sum = f.Sum(f.Constant(float64(was)), sum)
	}
	return f.Result(sum)
}

// retrace sets what Retrace makes of the records and the gradients of Q, if any.
func (f *dotFormula) retrace(rec, dq []rounding.Result) Float {
	return f.each(func(r, lo, hi, h int) {
		at := r*DotRecord + 16 + DotPlace(h)
		var alphas, ds, slopes []rounding.Number
		for e := lo; e < hi; e++ {
			alpha, d := f.pair(r, int(f.s.Cols[e]), e, h)
			alphas, ds = append(alphas, alpha), append(ds, d)
		}
		center := f.Constant(float64(f.s.Rec[at]))
		if f.s.Stage != DotCentred && lo < hi {
			center = f.Dot(alphas, ds)
			rec[at] = f.Result(center)
		}
		if f.s.Stage == DotCenter && lo < hi || f.s.DQ == nil {
			return
		}
		for i, d := range ds {
			slopes = append(slopes, f.Mul(alphas[i], f.Sub(d, center)))
		}
		for j := range 8 {
			at := r*DotRow + 8*h + j
			dq[at] = f.given(f.s.DQ[at], f.s.SetQ, slopes, f.column(f.k, lo, hi, h, j), f.s.Scale)
		}
	})
}

// back sets what Return makes of the gradients of K, if any, and V.
func (f *dotFormula) back(dk, dv []rounding.Result) Float {
	return f.each(func(r, lo, hi, h int) {
		var weights, slopes []rounding.Number
		for e := lo; e < hi; e++ {
			v := int(f.s.Cols[e])
			alpha, d := f.pair(v, r, e, h)
			weights = append(weights, f.Scale(alpha, f.kept(e, h)))
			slopes = append(slopes, f.Mul(alpha, f.Sub(d, f.Constant(float64(f.s.Rec[v*DotRecord+16+DotPlace(h)])))))
		}
		for j := range 8 {
			at := r*DotRow + 8*h + j
			dv[at] = f.given(f.s.DV[at], f.s.SetV, weights, f.column(f.r, lo, hi, h, j), 1)
			if f.s.DK != nil {
				dk[at] = f.given(f.s.DK[at], f.s.SetK, slopes, f.column(f.q, lo, hi, h, j), f.s.Scale)
			}
		}
	})
}

// checkDotWalk holds the three kernels against the formula.
func checkDotWalk(t *testing.T, rng *rand.Rand, deg []int, columns int) {
	t.Helper()
	s := dotWalkOf(rng, deg, columns)
	n, edges := len(deg), int(s.Offsets[len(deg)]-3)
	far := Float(1 + 30*rng.IntN(2)) // scores that weigh nothing are among those of far rows
	drops, adds, wanted := rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(4) != 0
	next := func() Float { return Float(rng.NormFloat64()) }
	draw := func(rows int) []Float { return simdtest.Draw(rows*DotRow, next) }
	what := fmt.Sprintf("of %v edges, %g times, dropout %v", deg, far, drops)
	if kept := simdtest.Draw(8*(edges+1), func() Float { return Float(2 * rng.IntN(2)) }); drops {
		s.Kept = kept
	}
	// held runs a kernel: arrays are those of fill, and the last is for the number of nodes.
	held := func(kernel string, arrays [][]Float, fill func(k *DotWalk, x [][]Float), run func(k *DotWalk) int, formula func(f *dotFormula, want [][]rounding.Result) Float) {
		t.Helper()
		arrays = append(arrays, make([]Float, 1))
		var want [][]rounding.Result
		for _, x := range arrays {
			want = append(want, rounding.Exact(x))
		}
		k := s
		fill(&k, arrays)
		want[len(want)-1][0].Value = float64(formula(newDotFormula(&k), want))
		simdtest.Held(t, kernel+" "+what, arrays, func(x [][]Float) {
			k := s
			fill(&k, x)
			x[len(x)-1][0] = Float(run(&k))
		}, want)
	}
	held("Attend", [][]Float{draw(n), draw(columns), draw(columns), draw(n), simdtest.Draw(n*DotRecord, next), draw(n)}, func(k *DotWalk, x [][]Float) {
		k.Q, k.K, k.V, k.Y, k.Rec = x[0], x[1], x[2], x[3], x[4]
		if k.Scale *= far; adds {
			k.Add = x[5]
		}
	}, (*DotWalk).Attend, func(f *dotFormula, want [][]rounding.Result) Float { return f.attend(want[3], want[4]) })
	quarter := func(x []Float) []Float { // rows so small that no weight is large
		for i := range x {
			x[i] /= 4
		}
		return x
	}
	rec := func(rows int) []Float {
		x := simdtest.Draw(rows*DotRecord, func() Float { return Float(1 + rng.Float64()) })
		for i := range x {
			if i%DotRecord/8 == 1 {
				x[i] /= 40 // so that weights are as small as those that add up to 1
			}
		}
		return x
	}
	for stage := DotWhole; stage <= DotCentred; stage++ {
		held(fmt.Sprint("Retrace, stage ", stage), [][]Float{quarter(draw(n)), draw(columns), draw(columns), quarter(draw(n)), rec(n), draw(n)}, func(k *DotWalk, x [][]Float) {
			k.Q, k.K, k.V, k.R, k.Rec, k.Stage = x[0], x[1], x[2], x[3], x[4], stage
			if wanted {
				k.DQ = x[5]
			}
		}, (*DotWalk).Retrace, func(f *dotFormula, want [][]rounding.Result) Float { return f.retrace(want[4], want[5]) })
	}
	held("Return", [][]Float{draw(columns), quarter(draw(n)), draw(n), draw(columns), rec(columns), draw(n), draw(n)}, func(k *DotWalk, x [][]Float) {
		k.Q, k.K, k.V, k.R, k.Rec, k.DV = x[0], x[1], x[2], x[3], x[4], x[6]
		if wanted {
			k.DK = x[5]
		}
	}, (*DotWalk).Return, func(f *dotFormula, want [][]rounding.Result) Float { return f.back(want[5], want[6]) })
}

// alsoNarrow runs a test by AVX2, too, where the processor has more.
func alsoNarrow(t *testing.T, test func(t *testing.T)) {
	if cpu.Path() == "avx512" {
		defer cpu.Narrow()()
		t.Run("of AVX2", test)
	}
}

func TestDotWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 1))
	for n := range 60 {
		checkDotWalk(t, rng, []int{n, 0, n / 2, 1, 3}, 1+rng.IntN(9))
	}
	checkDotWalk(t, rng, []int{1, 0, 3, 40}, cpu.FarFrom/DotRow+1) // rows are asked for beforehand
	checkDotWalk(t, rng, []int{DotMost - 1, 1, 1}, 9)              // the last is beyond a call
	checkDotWalk(t, rng, []int{DotMost + 1}, 9)
	checkDotWalk(t, rng, nil, 9)
}

// The kernel stops before a destination whose largest score is no number, and the slow way
// does it: infinities of one sign share all weight, and where all is −∞ nothing weighs.
func TestDotWalkOdd(t *testing.T) {
	alsoNarrow(t, TestDotWalkOdd)
	inf := Float(math.Inf(1))
	for _, c := range []struct{ k0, k1, want Float }{{inf, 1, 5}, {inf, inf, 6}, {-inf, 2, 7}, {-inf, -inf, 0}, {1, 1, 6}} {
		for _, edges := range []int{2, 4} { // in pairs, and each twice
			s := DotWalk{Offsets: []int64{0, int64(edges)}, Cols: []int32{0, 1, 0, 1}[:edges], Scale: 1, Work: make([]Float, DotWork)}
			s.Q, s.K, s.V, s.Y, s.Rec = make([]Float, DotRow), make([]Float, 2*DotRow), make([]Float, 2*DotRow), make([]Float, DotRow), make([]Float, DotRecord)
			for h := range 8 {
				s.Q[8*h], s.K[8*h], s.K[DotRow+8*h], s.V[8*h], s.V[DotRow+8*h] = 1, 1, 1, 5, 7
			}
			s.K[8*5], s.K[DotRow+8*5] = c.k0, c.k1
			if s.Attend() == 0 {
				s.AttendOdd()
			} else if top := max(c.k0, c.k1); strings.HasPrefix(cpu.Path(), "avx") && top-top != 0 {
				t.Errorf("the kernel took a largest score of %g", top)
			}
			for h := range 8 {
				want := Float(6)
				if h == 5 {
					want = c.want
				}
				if got := s.Y[8*h]; got != want {
					t.Errorf("scores %g and %g, %d edges: head %d is %g, want %g", c.k0, c.k1, edges, h, got, want)
				}
			}
		}
	}
}

// A value that is infinite stays that, whether the number of edges is odd or even.
func TestDotWalkInfinite(t *testing.T) {
	alsoNarrow(t, TestDotWalkInfinite)
	for n := 1; n < 6; n++ {
		rng := rand.New(rand.NewPCG(72, uint64(n)))
		s := dotWalkOf(rng, []int{n}, 1)
		fill := func(v Float) []Float { return simdtest.Draw(DotRow, func() Float { return v }) }
		s.Q, s.K, s.V, s.Y = fill(1), fill(1), fill(Float(math.Inf(1))), fill(0)
		s.Attend()
		for j, y := range s.Y {
			if !math.IsInf(float64(y), 1) {
				t.Fatalf("%d edges: element %d is %g, want +Inf", n, j, y)
			}
		}
	}
}

// Of a destination that hears one source no score has a gradient, not even of rounding.
func TestDotWalkLone(t *testing.T) {
	alsoNarrow(t, TestDotWalkLone)
	rng := rand.New(rand.NewPCG(73, 1))
	next := func() Float { return Float(rng.NormFloat64()) * 100 }
	draw := func() []Float { return simdtest.Draw(3*DotRow, next) }
	for _, kept := range [][]Float{nil, simdtest.Draw(32, func() Float { return 1.25 })} {
		s := DotWalk{Offsets: []int64{0, 1, 2, 3}, Cols: []int32{1, 2, 0}, Scale: 0.3, Kept: kept, Work: make([]Float, DotWork), SetQ: true, SetK: true, SetV: true}
		s.Q, s.K, s.V, s.R, s.Y, s.DQ, s.DK, s.DV = draw(), draw(), draw(), draw(), draw(), draw(), draw(), draw()
		s.Rec = make([]Float, 3*DotRecord)
		s.Attend()
		s.Retrace()
		s.Cols = []int32{2, 0, 1} // the transpose
		s.Return()
		for i := range s.DQ {
			if s.DQ[i] != 0 || s.DK[i] != 0 {
				t.Fatalf("element %d has gradients %g of Q and %g of K, want 0", i, s.DQ[i], s.DK[i])
			}
		}
	}
}

func BenchmarkDotWalk(b *testing.B) {
	rng := rand.New(rand.NewPCG(74, 1))
	deg := make([]int, 128)
	for i := range deg {
		deg[i] = 1 + rng.IntN(13)
	}
	const columns = 500
	s := dotWalkOf(rng, deg, columns)
	draw := func() []Float { return simdtest.Draw(columns*DotRow, func() Float { return Float(rng.NormFloat64()) }) }
	s.Q, s.K, s.V, s.R, s.Y, s.DQ, s.DK, s.DV = draw(), draw(), draw(), draw(), draw(), draw(), draw(), draw()
	s.Rec = simdtest.Draw(columns*DotRecord, func() Float { return 1 })
	for name, run := range map[string]func() int{"Attend": s.Attend, "Retrace": s.Retrace, "Return": s.Return} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(s.Offsets[len(deg)]-3), "ns/edge")
		})
	}
}

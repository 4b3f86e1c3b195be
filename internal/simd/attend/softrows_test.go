package attend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// softTest returns rows of logits with some −∞, a row of nothing else, and statistics.
func softTest(rng *rand.Rand, rows, width, each int) (s SoftRows, arrays [][]Float) {
	next := simdtest.Plain(rng)
	s = SoftRows{Rows: rows, Width: width, Stride: width + rng.IntN(9), Each: each, Scale: Float(rng.Float64() + 0.2)}
	x := simdtest.Draw(rows*s.Stride, next)
	top := make([]Float, rows*each)
	for i := range rows {
		row := s.row(x, i)
		for j := range row {
			if i%7 == 3 || rng.IntN(5) == 0 {
				row[j] = Float(math.Inf(-1))
			}
		}
		top[i*each] = max(vec.MaxOf(row)*s.Scale, vec.MaxOf(row))
	}
	sum := simdtest.Draw(rows*each, simdtest.Positive(rng))
	if rows > 2 {
		sum[2*each] = 0
	}
	g, kept := simdtest.Draw(len(x), next), simdtest.Draw(len(x), func() Float { return Float(rng.IntN(2)) * 1.25 })
	return s, [][]Float{x, g, kept, top, sum, simdtest.Draw(rows*each, next), make([]Float, rows)}
}

func checkSoftRows(t *testing.T, rng *rand.Rand, rows, width, each int) {
	t.Helper()
	s, arrays := softTest(rng, rows, width, each)
	for _, step := range []struct {
		name string
		run  func(s *SoftRows)
	}{
		{"Largest", (*SoftRows).Largest}, {"Add", (*SoftRows).Add}, {"Weigh", (*SoftRows).Weigh}, {"Dots", (*SoftRows).Dots}, {"Slopes", (*SoftRows).Slopes},
	} {
		in := arrays
		if step.name == "Dots" || step.name == "Slopes" { // of one sign, so that nothing cancels
			size := func(i int) []Float {
				return simdtest.Draw(len(arrays[i]), func() Float { return 0.1 + Float(rng.Float64()) })
			}
			in = [][]Float{size(0), size(1), arrays[2], nil, nil, size(5), nil}
		}
		if step.name == "Slopes" {
			for i := range in[5] {
				in[5][i] -= 2
			}
		}
		for _, kept := range []bool{false, true} {
			run := func(a [][]Float) {
				k := s
				k.X, k.G, k.Top, k.Sum, k.Center, k.Most = a[0], a[1], a[3], a[4], a[5], a[6]
				if kept {
					k.Kept = a[2]
				}
				step.run(&k)
			}
			what := fmt.Sprintf("%s of %d × %d, kept %t", step.name, rows, width, kept)
			simdtest.Trial(t, what, 2e-5, in, run)
			sameNarrow(t, what, in, run)
		}
	}
}

// sameNarrow fails unless the kernels of AVX2 and of AVX-512 have the same bits.
func sameNarrow(t *testing.T, what string, in [][]Float, run func(a [][]Float)) {
	t.Helper()
	var out [2][][]Float
	for k := range out {
		for _, x := range in {
			out[k] = append(out[k], append([]Float(nil), x...))
		}
		undo := func() {}
		if k == 1 {
			undo = cpu.Narrow()
		}
		run(out[k])
		undo()
	}
	for i := range in {
		compare.Near(t, what+", narrow", out[0][i], out[1][i], compare.SameBits.OrNaN())
	}
}

func TestAsmSoftRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 1))
	for rows := range 9 {
		for _, width := range []int{64, 128, 320} {
			for _, each := range []int{1, 3} {
				checkSoftRows(t, rng, rows, width, each)
			}
		}
	}
	checkSoftRows(t, rng, 5, 1<<13, 2) // more than a kernel is given at once
}

// A NaN among the logits of a row is its largest, wherever it stands.
func TestSoftRowsNaN(t *testing.T) {
	const rows, width = 3, 128
	for at := range width {
		s := SoftRows{X: make([]Float, rows*width), Top: make([]Float, rows), Most: make([]Float, rows), Rows: rows, Width: width, Stride: width, Each: 1, Scale: 2}
		for i := range s.X {
			s.X[i] = Float(i%7) - 3
		}
		s.X[width+at] = Float(math.NaN())
		for _, narrow := range []bool{false, true} {
			undo := func() {}
			if narrow {
				undo = cpu.Narrow()
			}
			s.Largest()
			undo()
			if s.Most[0] != 6 || s.Most[1] == s.Most[1] || s.Most[2] != 6 {
				t.Fatalf("a NaN at %d of the second row, narrow %t: the largest are %v", at, narrow, s.Most)
			}
		}
	}
}

// One whose weight is all of its row has a slope of exactly zero.
func TestSoftRowsSaturated(t *testing.T) {
	x, g, c := make([]Float, 64), make([]Float, 64), make([]Float, 1)
	for i := range g {
		g[i] = Float(i)*1.3 - 7
	}
	x[37] = 1
	s := SoftRows{X: x, G: g, Center: c, Rows: 1, Width: 64, Stride: 64, Scale: 3}
	s.Dots()
	s.Slopes()
	for i, v := range g {
		if v != 0 {
			t.Errorf("element %d has a slope of %v", i, v)
		}
	}
}

func TestSoftRowsOutside(t *testing.T) {
	for _, cut := range []func(s *SoftRows){
		func(s *SoftRows) { s.X = s.X[: len(s.X)-1 : len(s.X)-1] },
		func(s *SoftRows) { s.Top = s.Top[:1:1] },
		func(s *SoftRows) { s.Sum = s.Sum[:1:1] },
		func(s *SoftRows) { s.Width = 63 },
		func(s *SoftRows) { s.Stride = 32 },
	} {
		s := SoftRows{X: make([]Float, 128), Top: make([]Float, 2), Sum: make([]Float, 2), Rows: 2, Width: 64, Stride: 64, Each: 1}
		cut(&s)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic for %d elements of %d × %d", len(s.X), s.Rows, s.Width)
				}
			}()
			s.Weigh()
		}()
	}
}

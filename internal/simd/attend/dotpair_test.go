package attend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

func checkDotPair(t *testing.T, rng *rand.Rand, rows, heads, width int) {
	t.Helper()
	f, pos := heads*width, simdtest.Positive(rng)
	what := fmt.Sprintf("%d rows, %dx%d", rows, heads, width)
	arrays := [][]Float{
		simdtest.Draw(rows*f, pos), simdtest.Draw(f, pos), simdtest.Draw(f, pos), simdtest.Draw(rows*heads, pos), simdtest.Draw(rows*heads, pos),
		simdtest.Draw(rows*f, pos), simdtest.Draw(f, pos), simdtest.Draw(f, pos),
	}
	ends := func(s [][]Float) *DotPair {
		return &DotPair{X: s[0], A: s[1], B: s[2], L: s[3], R: s[4], H: heads, Width: width}
	}
	simdtest.Trial(t, "Pairs, "+what, 2e-5, arrays, func(s [][]Float) { ends(s).Pairs(rows) })
	simdtest.Trial(t, "Grad, "+what, 2e-5, arrays, func(s [][]Float) { ends(s).Grad(DotPairGrads{s[5], s[6], s[7]}, rows) })
}

func TestAsmDotPair(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 1))
	for heads := range 19 {
		for width := range 11 {
			checkDotPair(t, rng, rng.IntN(9), heads, width)
		}
	}
	for _, rows := range simdtest.Lengths() {
		checkDotPair(t, rng, rows, 8, 8)
		checkDotPair(t, rng, rows, 1, 1+rows%8)
	}
	checkDotPair(t, rng, 5, 4, 64)
}

func FuzzDotPair(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(8), uint8(8))
	f.Add(uint64(2), uint8(3), uint8(1), uint8(7))
	f.Fuzz(func(t *testing.T, seed uint64, rows, heads, width uint8) {
		checkDotPair(t, rand.New(rand.NewPCG(seed, 0)), int(rows%40), int(heads%20), int(width%40))
	})
}

// The sums are those of Heads, to the bit, and what stood in L and R is gone.
func TestDotPairOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 1))
	for _, shape := range [][2]int{{8, 8}, {16, 8}, {8, 5}, {1, 7}, {3, 8}, {2, 20}} {
		const rows = 23
		heads, width := shape[0], shape[1]
		f, next := heads*width, simdtest.Plain(rng)
		x, a, b, l, r := simdtest.Draw(rows*f, next), simdtest.Draw(f, next), simdtest.Draw(f, next), simdtest.Draw(rows*heads, next), simdtest.Draw(rows*heads, next)
		e := DotPair{X: x, A: a, B: b, L: l, R: r, H: heads, Width: width}
		e.Pairs(rows)
		for _, p := range []struct{ y, got []Float }{{a, l}, {b, r}} {
			want := make([]Float, rows*heads)
			k := Heads{X: x, Y: p.y, W: want, XStride: f, WStride: heads, H: heads, Width: width}
			k.Pairs(rows)
			for i, v := range want {
				if p.got[i] != v {
					t.Fatalf("%dx%d: product %d is %v, want %v", heads, width, i, p.got[i], v)
				}
			}
		}
	}
}

// Numbers that are not finite go where they belong, and nowhere else.
func TestDotPairNotFinite(t *testing.T) {
	const rows, heads, width = 5, 8, 8
	x, one := make([]Float, rows*heads*width), make([]Float, heads*width)
	for i := range one {
		one[i] = 1
	}
	x[2*heads*width+3*width+1] = Float(math.NaN())
	l, r := make([]Float, rows*heads), make([]Float, rows*heads)
	e := DotPair{X: x, A: one, B: one, L: l, R: r, H: heads, Width: width}
	e.Pairs(rows)
	for i := range l {
		if odd := i == 2*heads+3; (l[i] != l[i]) != odd || (r[i] != r[i]) != odd {
			t.Errorf("product %d is %v and %v", i, l[i], r[i])
		}
	}
}

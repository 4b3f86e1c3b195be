package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func checkEnds(t *testing.T, rng *rand.Rand, rows, heads, width int) {
	t.Helper()
	f, pos := heads*width, positive(rng)
	what := fmt.Sprintf("%d rows, %dx%d", rows, heads, width)
	arrays := func() [][]Float {
		return [][]Float{
			draw(rows*f, pos), draw(f, pos), draw(f, pos), draw(rows*heads, pos), draw(rows*heads, pos),
			draw(rows*f, pos), draw(f, pos), draw(f, pos),
		}
	}
	ends := func(s [][]Float) *Ends {
		return &Ends{X: s[0], A: s[1], B: s[2], L: s[3], R: s[4], H: heads, Width: width}
	}
	trial(t, "Pairs, "+what, 2e-5, arrays(), func(s [][]Float) { ends(s).Pairs(rows) })
	trial(t, "Grad, "+what, 2e-5, arrays(), func(s [][]Float) { ends(s).Grad(EndGrads{s[5], s[6], s[7]}, rows) })
}

func TestAsmEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 1))
	for heads := range 19 {
		for width := range 11 {
			checkEnds(t, rng, rng.IntN(9), heads, width)
		}
	}
	for rows := range 200 {
		checkEnds(t, rng, rows, 8, 8)
		checkEnds(t, rng, rows, 1, 1+rows%8)
	}
	checkEnds(t, rng, 5, 4, 64)
}

func FuzzEnds(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(8), uint8(8))
	f.Add(uint64(2), uint8(3), uint8(1), uint8(7))
	f.Fuzz(func(t *testing.T, seed uint64, rows, heads, width uint8) {
		checkEnds(t, rand.New(rand.NewPCG(seed, 0)), int(rows%40), int(heads%20), int(width%40))
	})
}

// The sums are those of Heads, to the bit, and what stood in L and R is gone.
func TestEndsOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 1))
	for _, shape := range [][2]int{{8, 8}, {16, 8}, {8, 5}, {1, 7}, {3, 8}, {2, 20}} {
		const rows = 23
		heads, width := shape[0], shape[1]
		f, next := heads*width, plain(rng)
		x, a, b, l, r := draw(rows*f, next), draw(f, next), draw(f, next), draw(rows*heads, next), draw(rows*heads, next)
		e := Ends{X: x, A: a, B: b, L: l, R: r, H: heads, Width: width}
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
func TestEndsNotFinite(t *testing.T) {
	const rows, heads, width = 5, 8, 8
	x, one := make([]Float, rows*heads*width), make([]Float, heads*width)
	for i := range one {
		one[i] = 1
	}
	x[2*heads*width+3*width+1] = Float(math.NaN())
	l, r := make([]Float, rows*heads), make([]Float, rows*heads)
	e := Ends{X: x, A: one, B: one, L: l, R: r, H: heads, Width: width}
	e.Pairs(rows)
	for i := range l {
		if odd := i == 2*heads+3; (l[i] != l[i]) != odd || (r[i] != r[i]) != odd {
			t.Errorf("product %d is %v and %v", i, l[i], r[i])
		}
	}
}

package attend

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
	"github.com/edgewise-ml/edgewise/internal/sparing"
)

// checkHeads compares each product with plain Go.
func checkHeads(t *testing.T, rng *rand.Rand, rows, heads, width int) {
	t.Helper()
	const cols = 7
	o, c := simdtest.Edges(rng, rows, cols, 6)
	w, filler := 8, 0
	for i := range 4 {
		if rng.IntN(2) == 0 && heads <= 1<<i {
			w, filler = 1<<i, 8>>i-1
			break
		}
	}
	w = max(w, heads)
	n := 0
	for r := range rows {
		n += (int(o[r+1]-o[r]) + filler) &^ filler
	}
	f := heads * width
	xs, ys := f+rng.IntN(3), f+rng.IntN(3)
	k := func() *Heads {
		return &Heads{
			Offsets: o, Cols: c, XStride: xs, YStride: ys, WStride: w, SStride: heads, Width: width, Filler: filler,
			Ahead: rng.IntN(2) * 3, Last: len(c) - 1, H: heads,
		}
	}
	pos := simdtest.Positive(rng)
	many := max(rows, cols)
	arrays := [][]Float{
		simdtest.Draw(many*xs, pos), simdtest.Draw(rows*ys+f, pos), simdtest.Draw((n+rows)*w, pos), simdtest.Draw(rows*heads+heads, pos),
		simdtest.Draw(rows*ys+f, pos), simdtest.Draw((n+rows)*w, pos),
	}
	for name, run := range map[string]func(k *Heads, s [][]Float){
		"Sum": func(k *Heads, s [][]Float) { k.X, k.Y, k.W, k.S = s[0], s[1], s[2], s[3]; k.Sum() },
		"Set": func(k *Heads, s [][]Float) {
			k.X, k.Y, k.W, k.S, k.Set, k.Early = s[0], s[1], s[2], s[3], 1, 1
			k.Sum()
		},
		"Dots": func(k *Heads, s [][]Float) { k.X, k.V, k.G = s[0], s[4], s[5]; k.Dots() },
		"Both": func(k *Heads, s [][]Float) {
			k.X, k.Y, k.W, k.S, k.V, k.G = s[0], s[1], s[2], s[3], s[4], s[5]
			k.Both()
		},
		"Pairs": func(k *Heads, s [][]Float) { k.X, k.Y, k.W = s[0], s[1], s[2]; k.Pairs(rows) },
		"one Pairs": func(k *Heads, s [][]Float) {
			k.X, k.Y, k.W, k.YStride = s[0], s[1], s[2], 0
			k.Pairs(rows)
		},
		"Fold":   func(k *Heads, s [][]Float) { k.X, k.Y, k.W, k.YStride = s[0], s[1], s[2], 0; k.Fold(rows) },
		"Spread": func(k *Heads, s [][]Float) { k.X, k.Y, k.W, k.XStride = s[0], s[1], s[2], 0; k.Spread(rows) },
	} {
		simdtest.Trial(t, fmt.Sprintf("%s, %d rows, %dx%d", name, rows, heads, width), 2e-5, arrays, func(s [][]Float) { run(k(), s) })
	}
}

func TestAsmHeads(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	for heads := range 10 {
		for width := range 34 {
			if heads > 2 && (heads+width)%2 != 0 && !sparing.Full() {
				continue // the next number of heads has it
			}
			checkHeads(t, rng, rng.IntN(9), heads, width)
		}
		for _, width := range []int{64, 100, 121, 128} {
			checkHeads(t, rng, 3, heads, width)
		}
	}
	for _, width := range simdtest.Lengths() {
		checkHeads(t, rng, 4, 1, width)
	}
}

func FuzzHeads(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(8), uint8(8))
	f.Fuzz(func(t *testing.T, seed uint64, rows, heads, width uint8) {
		checkHeads(t, rand.New(rand.NewPCG(seed, 0)), int(rows%20), int(heads%20), int(width))
	})
}

package attend

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// Two heads of eight have the bits that they have among eight, past the caches or not, and nothing
// is written beside them.
func TestNodeExpAttentionTwoHeads(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for rows := range 20 {
		for _, most := range []int{0, 3, 40} {
			checkTwoHeads(t, rng, rows, most)
		}
	}
}

func checkTwoHeads(t *testing.T, rng *rand.Rand, rows, most int) {
	t.Helper()
	const cols = 9
	s := *spokesOf(rng, rows, cols, most)()
	s.Heads, s.Width, s.AddY = 8, 8, 0
	s.FarStride, s.RecStride, s.XStride, s.YStride = 16, 16, 64, 64
	s.Prepare(0.2, nil, 0)
	next := simdtest.Positive(rng)
	far, rec, x, bias := simdtest.Draw(cols*16, next), simdtest.Draw(rows*16, next), simdtest.Draw(cols*64, next), simdtest.Draw(64, next)
	with := rng.IntN(2) == 0
	eight := s
	eight.Far, eight.X, eight.Y, eight.Rec, eight.Stream = far, x, make([]Float, rows*64), slices.Clone(rec), false
	if with {
		eight.Bias = bias
	}
	eight.Attend()
	for h := 0; h < 8; h += 2 {
		two := s
		two.Heads, two.FarStride, two.RecStride, two.XStride = 2, 4, 4, 16
		two.Far, two.X = pick(far, 16, h, h+1, 8+h, 9+h), nil
		for u := range cols {
			two.X = append(two.X, x[64*u+8*h:][:16]...)
		}
		if with {
			two.Bias = bias[8*h : 8*h+16]
		}
		what := fmt.Sprintf("heads %d and %d of %d nodes of up to %d edges", h, h+1, rows, most)
		simdtest.StreamTrial(t, what, rows*64, func(y []Float, stream bool) {
			k := two
			for i := range y {
				y[i] = 7
			}
			k.Rec, k.Stream = pick(rec, 16, h, h+1, 8+h, 9+h), stream
			if rows > 0 {
				k.Y = y[8*h:]
			}
			k.Attend()
			compare.Near(t, what+", Rec", k.Rec, pick(eight.Rec, 16, h, h+1, 8+h, 9+h), compare.SameBits.OrNaN())
			for i, got := range y {
				want := eight.Y[i]
				if c := i % 64; c < 8*h || c >= 8*h+16 {
					want = 7
				}
				if got != want && (got == got || want == want) { // a NaN is one on both sides
					t.Fatalf("%s: element %d is %v, want %v", what, i, got, want)
				}
			}
		})
	}
}

// pick returns some columns of rows of a width.
func pick(x []Float, width int, columns ...int) (y []Float) {
	for ; len(x) >= width; x = x[width:] {
		for _, c := range columns {
			y = append(y, x[c])
		}
	}
	return y
}

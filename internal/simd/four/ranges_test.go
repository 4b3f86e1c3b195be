//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// softenRanges is the twin of SoftmaxRanges.
func softenRanges(y, x []float64, off []int64, n, stride int) (top, sum []float64) {
	for i := range len(off) - 1 {
		for j := range n {
			m, s := math.Inf(-1), 0.0
			rows := func(f func(at int)) {
				for r := off[i] - off[0]; r < off[i+1]-off[0]; r++ {
					f(int(r)*stride + j)
				}
			}
			rows(func(at int) { m = max(m, x[at]) })
			rows(func(at int) {
				switch { // infinities have no difference
				case math.IsInf(x[at], -1):
					y[at] = 0
				case x[at] == m:
					y[at] = 1
				default:
					y[at] = math.Exp(float64(float32(x[at] - m)))
				}
				s += y[at]
			})
			rows(func(at int) {
				if s != 0 {
					y[at] /= s
				}
			})
			top, sum = append(top, m), append(sum, s)
		}
	}
	return top, sum
}

func TestSoftmaxRanges(t *testing.T) {
	each(t, 200, func(t *testing.T, rng *rand.Rand) {
		ranges, n := rng.IntN(6), 4
		off, cols, _ := list(rng, ranges, 1, rng.IntN(9))
		stride, apart, rows := n+rng.IntN(3), n+rng.IntN(3), len(cols)-int(off[0])
		x := drawn(rng, rows*stride, func() float32 {
			switch rng.IntN(20) {
			case 0:
				return float32(math.Inf(-1))
			case 1:
				return float32(math.Inf(1))
			}
			return float32(rng.NormFloat64() * 10)
		})
		y, top, sum := drawn(rng, rows*stride, normal(rng)), drawn(rng, ranges*apart, normal(rng)), drawn(rng, ranges*apart, normal(rng))
		if rng.IntN(2) == 0 { // in place
			y = x
		}
		want, given := wide(y.x), append([]float32(nil), x.x...)
		tops, sums := softenRanges(want, wide(x.x), off, n, stride)
		SoftmaxRanges(y.at(0), x.at(0), top.at(0), sum.at(0), begin(off), unsafe.Pointer(&Table), ranges, 4*stride, 4*apart, 0)
		for _, r := range []*room{x, y, top, sum} {
			r.intact(t, "SoftmaxRanges")
		}
		near(t, "SoftmaxRanges", y.x, want, 14)
		for i := range ranges {
			if off[i] < off[i+1] {
				near(t, "SoftmaxRanges, top", top.x[i*apart:i*apart+n], tops[i*n:i*n+n], 0)
				near(t, "SoftmaxRanges, sum", sum.x[i*apart:i*apart+n], sums[i*n:i*n+n], 14)
			}
		}
		again := drawn(rng, rows*stride, normal(rng))
		copy(again.x, y.x) // what is between the columns
		for r := range rows {
			copy(again.x[r*stride:r*stride+n], given[r*stride:])
		}
		SoftmaxRanges(again.at(0), again.at(0), top.at(0), sum.at(0), begin(off), unsafe.Pointer(&Table), ranges, 4*stride, 4*apart, 1)
		near(t, "SoftmaxRanges, known", again.x, wide(y.x), 0)
	})
}

func TestSoftmaxRangesSlope(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		ranges, n, plus := rng.IntN(6), 4, rng.IntN(2)
		off, cols, _ := list(rng, ranges, 1, rng.IntN(9))
		stride, rows := n+rng.IntN(3), len(cols)-int(off[0])
		dx, y, dy := drawn(rng, rows*stride, positive(rng)), drawn(rng, rows*stride, positive(rng)), drawn(rng, rows*stride, func() float32 { return -float32(rng.IntN(8)) })
		for i := range y.x { // of few bits: sums are exact
			y.x[i] = float32(math.Round(float64(y.x[i]*8))) / 8
		}
		want := wide(dx.x)
		for i := range ranges {
			for j := range n {
				c := 0.0
				for r := off[i] - off[0]; r < off[i+1]-off[0]; r++ {
					c += float64(y.x[int(r)*stride+j]) * float64(dy.x[int(r)*stride+j])
				}
				for r := off[i] - off[0]; r < off[i+1]-off[0]; r++ {
					at := int(r)*stride + j
					want[at] = want[at]*float64(plus) + float64(y.x[at])*(float64(dy.x[at])-c)
				}
			}
		}
		given := wide(dx.x)
		SoftmaxRangesSlope(dx.at(0), y.at(0), dy.at(0), begin(off), ranges, 4*stride, plus)
		dx.intact(t, "SoftmaxRangesSlope")
		for i, w := range want {
			if off := math.Abs(float64(dx.x[i]) - w); off > 0x1p-23*(math.Abs(w)+given[i]) {
				t.Fatalf("SoftmaxRangesSlope: element %d is %v, want %v", i, dx.x[i], w)
			}
		}
	})
}

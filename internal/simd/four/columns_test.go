//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestColumns(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		rows, n := rng.IntN(9), rng.IntN(20)
		stride := n + rng.IntN(3)
		x, y := drawn(rng, rows*stride, spread(rng)), drawn(rng, rows*stride, spread(rng))
		top, sum := drawn(rng, n, normal(rng)), drawn(rng, n, positive(rng))
		tops, sums, want := append([]float32(nil), top.x...), wide(sum.x), wide(y.x)
		for k := range x.x {
			if j := k % max(1, stride); j < n {
				tops[j] = max(tops[j], x.x[k])
			}
		}
		TopRows(top.at(0), x.at(0), rows, n, 4*stride)
		top.intact(t, "TopRows")
		near(t, "TopRows", top.x, wide(tops), 0)
		for k := range x.x {
			if j := k % max(1, stride); j < n {
				want[k] = math.Exp(float64(x.x[k] - tops[j]))
				sums[j] += want[k]
			}
		}
		adds := sum.at(0)
		if rng.IntN(2) == 0 {
			adds, sums = nil, wide(sum.x)
		}
		WeighRows(y.at(0), x.at(0), top.at(0), adds, unsafe.Pointer(&Table), rows, n, 4*stride)
		y.intact(t, "WeighRows")
		near(t, "WeighRows", y.x, want, 4)
		sum.intact(t, "WeighRows")
		near(t, "WeighRows, sums", sum.x, sums, float64(rows+4))
		if n > 0 {
			sum.x[rng.IntN(n)] = 0
		}
		want = wide(y.x)
		for k := range y.x {
			if j := k % max(1, stride); j < n && sum.x[j] != 0 {
				want[k] /= float64(sum.x[j])
			}
		}
		DivideRows(y.at(0), sum.at(0), rows, n, 4*stride)
		y.intact(t, "DivideRows")
		near(t, "DivideRows", y.x, want, 1)
	})
	inf := float32(math.Inf(1))
	for _, n := range []int{1, 3, 4, 7} {
		for _, c := range [][3]float32{{inf, inf, 1}, {1, inf, 0}, {-inf, inf, 0}, {-inf, -inf, 0}, {-inf, 2, 0}, {-7, -7, 1}} {
			x, top := make([]float32, n), make([]float32, n)
			for i := range x {
				x[i], top[i] = c[0], c[1]
			}
			WeighRows(begin(x), begin(x), begin(top), nil, unsafe.Pointer(&Table), 1, n, 4*n)
			for _, v := range x {
				if v != c[2] {
					t.Errorf("%v under %v weighs %v", c[0], c[1], v)
				}
			}
		}
	}
}

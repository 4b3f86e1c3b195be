//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestWeigh(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		n, scale, by := 4*rng.IntN(20), rng.Float32()+0.5, rng.Float32()+0.5
		x := drawn(rng, n, func() float32 { return float32(rng.NormFloat64() * 30) })
		top, low := float32(-3.5), float32(-69.31472)
		for i, v := range x.x {
			switch i % 5 {
			case 0:
				x.x[i] = float32(math.Inf(-1))
			case 1:
				x.x[i], top = v, max(top, v*scale)
			default:
				top = max(top, v*scale)
			}
		}
		want, sum := wide(x.x), 0.0
		for i, v := range x.x {
			d := float32(v*scale) - top
			if want[i] = float64(by) * math.Exp(float64(d)); d <= low {
				want[i] = 0
			}
			sum += want[i]
		}
		got := Weigh(x.at(0), unsafe.Pointer(&Table), n, scale, top, low, by)
		x.intact(t, "Weigh")
		near(t, "Weigh", x.x, want, 5)
		near(t, "Weigh, the sum", []float32{got}, []float64{sum}, float64(n+5))
	})
	inf := float32(math.Inf(1))
	x := []float32{inf, 1, -inf, inf, 5, -inf, inf, 2}
	if Weigh(begin(x), unsafe.Pointer(&Table), len(x), 1, inf, -69, 1) != 3 || x[0] != 1 || x[1] != 0 || x[2] != 0 || x[6] != 1 {
		t.Errorf("under an infinite top the weights are %v", x)
	}
}

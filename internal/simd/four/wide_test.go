//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestWideSums(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		n := rng.IntN(300)
		x, y := drawn(rng, n, positive(rng)), drawn(rng, n, positive(rng))
		got, want := [2]float64{3, 4}, [2]float64{3, 4}
		for i, v := range x.x {
			want[0] += float64(v)
			want[1] += float64(v) * float64(y.x[i])
		}
		WideSums(unsafe.Pointer(&got), x.at(0), y.at(0), n)
		for i, w := range want {
			if math.Abs(got[i]-w) > 3*0x1p-24*w {
				t.Fatalf("WideSums: sum %d of %d elements is %v, want %v", i, n, got[i], w)
			}
		}
	})
}

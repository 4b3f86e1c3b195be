package dense

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// A NaN or an infinity is found wherever it stands among the parts that threads look at.
func TestSound(t *testing.T) {
	for _, n := range []int{1, soundPart - 1, soundPart, soundPart + 1, 3*soundPart + 5} {
		x := make([]tensor.Float, n)
		sound := func() bool { return Sound([][]tensor.Float{make([]tensor.Float, 3), x}) }
		if !sound() {
			t.Fatalf("%d zeros are not sound", n)
		}
		for _, at := range []int{0, soundPart - 1, soundPart, 2*soundPart + 7, n - 1} {
			for _, odd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				if at < n {
					x[at] = tensor.Float(odd)
					if sound() {
						t.Errorf("%v at %d of %d is not found", odd, at, n)
					}
					x[at] = 0
				}
			}
		}
	}
}

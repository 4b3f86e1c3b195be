package train

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/weights"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestNotFinite finds the first bad number at every place of short arrays and at
// some of long ones, and is not fooled by sums that overflow.
func TestNotFinite(t *testing.T) {
	largest := tensor.Float(math.MaxFloat32)
	if weights.Wide {
		v := math.MaxFloat64
		largest = tensor.Float(v)
	}
	nan, inf := math.NaN(), math.Inf(1)
	try := func(n, at int) {
		x := make([]tensor.Float, n)
		for i := range x {
			x[i] = largest
		}
		if v := notFinite(x); v != 0 {
			t.Fatalf("%d large numbers: found %v", n, v)
		}
		for _, bad := range []float64{nan, inf, -inf} {
			x[at] = tensor.Float(bad)
			if v := notFinite(x); v != bad && v == v {
				t.Fatalf("%v at %d of %d: found %v", bad, at, n, v)
			}
			x[at] = largest
		}
	}
	for n := 1; n <= 70; n++ {
		for at := range n {
			try(n, at)
		}
	}
	for _, at := range []int{0, 1<<16 - 1, 1 << 16, 199_999} {
		try(200_000, at)
	}
	if v := notFinite([]tensor.Float{1, tensor.Float(inf), tensor.Float(-inf), 2}); v != inf {
		t.Errorf("both infinities: found %v", v)
	}
	if notFinite(nil) != 0 {
		t.Error("found one in nothing")
	}
}

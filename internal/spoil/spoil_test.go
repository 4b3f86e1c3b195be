package spoil_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/spoil"
)

func TestSpoil(t *testing.T) {
	defer func(old bool) { spoil.On = old }(spoil.On)
	for _, on := range []bool{false, true} {
		spoil.On = on
		x, k := []float32{1, 2, 3}, []int64{4, 5}
		spoil.Floats(x[:2])
		spoil.Ints(k[:1])
		if (x[0] != x[0]) != on || (x[1] != x[1]) != on || x[2] != 3 {
			t.Errorf("on %v: numbers are %v", on, x)
		}
		if want := map[bool][]int64{false: {4, 5}, true: {-1, 5}}[on]; !slices.Equal(k, want) {
			t.Errorf("on %v: indices are %v, want %v", on, k, want)
		}
	}
}

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

// Long memory is spoilt to its end, and no further.
func TestSpoilLong(t *testing.T) {
	defer func(old bool) { spoil.On = old }(spoil.On)
	spoil.On = true
	for _, n := range []int{0, 511, 512, 513, 1024, 2000} {
		k := make([]int32, n+1)
		spoil.Ints(k[:n])
		if at := slices.IndexFunc(k, func(v int32) bool { return v != -1 }); at != n {
			t.Errorf("of %d numbers those before %d are spoilt", n, at)
		}
	}
}

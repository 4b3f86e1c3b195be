package report

import (
	"math"
	"testing"
)

func TestMeanStd(t *testing.T) {
	if mean, std := MeanStd([]float64{2, 4, 4, 6}); mean != 4 || std < 1.6329 || std > 1.6330 {
		t.Errorf("got %v ± %v", mean, std)
	}
	if mean, std := MeanStd([]float64{3}); mean != 3 || std != 0 {
		t.Errorf("got %v ± %v", mean, std)
	}
}

// The quantiles are those of the printed tables.
func TestStudent95(t *testing.T) {
	for freedom, want := range map[int]float64{1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262, 19: 2.093, 49: 2.010, 99: 1.984, 1000: 1.962} {
		if got := student95(freedom); math.Abs(got-want) > 0.003*want {
			t.Errorf("%d degrees of freedom: %.4f, want %.3f", freedom, got, want)
		}
	}
	if got := HalfWidth(10, 2); math.Abs(got-2.262*2/math.Sqrt(10)) > 1e-3 {
		t.Errorf("half the interval is %g", got)
	}
	if HalfWidth(1, 0) != 0 {
		t.Error("one number has an interval")
	}
}

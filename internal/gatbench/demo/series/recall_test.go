package series

import (
	"testing"
)

func TestPowerOfTen(t *testing.T) {
	for power, want := range map[float64]string{-0.14: "0.72", -13: "10^-13"} {
		if got := powerOfTen(power); got != want {
			t.Errorf("10 to the power of %v is %q, want %q", power, got, want)
		}
	}
}

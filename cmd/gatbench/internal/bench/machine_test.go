package bench

import (
	"math"
	"testing"
)

// The limit is the one of the two that takes longer, at the best rate measured.
func TestJudge(t *testing.T) {
	c := Ceilings{"machine/fma/2": 100, "machine/copy/l1/2": 10, "machine/copy/memory/2": 1}
	tests := []struct {
		flops, bytes, ms float64
		limit            string
		pct              float64
	}{
		{2e8, 1e3, 4, "fma/2", 50},
		{1e3, 4e4, 0.008, "copy/l1/2", 50},
		{0, 1e8, 400, "copy/memory/2", 25},
		{0, 0, 1, "", 0},
	}
	for _, tt := range tests {
		l := &Line{MedianMS: tt.ms}
		c.judge(&Benchmark{flops: tt.flops, bytes: tt.bytes, lanes: 2}, l)
		if l.Extra.Limit != tt.limit || math.Abs(l.Extra.LimitPct-tt.pct) > 1e-9 {
			t.Errorf("%+v: got %.3g %% of %q", tt, l.Extra.LimitPct, l.Extra.Limit)
		}
	}
}

package bench

import (
	"math"
	"testing"
)

// The limit is the one of the two that takes longer, at the best rate measured.
func TestJudge(t *testing.T) {
	c := Ceilings{"machine/fma/2": 100, "machine/copy/l1/2": 10, "machine/copy/memory/2": 1}
	g := &Graph{Name: "g", Sources: 1 << 16}
	sum := &Benchmark{Bytes: 1e6, Gathered: 4e9, Lanes: 2, At: Place{g, Shape{1, 16}}}
	c[sum.table().near().benchmark(2).Name], c[sum.table().benchmark(2).Name] = 80, 40
	l := &Line{MedianMS: 200, Extra: extra{Gathered: 20}}
	if c.judge(sum, l); l.Extra.Limit != "gather/2" || math.Abs(l.Extra.LimitPct-25) > 1e-9 || l.Extra.Table != "l3" || math.Abs(l.Extra.TablePct-50) > 1e-9 {
		t.Errorf("of what gathers: %+v, want 25 %% of the second cache's rows and 50 %% of the table's", l.Extra)
	}
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
		c.judge(&Benchmark{Flops: tt.flops, Bytes: tt.bytes, Lanes: 2}, l)
		if l.Extra.Limit != tt.limit || math.Abs(l.Extra.LimitPct-tt.pct) > 1e-9 {
			t.Errorf("%+v: got %.3g %% of %q", tt, l.Extra.LimitPct, l.Extra.Limit)
		}
	}
}

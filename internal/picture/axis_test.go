package picture

import (
	"math"
	"strings"
	"testing"
)

func labels(ticks []tick) string {
	var out []string
	for _, t := range ticks {
		out = append(out, t.label)
	}
	return strings.Join(out, " ")
}

// Ticks lie at round numbers, each with a label of its own.
func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		lo, hi float64
		want   string
	}{
		{1, 200, "50 100 150 200"}, {1, 30, "10 20 30"}, {0, 24.2, "0 5 10 15 20"}, {7, 99, "20 40 60 80"},
		{1.87, 2.01, "1.90 1.95 2.00"}, {-0.079, 0.081, "-0.05 0.00 0.05"}, {-1e-4, 2e-4, "-0.0001 0.0000 0.0001 0.0002"},
		{2e6, 6e6, "2000000 3000000 4000000 5000000 6000000"},
		{0, 3e30, "0 1e+30 2e+30 3e+30"}, {1e-9, 3e-9, "1e-09 1.5e-09 2e-09 2.5e-09 3e-09"}, {-3e8, 1e8, "-3e+08 -2e+08 -1e+08 0 1e+08"},
	} {
		if s := labels(span{tt.lo, tt.hi}.ticks()); s != tt.want {
			t.Errorf("from %g to %g: %s, want %s", tt.lo, tt.hi, s, tt.want)
		}
	}
}

// Epochs have no tick between two of them.
func TestWholeTicks(t *testing.T) {
	for _, tt := range []struct {
		lo, hi float64
		want   string
	}{{1, 3, "1 2 3"}, {1, 2, "1 2"}, {1, 30, "10 20 30"}, {0.5, 1.5, "1"}, {0.2, 0.8, "0.2 0.4 0.6 0.8"}} {
		if s := labels(Axis{Whole: true}.ticks(span{tt.lo, tt.hi})); s != tt.want {
			t.Errorf("from %g to %g: %s, want %s", tt.lo, tt.hi, s, tt.want)
		}
	}
}

// Of any values there are a few ticks, ascending, within what is shown and with
// labels that differ and have room.
func TestTicksOfAnything(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), 5e-324, 1e-300, 1e-9, 0.1, 1, 1 + 1e-15, 1 + 1e-7, 7, 1e9, 1e16, 1e16 + 2, 1e200, 1e290}
	for _, lo := range values {
		for _, hi := range values {
			for _, s := range []span{{min(lo, hi), max(lo, hi)}, {-max(lo, hi), -min(lo, hi)}, {-lo, hi}} {
				checkTicks(t, s.padded(0.04))
			}
		}
	}
	checkTicks(t, nothing.padded(0.04))
}

func checkTicks(t *testing.T, s span) {
	t.Helper()
	if !finite(s.lo) || !finite(s.hi) || !(s.lo < s.hi) {
		t.Fatalf("the span is %v", s)
	}
	ticks := s.ticks()
	if len(ticks) < 2 || len(ticks) > 8 {
		t.Fatalf("%d ticks of %v", len(ticks), s)
	}
	seen := map[string]bool{}
	for i, k := range ticks {
		at := s.at(k.value, 0, 1)
		if !(at > -1e-6 && at < 1+1e-6) || i > 0 && k.value <= ticks[i-1].value {
			t.Errorf("%v: the tick %g is at %g", s, k.value, at)
		}
		if seen[k.label] || len(k.label) > 16 {
			t.Errorf("%v: label %q", s, k.label)
		}
		seen[k.label] = true
	}
}

func TestNames(t *testing.T) {
	ticks := Axis{Names: []string{"a", "b"}}.ticks(span{-0.5, 1.5})
	if labels(ticks) != "a b" || ticks[0].value != 0 || ticks[1].value != 1 {
		t.Errorf("got %v", ticks)
	}
}

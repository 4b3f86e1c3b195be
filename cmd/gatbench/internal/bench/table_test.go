package bench

import (
	"strings"
	"testing"
)

// The first row has the head above it, a row its limit, its rival and whether others
// were busy; the legend counts those rows.
func TestTable(t *testing.T) {
	all := []Benchmark{{name: "exp/64"}, {name: "add/64"}}
	table, others := NewTable(all), 50.0
	first := table.Row(&all[0], &Line{MedianMS: 1.5, Extra: extra{Limit: "copy/l1/1", LimitPct: 50, Rival: "gonum", OverRival: 2, OthersPct: &others}})
	if len(first) != 2 || !strings.HasPrefix(first[0], "name ") || !strings.HasPrefix(first[1], "exp/64 ") {
		t.Fatalf("the first row is %q", first)
	}
	for _, want := range []string{" 1.5 ms ", "  50 % copy/l1/1 ", "  2 gonum  (others: 50 %)"} {
		if !strings.Contains(first[1], want) {
			t.Errorf("the row %q has no %q", first[1], want)
		}
	}
	second := table.Row(&all[1], &Line{MedianMS: 2, Extra: extra{WalkMS: 1, WalkPct: 50, Limit: "fma/1"}})
	if len(second) != 1 || !strings.HasSuffix(second[0], "  50 % walk") {
		t.Errorf("the second row is %q", second)
	}
	if legend := strings.Join(table.Legend(), "\n"); !strings.HasSuffix(legend, "during 1 of 2 rows: measure those again.") {
		t.Errorf("the legend is\n%s", legend)
	}
}

func TestShortTime(t *testing.T) {
	for ms, want := range map[float64]string{5e-4: "500 ns", 0.0123: "12.3 µs", 1.5: "1.5 ms", 2500: "2.50 s"} {
		if got := shortTime(ms); got != want {
			t.Errorf("%v ms: got %q, want %q", ms, got, want)
		}
	}
}

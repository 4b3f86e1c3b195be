package bench

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/plain"
)

// rows are what a table shows of two kernels whose times are made up.
func rows(t *testing.T, width int) (table *Table, lines []string) {
	t.Helper()
	n := par.Threads()
	all := []Benchmark{
		{Name: "copy_u_sum/bcsstk13/64", Bytes: 1.376e6, Flops: 5.37e6, Gathered: 1, Lanes: n},
		{Name: "edge_softmax_both/bcsstk13/8x8", Bytes: 256, Flops: 1234e6, Gathered: 1, Lanes: n},
	}
	table, others := NewTable(all, width), 50.0
	timed := []*Line{
		{MedianMS: 0.1234, Extra: extra{P10MS: 0.12, P90MS: 0.2, GBPerS: 11.2, GFLOPS: 43.5, Limit: "copy/memory/" + strconv.Itoa(n), LimitPct: 63, WalkPct: 97, OverPlain: 9.86, Rival: Gonum, OverRival: 17.2}},
		{MedianMS: 2500, Extra: extra{P10MS: 2400, P90MS: 2600, Limit: "fma/" + strconv.Itoa(n), LimitPct: 5, OverPlain: 2, ForwardMS: 3, Rival: "unfused", OverRival: 4.3, OthersPct: &others}},
	}
	for i, l := range timed {
		lines = append(lines, table.Row(&all[i], l)...)
	}
	return table, lines
}

// A pipe gets all columns, a terminal those that it has room for, and notes in lines of their own.
func TestTable(t *testing.T) {
	tests := []struct {
		width int
		want  string
		left  []string
	}{
		{0, `
name                             median           p10 – p90     MB  MFLOP   GB/s GFLOP/s     of limit of walk  × Go × gonum
copy_u_sum/bcsstk13/64           123 µs     120 µs – 200 µs   1.38   5.37   11.2    43.5  63 % memory    97 %  9.86    17.2
edge_softmax_both/bcsstk13/8x8   2.50 s     2.40 s – 2.60 s 0.0003   1234                  5 % fma                2          forward 3 ms  4.3 × unfused  (others: 50 %)`, nil},
		{100, `
name                             median     MB  MFLOP GFLOP/s     of limit of walk  × Go × gonum
copy_u_sum/bcsstk13/64           123 µs   1.38   5.37    43.5  63 % memory    97 %  9.86    17.2
edge_softmax_both/bcsstk13/8x8   2.50 s 0.0003   1234           5 % fma                2
  forward 3 ms  4.3 × unfused  (others: 50 %)`, []string{"p10 – p90", "GB/s"}},
		{80, `
name                             median     MB  MFLOP     of limit  × Go × gonum
copy_u_sum/bcsstk13/64           123 µs   1.38   5.37  63 % memory  9.86    17.2
edge_softmax_both/bcsstk13/8x8   2.50 s 0.0003   1234   5 % fma        2
  forward 3 ms  4.3 × unfused  (others: 50 %)`, []string{"p10 – p90", "GB/s", "GFLOP/s", "of walk"}},
		{60, `
name                       median     of limit  × Go × gonum
copy_u_sum/bcsstk13/64     123 µs  63 % memory  9.86    17.2
edge_softmax_both/bcsstk13/8x8
                           2.50 s   5 % fma        2
  forward 3 ms  4.3 × unfused  (others: 50 %)`, []string{"p10 – p90", "GB/s", "GFLOP/s", "of walk", "MFLOP", "MB"}},
	}
	for _, tt := range tests {
		table, lines := rows(t, tt.width)
		if got := "\n" + strings.Join(lines, "\n"); got != tt.want {
			t.Errorf("%d columns:\n%s\nwant\n%s", tt.width, got, tt.want)
		}
		if !slices.Equal(table.left, tt.left) {
			t.Errorf("%d columns: %q were left out, want %q", tt.width, table.left, tt.left)
		}
		for _, line := range lines {
			if n := plain.Width(line); tt.width > 0 && n > tt.width {
				t.Errorf("%d columns: %q has %d", tt.width, line, n)
			}
		}
	}
}

// The legend says what this machine reaches, which columns there are, and which rows to
// measure again.
func TestLegend(t *testing.T) {
	table, _ := rows(t, 80)
	got := strings.Join(table.Legend(Ceilings{"machine/fma/2": 190.4, "machine/copy/l1/2": 230, "machine/copy/memory/2": 20.1, "machine/fma/1": 95, "machine/gather/l2/1": 3}), "\n")
	for _, want := range []string{
		"this machine, 1 thread: fma 95 GFLOP/s\nthis machine, 2 threads: fma 190 GFLOP/s\nthis machine, 2 threads: copies l1 230, memory 20.1 GB/s\n",
		"\nMB, MFLOP: ", "\nof limit: ", "\n× Go: ", "\n× gonum: ", "shows too: p10 – p90, GB/s, GFLOP/s, of walk.", "during 1 of 2 rows: measure those again.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the legend has no %q:\n%s", want, got)
		}
	}
	table = NewTable([]Benchmark{{Name: "train/cora"}}, 0)
	if head := table.Row(&Benchmark{Name: "train/cora"}, &Line{MedianMS: 1})[0]; strings.Contains(head, "limit") || strings.Contains(head, "MB") {
		t.Errorf("what trains has no limit: %q", head)
	}
	if got := strings.Join(table.Legend(nil), "\n"); strings.Contains(got, "of limit") || strings.Contains(got, "gonum") {
		t.Errorf("the legend of a training is\n%s", got)
	}
}

func TestShortNumbers(t *testing.T) {
	for ms, want := range map[float64]string{5e-4: "500 ns", 0.0123: "12.3 µs", 1.5: "1.5 ms", 2500: "2.50 s", 0.99999: "1 ms", 999.9: "1.00 s"} {
		if got := shortTime(ms); got != want {
			t.Errorf("%v ms: got %q, want %q", ms, got, want)
		}
	}
	for v, want := range map[float64]string{0: "", 256: "0.0003", 1834: "0.0018", 12345: "0.0123", 1.376e6: "1.38", 1.2345e11: "123450"} {
		if got := millions(v); got != want {
			t.Errorf("%v: got %q, want %q", v, got, want)
		}
	}
}

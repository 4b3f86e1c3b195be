package bench

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// busyPct is the share of the machine, in per cent, above which what others do
// is worth a word.
const busyPct = 5

// Table writes results for people, a row each.
type Table struct {
	wide int // columns of a name
	rows int
	busy int // rows that others disturbed
}

// NewTable returns a table with room for the names of benchmarks.
func NewTable(bs []Benchmark) *Table {
	t := &Table{wide: len("name")}
	for i := range bs {
		t.wide = max(t.wide, plain.Width(plain.Text(bs[i].name)))
	}
	return t
}

// Row returns the line of one result, and before the first the head.
func (t *Table) Row(b *Benchmark, l *Line) []string {
	var out []string
	if t.rows == 0 {
		out = append(out, fmt.Sprintf("%s %9s %19s %8s %7s  %-22s %8s  %s", plain.Pad("name", t.wide), "median", "p10 – p90", "GFLOP/s", "GB/s", "of the limit", "× plain", "× other"))
	}
	t.rows++
	x := &l.Extra
	limit := ""
	switch {
	case x.WalkPct > 0:
		limit = fmt.Sprintf("%3.0f %% walk", x.WalkPct)
	case x.Limit != "":
		limit = fmt.Sprintf("%3.0f %% %s", x.LimitPct, x.Limit)
	}
	spread := fmt.Sprintf("%s – %s", shortTime(x.P10MS), shortTime(x.P90MS))
	text := fmt.Sprintf("%s %9s %19s %8s %7s  %-22s %8s", plain.Pad(plain.Text(b.name), t.wide), shortTime(l.MedianMS), spread, some(x.GFLOPS), some(x.GBPerS), limit, some(x.OverPlain))
	if x.ForwardMS > 0 {
		text += fmt.Sprintf("  forward %s", shortTime(x.ForwardMS))
	}
	if x.StepsPerS > 0 {
		text += fmt.Sprintf("  %s M steps/s", some(x.StepsPerS/1e6))
	}
	if x.EpochMS > 0 {
		text += fmt.Sprintf("  with validation %s", shortTime(x.EpochMS))
	}
	if x.Rival != "" {
		text += fmt.Sprintf("  %s %s", some(x.OverRival), x.Rival)
	}
	if x.OthersPct != nil && *x.OthersPct > busyPct {
		t.busy++
		text += fmt.Sprintf("  (others: %.0f %%)", *x.OthersPct)
	}
	return append(out, strings.TrimRight(text, " "))
}

// Legend returns lines that say what the table cannot.
func (t *Table) Legend() []string {
	out := []string{
		"",
		fmt.Sprintf("kernels: %s, threads: %d. The limit fma is the best rate of the products' own micro-kernel with operands", cpu.Path(), par.Threads()),
		"in the first cache, copy that of a copy where the bytes are; /N is the number of threads. A factor above 1",
		"says that this is faster: than a plain Go loop on one thread, than what is named.",
	}
	if t.busy > 0 {
		out = append(out, fmt.Sprintf("Other processes used more than %d %% of the machine during %d of %d rows: measure those again.", busyPct, t.busy, t.rows))
	}
	return out
}

// shortTime writes milliseconds with three digits and their unit.
func shortTime(ms float64) string {
	switch {
	case ms < 1e-3:
		return fmt.Sprintf("%.3g ns", ms*1e6)
	case ms < 1:
		return fmt.Sprintf("%.3g µs", ms*1e3)
	case ms < 1000:
		return fmt.Sprintf("%.3g ms", ms)
	}
	return fmt.Sprintf("%.2f s", ms/1e3)
}

// some writes a number with three digits, and nothing for none.
func some(v float64) string {
	switch {
	case v == 0:
		return ""
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

package bench

import (
	"fmt"
	"slices"
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
	width   int // columns of the terminal; 0: there is none, and the table is as wide as it likes
	wide    int // columns of a name
	title   string
	name    func(b *Benchmark) string
	sweep   bool
	graphs  []*Graph // of a sweep
	columns []column
	left    []string // the heads of the columns that the terminal has no room for
	rows    int
	busy    int             // rows that others disturbed
	met     map[string]bool // what the legend has to explain
}

// column is one of the numbers of a row.
type column struct {
	head  string
	wide  int // negative: its cells begin, not end, below each other
	spare int // where the terminal is narrow the column with the greatest is left out first; 0: never
	of    func(b *Benchmark, x *extra, l *Line) string
	needs func(b *Benchmark) bool // whether a benchmark may have it; nil: all may
}

// tableColumns are those that there are, from left to right.
func tableColumns() []column {
	return []column{
		{"median", 8, 0, func(_ *Benchmark, _ *extra, l *Line) string { return shortTime(l.MedianMS) }, nil},
		{"p10 – p90", 19, 6, func(_ *Benchmark, x *extra, _ *Line) string {
			return fmt.Sprintf("%s – %s", shortTime(x.P10MS), shortTime(x.P90MS))
		}, nil},
		{"MB", 6, 1, func(b *Benchmark, _ *extra, _ *Line) string { return millions(b.Bytes) }, func(b *Benchmark) bool { return b.Bytes > 0 }},
		{"MFLOP", 6, 2, func(b *Benchmark, _ *extra, _ *Line) string { return millions(b.Flops) }, func(b *Benchmark) bool { return b.Flops > 0 }},
		{"GB/s", 6, 5, func(_ *Benchmark, x *extra, _ *Line) string { return some(x.GBPerS) }, func(b *Benchmark) bool { return b.Bytes > 0 }},
		{"GFLOP/s", 7, 4, func(_ *Benchmark, x *extra, _ *Line) string { return some(x.GFLOPS) }, func(b *Benchmark) bool { return b.Flops > 0 }},
		{"of limit", 12, 0, func(b *Benchmark, x *extra, _ *Line) string { return b.ofLimit(x) }, (*Benchmark).limited},
		{"of walk", 7, 3, func(_ *Benchmark, x *extra, _ *Line) string { return percent(x.WalkPct) }, func(b *Benchmark) bool { return b.Gathered > 0 }},
		{"× Go", 5, 0, func(_ *Benchmark, x *extra, _ *Line) string { return some(x.OverPlain) }, nil},
		{"× gonum", 7, 0, func(_ *Benchmark, x *extra, _ *Line) string {
			if x.Rival != Gonum {
				return ""
			}
			return some(x.OverRival)
		}, nil},
	}
}

// ofLimit is the share of what binds b, whose threads are said if they are not all.
func (b *Benchmark) ofLimit(x *extra) string {
	if x.Limit == "" {
		return ""
	}
	what := strings.TrimPrefix(x.Limit, "copy/")
	if b.Lanes == par.Threads() {
		what = strings.TrimSuffix(what, fmt.Sprintf("/%d", b.Lanes))
	}
	return fmt.Sprintf("%s %-6s", percent(x.LimitPct), what)
}

func percent(share float64) string {
	if share == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", share)
}

// NewTable returns a table of benchmarks for a terminal of so many columns; 0 is for none.
func NewTable(bs []Benchmark, width int) *Table {
	return newTable(bs, width, tableColumns(), "name", func(b *Benchmark) string { return plain.Text(b.Name) })
}

// newTable returns a table whose rows have names under a title.
func newTable(bs []Benchmark, width int, columns []column, title string, name func(*Benchmark) string) *Table {
	t := &Table{width: width, wide: plain.Width(title), title: title, name: name, met: map[string]bool{}}
	for i := range bs {
		t.wide = max(t.wide, plain.Width(name(&bs[i])))
	}
	t.columns = slices.DeleteFunc(columns, func(c column) bool {
		return c.needs != nil && !slices.ContainsFunc(bs, func(b Benchmark) bool { return c.needs(&b) })
	})
	if width == 0 {
		return t
	}
	for t.wide+t.numbers() > width {
		at := 0
		for i, c := range t.columns {
			if c.spare > t.columns[at].spare {
				at = i
			}
		}
		if t.columns[at].spare == 0 {
			t.wide = max(plain.Width(title), width-t.numbers()) // longer names have lines of their own
			break
		}
		t.left = append(t.left, t.columns[at].head)
		t.columns = slices.Delete(t.columns, at, at+1)
	}
	return t
}

// numbers is how wide the columns of numbers are together.
func (t *Table) numbers() int {
	wide := 0
	for _, c := range t.columns {
		wide += 1 + max(c.wide, -c.wide)
	}
	return wide
}

// Row returns the lines of one result, and before the first the head.
func (t *Table) Row(b *Benchmark, l *Line) []string {
	var out []string
	if t.rows == 0 {
		out = append(out, t.head())
	}
	t.rows++
	name := t.name(b)
	if plain.Width(name) > t.wide {
		out, name = append(out, name), ""
	}
	text := plain.Pad(name, t.wide)
	for _, c := range t.columns {
		cell := c.of(b, &l.Extra, l)
		if cell != "" {
			t.met[c.head] = true
		}
		text += " " + c.place(cell)
	}
	notes := t.notes(&l.Extra)
	switch {
	case notes == "":
	case t.width > 0 && plain.Width(text)+2+plain.Width(notes) > t.width:
		return append(out, strings.TrimRight(text, " "), "  "+notes)
	default:
		text += "  " + notes
	}
	return append(out, strings.TrimRight(text, " "))
}

func (t *Table) head() string {
	text := plain.Pad(t.title, t.wide)
	for _, c := range t.columns {
		text += " " + c.place(c.head)
	}
	return strings.TrimRight(text, " ")
}

// place returns a cell, or the head, as wide as the column.
func (c *column) place(cell string) string {
	if c.wide < 0 {
		return plain.Pad(cell, -c.wide)
	}
	return strings.Repeat(" ", max(0, c.wide-plain.Width(cell))) + cell
}

// explained is what a legend says of a column.
type explained struct{ of, says string }

// tableLegend explains the columns of a table.
var tableLegend = []explained{
	{"MB", "MB, MFLOP: what a call has to move and to compute at least, in millions; each byte counts once."},
	{"of limit", "of limit: the least time in which this machine could do that, as a share of the median; and what binds: multiply-adds (fma), or a copy where the bytes fit (l1 to memory)."},
	{"of walk", "of walk: how long a sum takes that reads the same rows in the same order and writes next to nothing, as a share of the median."},
	{"× Go", "× Go: how many times faster than loops in plain Go on one thread. Of long ones a part is timed and scaled, of gonum too."},
	{"× gonum", "× gonum: how many times faster than gonum. It has no sparse matrices: on a graph this is a loop on one thread that calls its Axpy, or Dot, for each edge and head."},
}

// notes are what few rows have.
func (t *Table) notes(x *extra) string {
	var out []string
	if x.ForwardMS > 0 {
		out = append(out, "forward "+shortTime(x.ForwardMS))
	}
	if x.StepsPerS > 0 {
		out = append(out, some(x.StepsPerS/1e6)+" M steps/s")
	}
	if x.EpochMS > 0 {
		out = append(out, "with validation "+shortTime(x.EpochMS))
	}
	if x.Rival != "" && x.Rival != Gonum {
		out = append(out, fmt.Sprintf("%s × %s", some(x.OverRival), x.Rival))
	}
	if x.OthersPct != nil && *x.OthersPct > busyPct {
		t.busy++
		out = append(out, fmt.Sprintf("(others: %.0f %%)", *x.OthersPct))
	}
	return strings.Join(out, "  ")
}

// Legend returns what the table cannot say, a paragraph each: of this machine what was
// measured, and what the columns are that it has.
func (t *Table) Legend(c Ceilings) []string {
	out := append(c.said(), fmt.Sprintf("kernels: %s, %s", cpu.Path(), plural(par.Threads(), "thread")))
	legend := tableLegend
	if t.sweep {
		legend, out = sweepLegend, append(out, t.degrees())
	}
	for _, head := range legend {
		if t.met[head.of] {
			out = append(out, head.says)
		}
	}
	if len(t.left) > 0 {
		out = append(out, "A wider terminal, or a pipe, shows too: "+strings.Join(t.left, ", ")+".")
	}
	if t.busy > 0 {
		out = append(out, fmt.Sprintf("Other processes used more than %d %% of the machine during %d of %d rows: measure those again.", busyPct, t.busy, t.rows))
	}
	return out
}

// plural writes a number of things.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// shortTime writes milliseconds with three digits and their unit.
func shortTime(ms float64) string {
	switch {
	case ms < 0.9995e-3:
		return fmt.Sprintf("%.3g ns", ms*1e6)
	case ms < 0.9995:
		return fmt.Sprintf("%.3g µs", ms*1e3)
	case ms < 999.5:
		return fmt.Sprintf("%.3g ms", ms)
	}
	return fmt.Sprintf("%.2f s", ms/1e3)
}

// millions is some of a number in millions, in six columns: of tiny ones it writes fewer digits.
func millions(v float64) string {
	switch v /= 1e6; {
	case v == 0 || v >= 0.01:
		return some(v)
	case v >= 0.001:
		return fmt.Sprintf("%.2g", v)
	}
	return fmt.Sprintf("%.1g", v)
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

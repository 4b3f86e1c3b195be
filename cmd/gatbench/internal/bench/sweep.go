package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

// sweepGraphs are those of the sweep, from few edges a node to many.
var sweepGraphs = []string{"grid", "pubmed", "arxiv", "reddit-tenth", "proteins-small", "reddit-small"}

// sweepShapes are the widths of each kernel in the sweep. A softmax has no columns, so its heads
// are timed once a graph.
var sweepShapes = map[string][]sparseShape{
	"copy_u_sum":    {{1, 16}, {1, 64}, {1, 128}},
	"u_mul_e_sum":   {{1, 16}, {1, 64}, {1, 128}},
	"u_dot_v":       {{1, 16}, {1, 64}, {1, 128}},
	"edge_softmax":  {{8, 8}},
	"gat_attention": {{8, 8}},
}

// sweep returns where a kernel is timed in the sweep.
func (k sparseKernel) sweep() []sparseCase {
	var out []sparseCase
	for _, g := range sweepGraphs {
		for _, s := range sweepShapes[k.name] {
			out = append(out, sparseCase{g, s})
		}
	}
	return out
}

// sweepOf returns the sweep, in its order.
func sweepOf(all []Benchmark) []Benchmark {
	out := slices.DeleteFunc(slices.Clone(all), func(b Benchmark) bool { return b.swept == 0 })
	slices.SortFunc(out, func(a, b Benchmark) int { return cmp.Compare(a.swept, b.swept) })
	return out
}

// Listed returns all but those that only the sweep has.
func Listed(all []Benchmark) []Benchmark {
	return slices.DeleteFunc(slices.Clone(all), func(b Benchmark) bool { return b.unlisted })
}

// gatherReads is how many rows a call reads at least that measures what can be gathered.
const gatherReads = 1 << 18

// table returns what the edges of b gather from: none if they read no rows.
func (b *Benchmark) table() table {
	if b.gathered == 0 || b.at.g == nil {
		return table{}
	}
	return table{b.at.g.sources, b.at.shape.width()}
}

// benchmark is how fast rows of t are gathered at random. A pass reads as many rows as there
// are, so that none pays for a copy of the table in another order, and a large table is not
// mistaken for the few rows of it that fit a cache.
func (t table) benchmark(threads int) Benchmark {
	return t.gathers(fmt.Sprintf("gather/%dx%d", t.rows, t.width), t.rows, (gatherReads+t.rows-1)/t.rows, threads)
}

// SweepLimits returns the ceilings of a sweep, each once: how fast this machine gathers rows of
// each width from a table of each size or, of what gathers none, how fast it computes and copies.
func SweepLimits(all, sweep []Benchmark) []Benchmark {
	var out, others []Benchmark
	met := map[string]bool{}
	for _, b := range sweep {
		t := b.table()
		if t.rows == 0 {
			others = append(others, b)
			continue
		}
		if of := t.benchmark(b.lanes); !met[of.name] {
			met[of.name] = true
			out = append(out, of)
		}
	}
	return append(Limits(all, others), out...)
}

// NewSweepTable is NewTable of a sweep: kernel, graph and columns stand for a name.
func NewSweepTable(bs []Benchmark, width int) *Table {
	kernel, graph := len("kernel"), len("graph")
	for i := range bs {
		kernel = max(kernel, len(bs[i].kernel()))
		graph = max(graph, plain.Width(plain.Text(bs[i].at.g.name)))
	}
	columns, way := len("columns"), 17
	if wide := kernel + graph + columns + 57; width == 0 || width >= wide {
		way = 29
	}
	row := func(a, b, c string) string {
		return plain.Pad(a, kernel) + " " + plain.Pad(b, graph) + " " + strings.Repeat(" ", max(0, columns-plain.Width(c))) + c
	}
	title := func(b *Benchmark) string { return row(b.kernel(), plain.Text(b.at.g.name), b.columns()) }
	t := newTable(bs, width, sweepColumns(way), row("kernel", "graph", "columns"), title)
	t.sweep = true
	return t
}

// kernel is the name of a kernel without where it is timed.
func (b *Benchmark) kernel() string { return strings.TrimPrefix(b.op, "kernel/") }

// columns is how wide its rows are, in words.
func (b *Benchmark) columns() string {
	if b.gathered == 0 {
		return plural(b.at.shape.heads, "head")
	}
	return b.at.shape.String()
}

// sweepColumns are those of a sweep's table, in which the way takes so much.
func sweepColumns(way int) []column {
	return []column{
		{"median", 7, 0, func(_ *Benchmark, _ *extra, l *Line) string { return shortTime(l.MedianMS) }, nil},
		{"GB/s", 4, 1, func(_ *Benchmark, x *extra, _ *Line) string { return some(cmp.Or(x.Gathered, x.GBPerS)) }, nil},
		{"of ceiling", 12, 0, func(b *Benchmark, x *extra, _ *Line) string {
			if x.Table != "" {
				return fmt.Sprintf("%s %-6s", percent(x.TablePct), x.Table)
			}
			return b.ofLimit(x)
		}, nil},
		{"way", -way, 2, func(_ *Benchmark, x *extra, _ *Line) string {
			if plain.Width(x.Way) > way {
				return strings.NewReplacer(" of ", " ", ", tiles of ", " × ").Replace(x.Way)
			}
			return x.Way
		}, nil},
	}
}

// sweepLegend explains the columns of a sweep.
var sweepLegend = []explained{
	{"GB/s", "GB/s: a row of x and its index for each edge, and the result. Of edge_softmax what it reads and writes. gat_attention is forward and backward."},
	{"of ceiling", "of ceiling: these GB/s, as a share of what this machine gathers at random of rows so wide from a table as large as x, and where such a table is (l2, l3, memory). Above 100 % rows come from a nearer cache: by tiles and blocks, hubs, or neighbours with near numbers. Of edge_softmax: of multiply-adds (fma) or a copy."},
	{"way", "way: plain is row by row; tiles of so many columns, blocks of so many rows of x."},
}

package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

// sweepOf returns the sweep, in its order.
func sweepOf(all []Benchmark) []Benchmark {
	out := slices.DeleteFunc(slices.Clone(all), func(b Benchmark) bool { return b.Swept == 0 })
	slices.SortFunc(out, func(a, b Benchmark) int { return cmp.Compare(a.Swept, b.Swept) })
	return out
}

// Listed returns all but those that only the sweep has.
func Listed(all []Benchmark) []Benchmark {
	return slices.DeleteFunc(slices.Clone(all), func(b Benchmark) bool { return b.Unlisted })
}

// gatherReads is how many rows a call reads at least that measures what can be gathered.
const gatherReads = 1 << 18

// table returns what the edges of b gather from: none if they read no rows.
func (b *Benchmark) table() table {
	if b.Gathered == 0 || b.At.Graph == nil {
		return table{}
	}
	return table{b.At.Graph.Sources, b.At.Shape.Width()}
}

// near is a table of rows as wide that fits the second cache.
func (t table) near() table {
	if t.rows == 0 {
		return t
	}
	return tableOf(levels[1].size, t.width)
}

// path is what its benchmark is called, without its threads.
func (t table) path() string { return fmt.Sprintf("gather/%dx%d", t.rows, t.width) }

// benchmark is how fast rows of t are gathered at random: of a large table as many as there are,
// so that it is not mistaken for the few of them that fit a cache.
func (t table) benchmark(threads int) Benchmark {
	return t.gathers(t.path(), t.rows*((gatherReads+t.rows-1)/t.rows), threads)
}

// SweepLimits returns the ceilings of a sweep, each once: how fast this machine computes, copies,
// and gathers rows of each width, from the second cache and from a table of each size.
func SweepLimits(all, sweep []Benchmark) []Benchmark {
	met, wanted := map[table]bool{{}: true}, map[string]bool{"machine/fma": true}
	for _, b := range sweep {
		wanted["machine/copy/"+levelOf(b.Bytes/float64(b.Lanes)).name] = true
	}
	out := slices.DeleteFunc(Limits(all, sweep), func(b Benchmark) bool { return !wanted[b.Op] })
	for _, b := range sweep {
		for _, t := range []table{b.table().near(), b.table()} {
			if !met[t] {
				met[t] = true
				out = append(out, t.benchmark(b.Lanes))
			}
		}
	}
	return out
}

// NewSweepTable is NewTable of a sweep: kernel, graph and columns stand for a name.
func NewSweepTable(bs []Benchmark, width int) *Table {
	kernel, graph := len("kernel"), len("graph")
	for i := range bs {
		kernel = max(kernel, len(bs[i].Kernel()))
		graph = max(graph, plain.Width(plain.Text(bs[i].At.Graph.Name)))
	}
	columns, way := len("columns"), 17
	if wide := kernel + graph + columns + 71; width == 0 || width >= wide {
		way = 29
	}
	row := func(a, b, c string) string {
		return plain.Pad(a, kernel) + " " + plain.Pad(b, graph) + " " + strings.Repeat(" ", max(0, columns-plain.Width(c))) + c
	}
	title := func(b *Benchmark) string { return row(b.Kernel(), plain.Text(b.At.Graph.Name), b.Columns()) }
	t := newTable(bs, width, sweepColumns(way), row("kernel", "graph", "columns"), title)
	t.sweep = true
	for i := range bs {
		if g := bs[i].At.Graph; !slices.Contains(t.graphs, g) {
			t.graphs = append(t.graphs, g)
		}
	}
	return t
}

// Kernel is the name of a kernel without where it is timed.
func (b *Benchmark) Kernel() string { return strings.TrimPrefix(b.Op, "kernel/") }

// Columns is how wide its rows are, in words.
func (b *Benchmark) Columns() string {
	if b.Gathered == 0 {
		return plural(b.At.Shape.Heads, "head")
	}
	return b.At.Shape.String()
}

// sweepColumns are those of a sweep's table, in which the way takes so much.
func sweepColumns(way int) []column {
	return []column{
		{"median", 7, 0, func(_ *Benchmark, _ *extra, l *Line) string { return shortTime(l.MedianMS) }, nil},
		{"GB/s", 4, 1, func(_ *Benchmark, x *extra, _ *Line) string { return some(cmp.Or(x.Gathered, x.GBPerS)) }, nil},
		{"of limit", 12, 0, func(b *Benchmark, x *extra, _ *Line) string { return b.ofLimit(x) }, nil},
		{"of table", 12, 3, func(b *Benchmark, x *extra, _ *Line) string {
			if x.Table == "" {
				return ""
			}
			return fmt.Sprintf("%s %-6s", percent(x.TablePct), x.Table)
		}, nil},
		{"way", -way, 2, func(_ *Benchmark, x *extra, _ *Line) string {
			if plain.Width(x.Way) > way {
				return strings.NewReplacer("blocks of ", "blocks ", ", tiles of ", "×").Replace(x.Way)
			}
			return x.Way
		}, nil},
	}
}

// sweepLegend explains the columns of a sweep.
var sweepLegend = []explained{
	{"GB/s", "GB/s: a row of x and its index for each edge, and the result; of edge_softmax, what it reads and writes. gat_attention is forward and backward."},
	{"of limit", "of limit: the least time in which this machine could do that, as a share of the median; and what binds: reading a row for each edge from the second cache (gather), a copy of what has to be moved at least (l1 to memory), or multiply-adds (fma)."},
	{"of table", "of table: these GB/s as a share of what this machine gathers at random from a table as large as x, and where that is taken to be. Above 100 % rows come from a nearer cache: by tiles and blocks, because few are asked for often, or because the neighbours of a node stand near each other."},
	{"way", "way: plain is row by row; in tiles of so many columns, and blocks of so many rows of x."},
}

// degrees says how many edges the graphs have.
func (t *Table) degrees() string {
	var out []string
	for _, g := range t.graphs {
		out = append(out, fmt.Sprintf("%s %.3g", plain.Text(g.Name), g.Degree()))
	}
	return "edges a node: " + strings.Join(out, ", ")
}

// Degree is how many edges go to a node.
func (g *Graph) Degree() float64 { return float64(g.Edges) / float64(g.Rows) }

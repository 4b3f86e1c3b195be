package bench

import (
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/plain"
)

// The sweep has each of its kernels on each of its graphs at each width, in this order, and no
// place twice; a softmax, which has no columns, once a graph. What only it has is not listed.
func TestSweep(t *testing.T) {
	all := All(Choice{Threads: 2})
	sweep, err := Choose(all, Sparse)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, k := range strings.Fields("copy_u_sum u_mul_e_sum u_dot_v edge_softmax gat_attention") {
		for _, g := range strings.Fields("grid pubmed arxiv reddit-tenth proteins-small reddit-small") {
			widths := "16 64 128"
			if strings.Contains(k, "_softmax") || strings.Contains(k, "_attention") {
				widths = "8x8"
			}
			for _, w := range strings.Fields(widths) {
				want = append(want, k+"/"+g+"/"+w)
			}
		}
	}
	if got := strings.Fields(names(sweep)); !slices.Equal(got, want) {
		t.Errorf("the sweep is\n%q\nwant\n%q", got, want)
	}
	listed := " " + names(Listed(all)) + " "
	if !strings.Contains(listed, " copy_u_sum/arxiv/64 ") || strings.Contains(listed, "grid") || strings.Contains(listed, "proteins-small") {
		t.Errorf("listed are%s", listed)
	}
	limits := names(SweepLimits(all, sweep))
	if met := strings.Fields(limits); len(met) != len(slices.Compact(slices.Sorted(slices.Values(met)))) || strings.Count(limits, "machine/gather/") != 3+6*3 || !strings.Contains(limits, "machine/gather/23297x128/2") {
		t.Errorf("its ceilings are %s", limits)
	}
}

// A graph and widths of one's own narrow it.
func TestSweepNarrowed(t *testing.T) {
	g := sized(t, "uniform:30x90")
	for want, c := range map[string]Choice{
		"copy_u_sum/G/16 copy_u_sum/G/64 copy_u_sum/G/128 u_mul_e_sum/G/16 u_mul_e_sum/G/64 u_mul_e_sum/G/128 u_dot_v/G/16 u_dot_v/G/64 u_dot_v/G/128 edge_softmax/G/8x8 gat_attention/G/8x8": {},
		"copy_u_sum/G/5 copy_u_sum/G/32 u_mul_e_sum/G/5 u_mul_e_sum/G/32 u_dot_v/G/5 u_dot_v/G/32 edge_softmax/G/8x8 gat_attention/G/8x8":                                                     {Dims: []int{5, 32}},
		"copy_u_sum/G/4x3 u_mul_e_sum/G/4x3 u_dot_v/G/4x3 edge_softmax/G/4x3 gat_attention/G/4x3":                                                                                             {Heads: 4, Dims: []int{3}},
	} {
		c.Threads, c.Graph = 1, g
		sweep, err := Choose(All(c), Sparse)
		if got := strings.ReplaceAll(names(sweep), g.name, "G"); err != nil || got != want {
			t.Errorf("%+v: %v, got\n%s, want\n%s", c, err, got, want)
		}
		for _, b := range sweep {
			if l, err := NewTimer("test", Budget{AtLeast: 1, AtMost: 1, Alone: true}).Time(t.Context(), &b); err != nil || l.Extra.PlainMS+l.Extra.WalkMS+l.Extra.RivalMS+l.Extra.ForwardMS != 0 {
				t.Errorf("%s: %v, %+v: more was timed than the kernel", b.name, err, l)
			} else if chooses := strings.Contains("copy_u_sum u_mul_e_sum u_dot_v", b.kernel()); chooses != (l.Extra.Way != "") {
				t.Errorf("%s runs %q", b.name, l.Extra.Way)
			}
		}
	}
}

// Of several widths each is timed; of what has no columns, the first.
func TestWidths(t *testing.T) {
	all := All(Choice{Threads: 1, Graph: sized(t, "9x20"), Dims: []int{5, 32}})
	for pattern, want := range map[string]string{
		"copy_u_sum": "copy_u_sum/9x20/5 copy_u_sum/9x20/32", "edge_softmax": "edge_softmax/9x20/8x5", "edge_softmax_both": "edge_softmax_both/9x20/8x5",
		"gat_message": "gat_message/9x20/8x5 gat_message/9x20/8x32", "layer/gatv2": "layer/gatv2/9x20/8x5 layer/gatv2/9x20/8x32",
	} {
		if some, err := Choose(all, pattern); err != nil || names(some) != want {
			t.Errorf("%s: %v, got %s, want %s", pattern, err, names(some), want)
		}
	}
}

// Sources ascend in the rows of every kind of generated graph, as in the peers' files, and a grid
// joins each point with itself and those beside it.
func TestGeneratedGraphs(t *testing.T) {
	for name, edges := range map[string]int{"grid:1": 1, "grid:2": 12, "grid:5": 105, "uniform:50x400": 400, "50x400": 400} {
		b := sized(t, name)
		in := b.get().In()
		if b.edges != edges || in.NNZ() != edges || in.NumRows != b.nodes || b.get().NumNodes() != b.nodes {
			t.Errorf("%s: %d × %d with %d edges, said to be %d nodes and %d edges", name, in.NumRows, in.NumCols, in.NNZ(), b.nodes, b.edges)
		}
		for v := range in.NumRows {
			if cols := in.Cols[in.Offsets[v]:in.Offsets[v+1]]; !slices.IsSorted(cols) {
				t.Errorf("%s: row %d has the sources %d", name, v, cols)
			}
		}
	}
	const side = 5
	in := sized(t, "grid:5").get().In()
	for v := range side * side {
		for u := range side * side {
			apart := max(v/side-u/side, u/side-v/side) + max(v%side-u%side, u%side-v%side)
			if joined := slices.Contains(in.Cols[in.Offsets[v]:in.Offsets[v+1]], int32(u)); joined != (apart <= 1) {
				t.Errorf("from %d to %d: an edge is there: %t", u, v, joined)
			}
		}
	}
}

// The table of a sweep has the way in full where there is room, and fits a terminal.
func TestSweepTable(t *testing.T) {
	g, busy := &Graph{name: "proteins-small", edges: 4e6, rows: 13000, sources: 13000}, 9.0
	bs := []Benchmark{
		{op: "kernel/copy_u_sum", gathered: 1, at: placed{g, sparseShape{1, 128}}},
		{op: "kernel/edge_softmax", at: placed{g, sparseShape{8, 8}}},
		{op: "kernel/gat_attention", gathered: 1, at: placed{g, sparseShape{8, 8}}},
	}
	lines := []*Line{
		{MedianMS: 18.3, Extra: extra{Gathered: 113, Limit: "gather/1", LimitPct: 59, Table: "l3", TablePct: 128, Way: "blocks of 131072, tiles of 32"}},
		{MedianMS: 0.5, Extra: extra{GBPerS: 22.2, Limit: "fma/1", LimitPct: 5, OthersPct: &busy}},
		{MedianMS: 33, Extra: extra{Gathered: 82.04, Limit: "gather/1", LimitPct: 41, Table: "memory", TablePct: 100}},
	}
	for i := range bs {
		bs[i].lanes = 1
	}
	defer par.SetThreads(1)()
	for width, want := range map[int]string{
		0: `
kernel        graph          columns  median GB/s     of limit     of table way
copy_u_sum    proteins-small     128 18.3 ms  113  59 % gather 128 % l3     blocks of 131072, tiles of 32
edge_softmax  proteins-small 8 heads  500 µs 22.2   5 % fma                                                (others: 9 %)
gat_attention proteins-small     8x8   33 ms   82  41 % gather 100 % memory`,
		105: `
kernel        graph          columns  median GB/s     of limit     of table way
copy_u_sum    proteins-small     128 18.3 ms  113  59 % gather 128 % l3     blocks of 131072, tiles of 32
edge_softmax  proteins-small 8 heads  500 µs 22.2   5 % fma
  (others: 9 %)
gat_attention proteins-small     8x8   33 ms   82  41 % gather 100 % memory`,
		104: `
kernel        graph          columns  median GB/s     of limit     of table way
copy_u_sum    proteins-small     128 18.3 ms  113  59 % gather 128 % l3     blocks 131072×32
edge_softmax  proteins-small 8 heads  500 µs 22.2   5 % fma
  (others: 9 %)
gat_attention proteins-small     8x8   33 ms   82  41 % gather 100 % memory`,
		80: `
kernel        graph          columns  median GB/s     of limit way
copy_u_sum    proteins-small     128 18.3 ms  113  59 % gather blocks 131072×32
edge_softmax  proteins-small 8 heads  500 µs 22.2   5 % fma
  (others: 9 %)
gat_attention proteins-small     8x8   33 ms   82  41 % gather`,
		62: `
kernel        graph          columns  median GB/s     of limit
copy_u_sum    proteins-small     128 18.3 ms  113  59 % gather
edge_softmax  proteins-small 8 heads  500 µs 22.2   5 % fma
  (others: 9 %)
gat_attention proteins-small     8x8   33 ms   82  41 % gather`,
	} {
		table, got := NewSweepTable(bs, width), ""
		for i := range bs {
			for _, line := range table.Row(&bs[i], lines[i]) {
				got += "\n" + line
				if width > 0 && plain.Width(line) > width {
					t.Errorf("%d columns: %q is wider", width, line)
				}
			}
		}
		if got != want {
			t.Errorf("%d columns:%s\nwant%s", width, got, want)
		}
		if legend := strings.Join(table.Legend(nil), "\n"); !strings.Contains(legend, "edges a node: proteins-small 308\n") || strings.Contains(legend, "of table: ") != (width == 0 || width > 100) || strings.Contains(legend, "way: ") != (width != 62) {
			t.Errorf("%d columns: the legend is\n%s", width, legend)
		}
	}
}

package bench

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/plain"
)

// The table of a sweep has the way in full where there is room, and fits a terminal.
func TestSweepTable(t *testing.T) {
	g, busy := &Graph{Name: "proteins-small", Edges: 4e6, Rows: 13000, Sources: 13000}, 9.0
	bs := []Benchmark{
		{Op: "kernel/copy_u_sum", Gathered: 1, At: Place{g, Shape{1, 128}}},
		{Op: "kernel/edge_softmax", At: Place{g, Shape{8, 8}}},
		{Op: "kernel/gat_attention", Gathered: 1, At: Place{g, Shape{8, 8}}},
	}
	lines := []*Line{
		{MedianMS: 18.3, Extra: extra{Gathered: 113, Limit: "gather/1", LimitPct: 59, Table: "l3", TablePct: 128, Way: "blocks of 131072, tiles of 32"}},
		{MedianMS: 0.5, Extra: extra{GBPerS: 22.2, Limit: "fma/1", LimitPct: 5, OthersPct: &busy}},
		{MedianMS: 33, Extra: extra{Gathered: 82.04, Limit: "gather/1", LimitPct: 41, Table: "memory", TablePct: 100}},
	}
	for i := range bs {
		bs[i].Lanes = 1
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

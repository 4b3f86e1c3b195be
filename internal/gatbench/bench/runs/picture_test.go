package runs

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/draw"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// besideTable is a table as compare.py writes it.
const besideTable = `name	metric	reference	other	reference_median	other_median	ratio	ratio_low	ratio_high	rounds	others_cpu_pct	op	graph	nodes	edges	dim
copy_u_sum g 16	median_ms	edgewise	torch, memory kept	2	3	1.5	1.4	1.6	3	0	kernel/copy_u_sum	g	100	500	16
copy_u_sum g 16	min_ms	edgewise	torch, memory kept	2	3	0.1	1.4	1.6	3	0	kernel/copy_u_sum	g	100	500	16
copy_u_sum g 16	median_ms	edgewise	dgl, memory kept	2	1.8	0.9	0.8	1	3	0	kernel/copy_u_sum	g	100	500	16
copy_u_sum g 64	median_ms	edgewise, all rows	dgl	2	4	2	1.9	2.1	3	0	kernel/copy_u_sum	g	100	500	64
gemm	median_ms	torch	edgewise	2	4	2	1.9	2.1	3	0	dense/gemm				
sums: geometric mean of 2	median_ms	edgewise	dgl			1.4	1.3	1.5	3						
`

// Of each cell that compare.py measured the fastest other counts, by medians.
func TestReadBeside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.tsv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(besideTable)
	if out, err := benched(t, Settings{Beside: path, Plot: true}); err != nil || !strings.Contains(out, "2.00 dgl") || !strings.HasSuffix(out, "\nnext: gatbench bench sparse\n") {
		t.Errorf("%v, in a terminal it is\n%s", err, out)
	}
	want := draw.Sweep{
		{Kernel: "copy_u_sum", Graph: "g", Degree: 5, Columns: "16", Width: 16, Value: 0.9, Other: "dgl"},
		{Kernel: "copy_u_sum", Graph: "g", Degree: 5, Columns: "64", Width: 64, Value: 2, Other: "dgl"},
	}
	for _, text := range []string{besideTable, strings.ReplaceAll(besideTable, "\n", "\r\n")} {
		write(text)
		got, err := readBeside(path)
		if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("%v, got %+v, want %+v", err, got, want)
		}
	}
	for _, tt := range []struct{ old, new, want string }{
		{"ratio\t", "r\t", `line 1 names no column "ratio"`},
		{"\t0\tkernel/copy_u_sum\tg\t100\t500\t64", "", "line 5 has 10 columns, and line 1 names 16"},
		{"\t1.5\t1.4", "\tfast\t1.4", `line 2: ratio is "fast", and must be a number above 0`},
		{"\t0.9\t", "\tNaN\t", `line 4: ratio is "NaN"`},
		{"100\t500\t64", "0\t500\t64", `line 5: nodes is "0"`},
		{"edgewise, all rows", "torch", `line 5: the reference is "torch": put edgewise first`},
		{"kernel/", "layer/", "it has no kernel on a graph"},
		{besideTable, "", "line 1 names no column"},
	} {
		write(strings.ReplaceAll(besideTable, tt.old, tt.new))
		if _, err := readBeside(path); err == nil || !strings.Contains(err.Error(), path+": "+tt.want) {
			t.Errorf("%s for %s: got %v", tt.new, tt.old, err)
		}
	}
}

// A sweep is one table, and its lines and its picture have the shares of this machine; so has
// what is done when it is interrupted.
func TestBenchSweep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.svg")
	narrow := func() Settings {
		return Settings{Size: "40x200", Dims: []int{4, 8}, Picture: path, Threads: 1, Budget: quick}
	}
	c := narrow()
	c.Plot = true
	out, err := benched(t, c)
	if err != nil || !strings.HasPrefix(out, "40x200: 40 nodes, 200 edges\n\nkernel        graph  columns ") || strings.Count(out, "\nu_dot_v       40x200       ") != 2 ||
		!strings.Contains(out, " % gather") || !strings.Contains(out, "\nedges a node: 40x200 5\n") || !strings.Contains(out, "\nu_dot_v: per cent of what this machine could do\n") || !strings.Contains(out, "picture in "+path+"\nnext: gatbench bench --size=40x200 --dim=4 --dim=8 ") {
		t.Errorf("%v, table\n%s", err, out)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), ">u_dot_v: per cent of") || !strings.Contains(string(text), ">40x200, 5<") {
		t.Errorf("%v, the picture is\n%s", err, text)
	}
	c = narrow()
	c.JSON, c.Picture = true, ""
	out, err = benched(t, c)
	lines := tasktest.Objects(t, out)
	if err != nil || len(lines) != 8 || lines[0]["params"].(map[string]any)["dim"] != 4.0 {
		t.Fatalf("%v, %d lines\n%s", err, len(lines), out)
	}
	for name, has := range map[string]bool{"way": true, "table": true, "table_pct": true, "table_gb_per_s": true, "limit": true, "limit_pct": true, "plain_ms": false} {
		if _, ok := lines[0]["extra"].(map[string]any)[name]; ok != has {
			t.Errorf("%s is in extra: %t\n%s", name, ok, out)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	c = narrow()
	err = Run(cli.Env{Ctx: ctx, Out: &cancelling{cancel: cancel, before: 4}, ErrOut: new(bytes.Buffer)}, c) // the graph, a blank line, the head and a row
	if _, missing := os.Stat(path); err == nil || !strings.HasPrefix(err.Error(), "interrupted after ") || missing != nil {
		t.Errorf("when it is interrupted: %v; picture: %v", err, missing)
	}
}

// Alone, sparse is a sweep; with other names it is rows of the table.
func TestSweepAlone(t *testing.T) {
	for _, tt := range []struct {
		c    Settings
		want bool
	}{
		{Settings{Names: []string{bench.Sparse}}, true}, {Settings{Graph: "g.npz"}, true}, {Settings{Size: "9x9", Names: []string{bench.Sparse}}, true},
		{Settings{}, false}, {Settings{Names: []string{bench.Sparse, "exp"}}, false}, {Settings{Names: []string{"spmm"}, Graph: "g.npz"}, false},
	} {
		if got := tt.c.sweeps(); got != tt.want {
			t.Errorf("%+v sweeps: %t", tt.c, got)
		}
	}
}

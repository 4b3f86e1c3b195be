package suite

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/kernels"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/layers"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trainings"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

func names(bs []bench.Benchmark) string {
	var out []string
	for _, b := range bs {
		out = append(out, b.Name)
	}
	return strings.Join(out, " ")
}

func TestNames(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		all, seen := All(bench.Choice{Threads: threads}, trainings.Trainings{}), map[string]bool{}
		for _, b := range all {
			if seen[b.Name] {
				t.Errorf("%s stands twice for %d threads", b.Name, threads)
			}
			seen[b.Name] = true
			if got, err := bench.Choose(all, b.Name); err != nil || names(got) != b.Name {
				t.Errorf("%s selects %q, %v", b.Name, names(got), err)
			}
			if b.Params["threads"] == nil || b.Op == "" || b.Lanes < 1 || b.Prepare == nil && b.Train == nil && b.Open == nil {
				t.Errorf("%s is not complete: %+v", b.Name, b)
			}
		}
		for _, want := range strings.Fields(`gemm/1024x1024x1024 gemm/2708x1433x64 gemm_ta/500x19717x64
			gemm_odd/2708x1433x7 gemm_odd/511x513x509
			gemm_packed/64x128x512 exp/2048 exp/1048576 dropout/1048576 par/forkjoin machine/fma/1 machine/copy/memory/1 machine/gather/memory/1
			copy_u_sum/grid/16 u_dot_v/reddit-small/128 gat_attention/proteins-small/8x8 copy_u_sum/arxiv/128 u_mul_e_sum/pubmed/8x8 u_dot_v/arxiv/8x8 edge_softmax/arxiv/8x8 gat_attention/arxiv/8x8
			message/arxiv/64 features/cora/64 layer/gat/arxiv/8x8 layer/gatv2/arxiv/8x8
			sequence/lstm/50x64x128x128 sequence/lstm/50x64x256x256x2 sequence/gru/30x80x620x1000x1x1 sequence/rnn/50x64x128x128
			sequence/lstm/100x1x128x128 sequence/ragged/lstm sequence/lstm/10000x1x128x128 sequence/truncated/10000x1x128x128/50 sequence/beam/5x64
			sequence/lstm_coupled/50x64x128x128 sequence/treelstm/drawn/25x150
			attention/mha/64x50x128x8 attention/encoder_layer/16x512x512x8 attention/encoder_layer/1x2048x512x8/nodropout attention/ragged/128x8
			attention/window/16384x128x64x8 attention/additive/64x50x50x256 attention/additive/64x50x50x256/steps attention/generate/1x128x256x8x4 layer/transformer/arxiv/8x8 layer/pna/arxiv/1x64 layer/edgeconv/arxiv/1x64 layer/rgcn/arxiv/1x64 layer/conv/32x32x32x3x16
			train/pubmed/gae walks/deepwalk/pubmed walks/node2vec/pubmed
			memory/ntm/lstm memory/hopfield/10000x500x64 memory/hopfield_async/10000x500x64 memory/modern/100000x256
			sample/batch/1000000x10000000 sample/batch/weighted/1000000x10000000 sample/step/1000000x10000000 sample/step/alone/1000000x10000000
			sample/step/gat/1000000x10000000 sample/step/deep/1000000x10000000 train/cora train/pubmed`) {
			if !seen[want] {
				t.Errorf("there is no %s", want)
			}
		}
	}
}

func TestChoose(t *testing.T) {
	all := All(bench.Choice{Threads: 1}, trainings.Trainings{})
	tests := []struct{ pattern, want string }{
		{"exp", "exp/2048 exp/1048576"},
		{"exp/", "exp/2048 exp/1048576"},
		{"exp/20*", "exp/2048"},
		{"[ed]*/1048576", "exp/1048576 dropout/1048576"},
		{"gemm/*x1024x1024", "gemm/1024x1024x1024 gemm/45000x1024x1024"},
		{"gemm_packed", "gemm_packed/64x128x512"},
		{"machine/copy", "machine/copy/l1/1 machine/copy/l2/1 machine/copy/l3/1 machine/copy/memory/1"},
		{"sddmm", "u_dot_v/pubmed/8x8 u_dot_v/arxiv/8x8"},
		{"", names(bench.Listed(all))},
		{"copy_u_sum", "copy_u_sum/cora/64 copy_u_sum/pubmed/64 copy_u_sum/arxiv/64 copy_u_sum/arxiv/128 copy_u_sum/reddit-tenth/64"},
		{"copy_u_sum/grid", ""},
		{"copy_u_sum/grid/16", "copy_u_sum/grid/16"},
		{"*/*/64", strings.Join(slices.DeleteFunc(strings.Fields(names(bench.Listed(all))), func(s string) bool { ok, _ := path.Match("*/*/64", s); return !ok }), " ")},
		{"gem", ""},
	}
	for _, tt := range tests {
		if got, err := bench.Choose(all, tt.pattern); err != nil || names(got) != tt.want {
			t.Errorf("%q: got %q, %v, want %q", tt.pattern, names(got), err, tt.want)
		}
	}
}

// A group has the kernels that its name says; no benchmark is called like one.
func TestGroups(t *testing.T) {
	all := All(bench.Choice{Threads: 1}, trainings.Trainings{})
	for _, b := range all {
		front, _, _ := strings.Cut(b.Name, "/")
		if slices.Contains([]string{"kernels", "spmm", "sddmm", bench.Sparse, bench.Scale}, front) {
			t.Errorf("%s begins like a group", b.Name)
		}
		for group, has := range map[string]bool{
			"kernels": strings.HasPrefix(b.Op, "kernel/") && !b.Unlisted, "sddmm": b.Op == "kernel/u_dot_v" && !b.Unlisted, bench.Sparse: b.Swept > 0,
			"spmm": !b.Unlisted && strings.Contains(" kernel/copy_u_sum kernel/copy_u_mean kernel/u_mul_e_sum ", " "+b.Op+" "),
		} {
			some, err := bench.Choose(all, group)
			if err != nil || strings.Contains(" "+names(some)+" ", " "+b.Name+" ") != has {
				t.Errorf("%s in %s: %v, want %v", b.Name, group, !has, has)
			}
		}
	}
	for wrong, want := range map[string]string{"sprase": "sparse", "spm": "spmm", "sdmm": "sddmm"} {
		if got := bench.Nearest(all, wrong); got != want {
			t.Errorf("%s: did you mean %s? want %s", wrong, got, want)
		}
	}
}

// The name of a file that is no pattern still selects itself.
func TestNamesWithBrackets(t *testing.T) {
	all := []bench.Benchmark{{Name: "copy_u_sum/a[b/64"}, {Name: "copy_u_sum/c/64"}}
	if got, err := bench.Choose(all, all[0].Name); err != nil || names(got) != all[0].Name {
		t.Errorf("%q, %v", names(got), err)
	}
	if _, err := bench.Choose(all, "copy_u_sum/[c"); err == nil {
		t.Error("half a bracket is a pattern")
	}
}

// The sweep has each of its kernels on each of its graphs at each width, in this order, and no
// place twice; a softmax, which has no columns, once a graph. What only it has is not listed.
func TestSweep(t *testing.T) {
	all := All(bench.Choice{Threads: 2}, trainings.Trainings{})
	sweep, err := bench.Choose(all, bench.Sparse)
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
	listed := " " + names(bench.Listed(all)) + " "
	if !strings.Contains(listed, " copy_u_sum/arxiv/64 ") || strings.Contains(listed, "grid") || strings.Contains(listed, "proteins-small") {
		t.Errorf("listed are%s", listed)
	}
	limits := names(bench.SweepLimits(all, sweep))
	if met := strings.Fields(limits); len(met) != len(slices.Compact(slices.Sorted(slices.Values(met)))) || strings.Count(limits, "machine/gather/") != 3+6*3 || !strings.Contains(limits, "machine/gather/23297x128/2") {
		t.Errorf("its ceilings are %s", limits)
	}
}

// A graph and widths of one's own narrow it.
func TestSweepNarrowed(t *testing.T) {
	g := sized(t, "uniform:30x90")
	for want, c := range map[string]bench.Choice{
		"copy_u_sum/G/16 copy_u_sum/G/64 copy_u_sum/G/128 u_mul_e_sum/G/16 u_mul_e_sum/G/64 u_mul_e_sum/G/128 u_dot_v/G/16 u_dot_v/G/64 u_dot_v/G/128 edge_softmax/G/8x8 gat_attention/G/8x8": {},
		"copy_u_sum/G/5 copy_u_sum/G/32 u_mul_e_sum/G/5 u_mul_e_sum/G/32 u_dot_v/G/5 u_dot_v/G/32 edge_softmax/G/8x8 gat_attention/G/8x8":                                                     {Dims: []int{5, 32}},
		"copy_u_sum/G/4x3 u_mul_e_sum/G/4x3 u_dot_v/G/4x3 edge_softmax/G/4x3 gat_attention/G/4x3":                                                                                             {Heads: 4, Dims: []int{3}},
	} {
		c.Threads, c.Graph = 1, g
		sweep, err := bench.Choose(All(c, trainings.Trainings{}), bench.Sparse)
		if got := strings.ReplaceAll(names(sweep), g.Name, "G"); err != nil || got != want {
			t.Errorf("%+v: %v, got\n%s, want\n%s", c, err, got, want)
		}
		for _, b := range sweep {
			if l, err := bench.NewTimer("test", bench.Budget{AtLeast: 1, AtMost: 1, Alone: true}).Time(t.Context(), &b); err != nil || l.Extra.PlainMS+l.Extra.WalkMS+l.Extra.RivalMS+l.Extra.ForwardMS != 0 {
				t.Errorf("%s: %v, %+v: more was timed than the kernel", b.Name, err, l)
			} else if chooses := strings.Contains("copy_u_sum u_mul_e_sum u_dot_v", b.Kernel()); chooses != (l.Extra.Way != "") {
				t.Errorf("%s runs %q", b.Name, l.Extra.Way)
			}
		}
	}
}

// Of several widths each is timed; of what has no columns, the first.
func TestWidths(t *testing.T) {
	all := All(bench.Choice{Threads: 1, Graph: sized(t, "9x20"), Dims: []int{5, 32}}, trainings.Trainings{})
	for pattern, want := range map[string]string{
		"copy_u_sum": "copy_u_sum/9x20/5 copy_u_sum/9x20/32", "edge_softmax": "edge_softmax/9x20/8x5", "edge_softmax_both": "edge_softmax_both/9x20/8x5",
		"gat_message": "gat_message/9x20/8x5 gat_message/9x20/8x32", "layer/gatv2": "layer/gatv2/9x20/8x5 layer/gatv2/9x20/8x32",
	} {
		if some, err := bench.Choose(all, pattern); err != nil || names(some) != want {
			t.Errorf("%s: %v, got %s, want %s", pattern, err, names(some), want)
		}
	}
}

// Ceilings are measured on the threads that the rows have work for, and not twice.
func TestLimits(t *testing.T) {
	all := All(bench.Choice{Threads: 2}, trainings.Trainings{})
	for pattern, want := range map[string]string{
		"spmm": "machine/fma/2 machine/copy/l1/2 machine/copy/l2/2 machine/copy/l3/2 machine/copy/memory/2", "read": "", "machine": "", "par": "",
	} {
		chosen, err := bench.Choose(all, pattern)
		if err != nil || len(chosen) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		if got := names(bench.Limits(all, chosen)); got != want {
			t.Errorf("%s: got %s, want %s", pattern, got, want)
		}
	}
	if got := names(bench.Limits(all, append(bench.WithoutMachine(all), all[0]))); strings.Contains(got+" ", all[0].Name+" ") {
		t.Errorf("%s was chosen, and is measured twice: %s", all[0].Name, got)
	}
	if got := names(bench.WithoutMachine(all)); strings.Contains(got, "machine/") {
		t.Errorf("without the machine there are %s", got)
	}
}

// The names of scale are names of benchmarks.
func TestScaled(t *testing.T) {
	if got := bench.Scaled(All(bench.Choice{Threads: 1}, trainings.Trainings{})); len(got) != 12 {
		t.Errorf("%d of 12 names are benchmarks", len(got))
	}
	for threads, want := range map[int][]int{1: {1}, 2: {1, 2}, 6: {1, 2, 4, 6}, 16: {1, 2, 4, 8, 16}} {
		if got := bench.Powers(threads); !slices.Equal(got, want) {
			t.Errorf("up to %d threads: %v", threads, got)
		}
	}
}

// onSmallGraph are all kernels and layers on a graph of 40 nodes.
func onSmallGraph(t *testing.T, heads, dim int) []bench.Benchmark {
	t.Helper()
	g, err := bench.GraphOfSize("40x200")
	if err != nil {
		t.Fatal(err)
	}
	c := &bench.Choice{Threads: 2, Graph: g, Heads: heads}
	if dim > 0 {
		c.Dims = []int{dim}
	}
	return slices.Concat(kernels.OnGraphs(c), layers.Convolutions(c))
}

// Every kernel on a graph runs on any graph and width, and says what it took.
func TestSparseBenchmarks(t *testing.T) {
	shapes := []bench.Shape{{Heads: 0, Dim: 0}, {Heads: 3, Dim: 5}}
	if sparing.Full() {
		shapes = append(shapes, bench.Shape{Heads: 1, Dim: 7})
	}
	for _, shape := range shapes {
		all := onSmallGraph(t, shape.Heads, shape.Dim)
		if len(all) < 12 {
			t.Fatalf("only %d benchmarks", len(all))
		}
		for _, b := range all {
			l, err := bench.NewTimer("test", quick).Time(t.Context(), &b)
			if err != nil {
				t.Fatalf("%s: %v", b.Name, err)
			}
			if l.Op != b.Op || l.MedianMS <= 0 || l.Params["nodes"] != 40 || l.Params["edges"] != 200 {
				t.Errorf("%s: %+v", b.Name, l)
			}
			if strings.HasPrefix(l.Op, "layer/") && l.Extra.ForwardMS <= 0 {
				t.Errorf("%s has no time of its forward pass", b.Name)
			}
		}
	}
}

// All kernels run on a matrix that is not square; what needs a square one says so.
func TestNotSquare(t *testing.T) {
	b := smallMatrix(t)
	refused := 0
	for _, b := range All(bench.Choice{Threads: 2, Graph: b}, trainings.Trainings{}) {
		if !strings.Contains(b.Name, "/small") {
			continue
		}
		_, err := bench.NewTimer("test", quick).Time(t.Context(), &b)
		if strings.HasPrefix(b.Op, "kernel/") != (err == nil) || err != nil && !strings.Contains(err.Error(), "5 × 7") {
			t.Errorf("%s: %v", b.Name, err)
		}
		if err != nil {
			refused++
		} else if b.Params["nodes"] != 7 || b.Params["rows"] != 5 {
			t.Errorf("%s: its params are %v", b.Name, b.Params)
		}
	}
	if refused == 0 {
		t.Error("nothing needs a square matrix")
	}
	for _, empty := range []*sparse.CSR{{NumRows: 3, NumCols: 4, Offsets: []int64{0, 0, 0, 0}}, {Offsets: []int64{0}}} {
		if _, err := bench.GraphOfMatrix("empty", empty); err == nil || !strings.Contains(err.Error(), "no elements that are not zero") {
			t.Errorf("%d × %d without elements: %v", empty.NumRows, empty.NumCols, err)
		}
	}
	if _, err := bench.GraphOf("empty", graph.Must(graph.New(3, nil, nil)), nil); err == nil || !strings.Contains(err.Error(), "no edges") {
		t.Errorf("3 nodes without edges: %v", err)
	}
}

// Every kernel is timed at any number of heads: more than a row has columns have one each.
func TestManyHeads(t *testing.T) {
	for _, heads := range []int{3, 65, 1000} {
		all := onSmallGraph(t, heads, 0)
		for _, b := range onSmallGraph(t, 0, 0) {
			front, _, _ := strings.Cut(b.Name, "/40x200")
			if some, err := bench.Choose(all, front); err != nil || len(some) == 0 {
				t.Errorf("%d heads: %s is not timed (%v)", heads, front, err)
			}
		}
		for _, b := range all {
			if got := b.Params["heads"]; got != heads {
				t.Errorf("%s has %v heads, want %d", b.Name, got, heads)
			}
		}
	}
}

// quick is a budget for tests.
var quick = bench.Budget{WarmUps: 1, AtLeast: 2, AtMost: 3, Enough: time.Microsecond, Limit: time.Second}

// sized is a graph of a size.
func sized(t *testing.T, name string) *bench.Graph {
	t.Helper()
	g, err := bench.GraphOfSize(name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// smallMatrix is 5 × 7, with a row and a column of no elements.
func smallMatrix(t *testing.T) *bench.Graph {
	t.Helper()
	a, err := sparse.New(5, 7, []int64{0, 3, 3, 4, 6, 9}, []int32{0, 2, 6, 1, 4, 3, 0, 2, 4}, []tensor.Float{2, -1, 0.5, 4, 3, -2, 1, 7, 0.25})
	if err != nil {
		t.Fatal(err)
	}
	g, err := bench.GraphOfMatrix("small", a)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

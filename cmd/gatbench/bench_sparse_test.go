package main

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// onSmallGraph are all kernels and layers on a graph of 40 nodes.
func onSmallGraph(t *testing.T, heads, dim int) []benchmark {
	t.Helper()
	g, err := graphOfSize("40x200")
	if err != nil {
		t.Fatal(err)
	}
	c := sparseChoice{graphs: []*benchGraph{g}, heads: heads, dim: dim}
	return slices.Concat(sparseBenchmarks(2, c), layerBenchmarks(2, c))
}

// Every kernel on a graph runs on any graph and width, and says what it took.
func TestSparseBenchmarks(t *testing.T) {
	for _, shape := range []sparseShape{{0, 0}, {3, 5}, {1, 7}} {
		all := onSmallGraph(t, shape.heads, shape.dim)
		if len(all) < 12 {
			t.Fatalf("only %d benchmarks", len(all))
		}
		out, err := bench(t, benchCommand{all: all, JSON: true})
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if len(lines) != len(all) {
			t.Fatalf("%d lines of %d benchmarks", len(lines), len(all))
		}
		for i, text := range lines {
			var l benchLine
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if l.Op != all[i].op || l.MedianMS <= 0 || l.Params["nodes"] != 40.0 || l.Params["edges"] != 200.0 {
				t.Errorf("%s: %s", all[i].name, text)
			}
			if strings.HasPrefix(l.Op, "layer/") && l.Extra.ForwardMS <= 0 {
				t.Errorf("%s has no time of its forward pass", all[i].name)
			}
		}
	}
}

// What a kernel is compared with does the same work.
func TestPlainSums(t *testing.T) {
	b, err := graphOfSize("30x150")
	if err != nil {
		t.Fatal(err)
	}
	g, s := b.get(), sparseShape{2, 3}
	x, w := newOperand(g.NumSrc(), 2, 3), newOperand(g.NumEdges(), 2)
	for _, weights := range []*tensor.Dense{nil, w} {
		y := tensor.New(g.NumDst(), 2, 3)
		plainSum(g.In(), x, y, weights, s).call()
		for v := range g.NumDst() {
			for j := range 6 {
				want := 0.0
				for k := g.In().Offsets[v]; k < g.In().Offsets[v+1]; k++ {
					c := 1.0
					if weights != nil {
						c = float64(weights.Row(int(k))[j/3])
					}
					want += c * float64(x.Row(int(g.In().Cols[k]))[j])
				}
				if got := float64(y.Row(v)[j]); math.Abs(got-want) > 1e-5 {
					t.Fatalf("weights %v, node %d, column %d: %v, want %v", weights != nil, v, j, got, want)
				}
			}
		}
	}
}

func TestWalkReadsEverySource(t *testing.T) {
	g := graph.Ring(10, 1)
	x := tensor.New(10, 3)
	x.Fill(1)
	for _, parts := range []int{1, walkParts} {
		call, sums := walkInto(g, x, parts)
		call()
		total := tensor.Float(0)
		for _, v := range sums.Data {
			total += v
		}
		if total != 30 {
			t.Errorf("%d parts: %v elements read, want 30", parts, total)
		}
	}
}

func TestGraphSizes(t *testing.T) {
	for _, s := range graphSizes[:3] {
		b, err := graphOfSize(s.name)
		if err != nil {
			t.Fatal(err)
		}
		if g := b.get(); g.NumSrc() != s.nodes || g.NumEdges() != s.edges || b.get() != g {
			t.Errorf("%s: %d nodes and %d edges, want %d and %d, and the same graph each time", s.name, g.NumSrc(), g.NumEdges(), s.nodes, s.edges)
		}
	}
	for _, bad := range []string{"", "x", "12", "0x5", "5x-1", "ax3", "citeseer", "9999999999x1"} {
		if _, err := graphOfSize(bad); err == nil || !strings.Contains(err.Error(), "NODESxEDGES") {
			t.Errorf("--size %q gives %v", bad, err)
		}
	}
}

func TestSparseChoice(t *testing.T) {
	tests := []struct {
		c    benchCommand
		want string
	}{
		{benchCommand{Heads: -1}, "at least 1"},
		{benchCommand{Graph: "a.npz", Size: "cora"}, "leave one of them out"},
		{benchCommand{Graph: "nowhere.npz"}, "nowhere.npz"},
		{benchCommand{Size: "huge"}, "--size huge"},
	}
	for _, c := range tests {
		if _, err := c.c.choice(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want an error with %q", c.c, err, c.want)
		}
	}
	c, err := (&benchCommand{Size: "50x60", Heads: 2, Dim: 4}).choice()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := list(&out, sparseBenchmarks(1, c)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "copy_u_sum/50x60/2x4\n") || strings.Contains(out.String(), "arxiv") {
		t.Errorf("chosen were\n%s", out.String())
	}
}

func TestSelfArgs(t *testing.T) {
	c := benchCommand{Size: "cora", Heads: 4, Data: "d"}
	got := strings.Join(c.selfArgs("gemm"), " ")
	for _, want := range []string{"--size=cora", "--heads=4", "--data=d"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %s", got, want)
		}
	}
	if !strings.HasPrefix(got, "bench --json --threads=") || !strings.HasSuffix(got, " gemm") || strings.Contains(got, "--dim") {
		t.Errorf("arguments %q", got)
	}
}

// A line of a training has the step, and the epoch that contains it.
func TestTrainBenchmark(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for 200 epochs")
	}
	out, err := bench(t, benchCommand{all: trainBenchmarks(1, (&benchCommand{}).training())[:1], JSON: true})
	if err != nil {
		t.Fatal(err)
	}
	var l benchLine
	if err := json.Unmarshal([]byte(out), &l); err != nil {
		t.Fatal(err)
	}
	if l.Op != "citation/gat" || l.Reps != trainEpochs || l.Extra.EpochMS <= l.MedianMS {
		t.Errorf("got %s", out)
	}
}

package datasets

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/sparse"
)

// rawDir returns the folder of real data, or skips the test.
func rawDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("EDGEWISE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "datasets")
	}
	if !holds(dir, "cora") && !holds(filepath.Join(dir, "planetoid"), "cora") {
		t.Skipf("no Planetoid files in %s; set EDGEWISE_DATA to their folder", dir)
	}
	return dir
}

func TestPlanetoidCounts(t *testing.T) {
	dir := rawDir(t)
	for _, c := range []struct {
		name                                                  string
		nodes, edges, loops, features, nnz, train, unlabelled int
		sizes                                                 []int
	}{
		{"Cora", 2708, 10556, 0, 1433, 49216, 140, 0, []int{351, 217, 418, 818, 426, 298, 180}},
		{"CiteSeer", 3327, 9104, 124, 3703, 105165, 120, 15, []int{264, 590, 668, 701, 596, 508}},
		{"PubMed", 19717, 88648, 3, 500, 988031, 60, 0, []int{4103, 7739, 7875}},
	} {
		d, err := Planetoid(dir, c.name)
		if err != nil {
			t.Fatal(err)
		}
		x := d.Features.(*sparse.CSR)
		if d.Name != c.name || d.Graph.NumNodes() != c.nodes || d.Graph.NumEdges() != c.edges || d.loops != c.loops {
			t.Errorf("%s: %q has %d nodes, %d edges, %d loops", c.name, d.Name, d.Graph.NumNodes(), d.Graph.NumEdges(), d.loops)
		}
		if x.NumRows != c.nodes || x.NumCols != c.features || x.NNZ() != c.nnz {
			t.Errorf("%s: features %v, %d nonzeros", c.name, x.Shape(), x.NNZ())
		}
		if s := d.Split; len(s.Train) != c.train || len(s.Val) != 500 || len(s.Test) != 1000 || !slices.IsSorted(s.Test) || s.Val[0] != int32(c.train) {
			t.Errorf("%s: split %d, %d, %d", c.name, len(s.Train), len(s.Val), len(s.Test))
		}
		if got := d.classSizes(); !slices.Equal(got, c.sizes) || d.Classes != len(c.sizes) || len(d.ClassNames) != d.Classes {
			t.Errorf("%s: classes of %v nodes, want %v", c.name, got, c.sizes)
		}
		perClass := make([]int, d.Classes)
		for _, v := range d.Split.Train {
			perClass[d.Labels[v]]++
		}
		if slices.Min(perClass) != 20 || slices.Max(perClass) != 20 {
			t.Errorf("%s: %v training nodes a class, want 20", c.name, perClass)
		}
		empty := 0
		for v := range c.nodes {
			if cols, _ := x.Row(v); len(cols) == 0 && v >= c.nodes-1015 && !slices.Contains(d.Split.Test, int32(v)) {
				empty++
			}
		}
		if empty != c.unlabelled {
			t.Errorf("%s: %d nodes in no file but the graph, want %d", c.name, empty, c.unlabelled)
		}
		symmetric(t, d)
		rowSums(t, d)
	}
}

// symmetric checks that edges go both ways, once, and that there are no loops.
func symmetric(t *testing.T, d *Dataset) {
	t.Helper()
	in, seen := d.Graph.In(), map[[2]int32]bool{}
	for v := range in.NumRows {
		cols, _ := in.Row(v)
		for _, u := range cols {
			if seen[[2]int32{u, int32(v)}] || u == int32(v) {
				t.Fatalf("%s: edge %d→%d is a loop or a duplicate", d.Name, u, v)
			}
			seen[[2]int32{u, int32(v)}] = true
		}
	}
	for e := range seen {
		if !seen[[2]int32{e[1], e[0]}] {
			t.Fatalf("%s: edge %d→%d has no reverse", d.Name, e[0], e[1])
		}
	}
}

// rowSums checks that normalised rows sum to 1, save those of zeros.
func rowSums(t *testing.T, d *Dataset) {
	t.Helper()
	x := d.Normalised().(*sparse.CSR)
	for v := range x.NumRows {
		sum := 0.0
		_, values := x.Row(v)
		for _, f := range values {
			sum += float64(f)
		}
		if len(values) > 0 && math.Abs(sum-1) > 1e-5 {
			t.Fatalf("%s: row %d sums to %v", d.Name, v, sum)
		}
	}
}

func TestDescribeCiteSeer(t *testing.T) {
	d, err := Open(rawDir(t), "CITESEER")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := d.Describe(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"CiteSeer", "3327", "PyG counts 9104, DGL 9228", "105165 nonzeros, 0.85 %", "0: 264 nodes  AI", "120 train, 500 validation, 1000 test"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

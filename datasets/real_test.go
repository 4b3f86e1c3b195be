package datasets

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/sparing"
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
		d, err := Open(dir, c.name)
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
	in := d.Graph.In()
	out, _ := d.Graph.Out()
	for v := range in.NumRows {
		from, _ := in.Row(v)
		to, _ := out.Row(v)
		from, to = slices.Sorted(slices.Values(from)), slices.Sorted(slices.Values(to))
		if slices.Contains(from, int32(v)) || len(slices.Compact(slices.Clone(from))) != len(from) {
			t.Fatalf("%s: an edge to %d is a loop or a duplicate: its sources are %v", d.Name, v, from)
		}
		if !slices.Equal(from, to) {
			t.Fatalf("%s: edges to %d come from %v, those from it go to %v", d.Name, v, from, to)
		}
	}
}

// rowSums checks that normalised rows sum to 1, save those of zeros.
func rowSums(t *testing.T, d *Dataset) {
	t.Helper()
	rows, err := d.Normalised()
	if err != nil {
		t.Fatal(err)
	}
	x := rows.(*sparse.CSR)
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

// TestCatalogue opens what is here of each form and compares its counts; sparing.Full
// opens everything. PubMed is a twin of what TestPlanetoidCounts reads.
func TestCatalogue(t *testing.T) {
	dir := rawDir(t)
	for _, want := range Catalogue() {
		t.Run(want.Name, func(t *testing.T) {
			if slices.Contains([]string{"amazon_photo", "coauthor_cs", "pubmed"}, want.Name) && !sparing.Full() {
				t.Skip("as large as others are together: EDGEWISE_FULL=1 opens it")
			}
			if path, err := Find(dir, want.Name); err != nil && want.Name != "karate" {
				t.Skipf("%s: %v", path, err)
			}
			d, err := Open(dir, want.Name)
			if err != nil {
				t.Fatal(err)
			}
			got := Info{want.Name, d.Name, want.About, d.Graph.NumNodes(), d.Graph.NumEdges(), d.Features.Shape()[1], d.Classes, want.Home}
			if got != want || d.Check() != nil {
				t.Errorf("got %v, want %v; %v", got, want, d.Check())
			}
			if want.Name != "texas" {
				symmetric(t, d)
			}
		})
	}
}

// The two forms of a dataset are one dataset, and so are LINQS' Cora and
// Planetoid's, but for the order of nodes.
func TestFormsAgree(t *testing.T) {
	dir := rawDir(t)
	names := []string{"cora_ml"}
	if sparing.Full() {
		names = append(names, "amazon_photo")
	}
	for _, name := range names {
		pickled, err := readWith(filepath.Join(dir, "npz", name+".npz"))
		if os.IsNotExist(err) {
			t.Skip(err)
		}
		plain, plainErr := readWith(filepath.Join(dir, "npz_plain", name+".npz"))
		if err != nil || plainErr != nil {
			t.Fatal(err, plainErr)
		}
		a, b := pickled.Features.(*sparse.CSR), plain.Features.(*sparse.CSR)
		if !slices.Equal(pickled.Graph.In().Cols, plain.Graph.In().Cols) || !slices.Equal(pickled.Labels, plain.Labels) ||
			!slices.Equal(a.Offsets, b.Offsets) || !slices.Equal(a.Cols, b.Cols) || !slices.Equal(a.Values, b.Values) {
			t.Errorf("%s: the pickled and the plain form differ", name)
		}
	}
	linqs, err := Open(dir, "cora_linqs")
	if err != nil {
		t.Skip(err)
	}
	planetoid, err := Open(dir, "cora")
	if err != nil {
		t.Fatal(err)
	}
	fingerprint := func(d *Dataset) []string { // of each node: class, degree, words
		var list []string
		for v := range d.Graph.NumNodes() {
			_, words := d.Features.(*sparse.CSR).Row(v)
			list = append(list, fmt.Sprint(d.ClassNames[d.Labels[v]], d.Graph.InDegree(v), len(words)))
		}
		slices.Sort(list)
		return list
	}
	if !slices.Equal(fingerprint(linqs), fingerprint(planetoid)) {
		t.Error("LINQS' Cora and Planetoid's are not the same papers")
	}
}

func TestSourcesAreTheFilesHere(t *testing.T) {
	dir := rawDir(t)
	for _, name := range []string{"citeseer", "cora", "pubmed"} {
		path, err := Find(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		sources := Sources(strings.ToUpper(name))
		if len(sources) != 8 {
			t.Fatalf("%d files of %s", len(sources), name)
		}
		for _, s := range sources {
			b, err := os.ReadFile(filepath.Join(path, s.Name))
			if err != nil || int64(len(b)) != s.Size || fmt.Sprintf("%x", sha256.Sum256(b)) != s.SHA256 || s.URL != planetoidHome+s.Name {
				t.Errorf("%s is not %d bytes of %s, error %v", s.Name, s.Size, s.SHA256, err)
			}
		}
	}
	if Sources("karate") != nil || Sources("") != nil {
		t.Error("there are files of what is not published")
	}
}

// TestMatrixMarketSuite reads the files that are made to be refused, and others.
func TestMatrixMarketSuite(t *testing.T) {
	dir := filepath.Join(rawDir(t), "mtx")
	for name, want := range map[string]string{
		"bcsstk13": "[2003 2003], 83883 elements", "cover": "[7 7], 12 elements", "empty": "[3 4], 0 elements", "full": "[3 3], 9 elements",
		"jagmesh7": "[1138 1138], 7450 elements", "karate": "[34 34], 156 elements", "matrix_int8": "[7 7], 11 elements", "structure": "[7 7], 12 elements",
		"west0067": "[67 67], 294 elements", "complex": "its elements are complex", "mangled1": "want a matrix", "mangled5": "it is hermitian",
		"mangled10": "the file ends after 2 of 3 elements", "mangled_format": "a pattern has no values", "matrix_fp32": `"-inf" is not the value`,
	} {
		m, err := LoadMatrix(filepath.Join(dir, name+".mtx"))
		if os.IsNotExist(err) {
			t.Skip(err)
		}
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%v, %d elements", m.Shape(), m.NNZ())
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	karate, err := readWith(filepath.Join(dir, "karate.mtx"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(karate.Graph.In().Cols, Karate().Graph.In().Cols) {
		t.Error("the karate club in the file is another")
	}
}

func BenchmarkPubMed(b *testing.B) {
	dir := rawDir(b)
	for b.Loop() {
		if _, err := Open(dir, "pubmed"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNPZ(b *testing.B) {
	dir := rawDir(b)
	for b.Loop() {
		if _, err := Open(dir, "amazon_photo"); err != nil {
			b.Fatal(err)
		}
	}
}

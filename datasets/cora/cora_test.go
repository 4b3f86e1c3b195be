package cora

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
)

// raw returns the embedded data, unpacked.
func raw(t testing.TB) []byte {
	t.Helper()
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	b, err := z.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLoad(t *testing.T) {
	d, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	x := d.Features.(*sparse.CSR)
	if d.Graph.NumNodes() != 2708 || d.Graph.NumEdges() != 10556 || x.NumCols != 1433 || x.NNZ() != 49216 || d.Classes != 7 {
		t.Errorf("%d nodes, %d edges, %d features, %d nonzeros, %d classes", d.Graph.NumNodes(), d.Graph.NumEdges(), x.NumCols, x.NNZ(), d.Classes)
	}
	if s := d.Split; len(s.Train) != 140 || len(s.Val) != 500 || len(s.Test) != 1000 {
		t.Errorf("split %d, %d, %d", len(s.Train), len(s.Val), len(s.Test))
	}
	if g := graph.WithSelfLoops(d.Graph); g.NumEdges() != 13264 {
		t.Errorf("%d edges with self-loops, want 13264", g.NumEdges())
	}
	if len(packed) > 100_000 {
		t.Errorf("%d bytes are embedded, want at most 100 kB", len(packed))
	}
}

// TestEqualsPlanetoid compares with the raw files, and these with sources.txt.
func TestEqualsPlanetoid(t *testing.T) {
	dir := os.Getenv("EDGEWISE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "datasets")
	}
	if sub := filepath.Join(dir, "planetoid"); exists(sub) {
		dir = sub
	}
	if !exists(filepath.Join(dir, "ind.cora.allx")) {
		t.Skipf("no ind.cora.* in %s; set EDGEWISE_DATA to their folder", dir)
	}
	want, err := datasets.Open(dir, "cora")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"in-edge offsets", got.Graph.In().Offsets, want.Graph.In().Offsets},
		{"in-edge sources", got.Graph.In().Cols, want.Graph.In().Cols},
		{"feature offsets", got.Features.(*sparse.CSR).Offsets, want.Features.(*sparse.CSR).Offsets},
		{"feature columns", got.Features.(*sparse.CSR).Cols, want.Features.(*sparse.CSR).Cols},
		{"feature values", got.Features.(*sparse.CSR).Values, want.Features.(*sparse.CSR).Values},
		{"labels", got.Labels, want.Labels},
		{"split", got.Split, want.Split},
		{"names", append([]string{got.Name}, got.ClassNames...), append([]string{want.Name}, want.ClassNames...)},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s differ", c.what)
		}
	}
	sums, err := os.ReadFile("sources.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || fmt.Sprintf("%x", sha256.Sum256(b)) != sum {
			t.Errorf("%s is not what the data were made from, error %v", name, err)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestCorruptData(t *testing.T) {
	b := raw(t)
	for _, n := range []int{0, 5, len(magic), len(magic) + 3, 1000, len(b) / 2, len(b) - 1} {
		if _, err := decode(b[:n]); err == nil {
			t.Errorf("no error for the first %d of %d bytes", n, len(b))
		}
		if _, err := load(packed[:min(n, len(packed)-1)]); err == nil {
			t.Errorf("no error for %d compressed bytes", n)
		}
	}
	if _, err := decode(append(bytes.Clone(b), 0)); err == nil {
		t.Error("no error for a byte behind the end")
	}
	for name, tail := range map[string]string{
		"huge count": "\xff\xff\xff\xff\x0f\x01\x01", "class": "\x01\x01\x01\x01", "id": "\x01\x01\x01\x00\x01\x01", "list": "\x01\x01\x01\x00\x02\x00\x00",
	} {
		if _, err := decode([]byte(magic + tail)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestBombIsRefused(t *testing.T) {
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := load(e.EncodeAll(make([]byte, 64<<20), nil)); err == nil {
		t.Error("64 MB were unpacked")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(magic + "\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte(magic + "\x02\x03\x02\x00\x01\x01\x00\x00\x01\x01\x01\x01\x01\x00\x01\x02\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := decode(b)
		if err != nil {
			return
		}
		if n := d.Graph.NumNodes(); len(d.Labels) != n || d.Features.Shape()[0] != n {
			t.Fatalf("%d nodes, %d labels, features %v", n, len(d.Labels), d.Features.Shape())
		}
	})
}

func ExampleLoad() {
	d, err := Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Graph.NumNodes(), "papers,", d.Graph.NumEdges()/2, "citations")
	fmt.Println("paper 0 is about", d.ClassNames[d.Labels[0]])
	// Output:
	// 2708 papers, 5278 citations
	// paper 0 is about Neural_Networks
}

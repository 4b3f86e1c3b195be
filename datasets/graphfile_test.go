package datasets

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeGraph writes a graph file and returns its path.
func writeGraph(t testing.TB, offsets []int64, sources []int32) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	put := func(name, descr string, n int, data any) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }", descr, n)
		w.Write([]byte("\x93NUMPY\x01\x00"))
		binary.Write(w, binary.LittleEndian, uint16(len(head)))
		w.Write([]byte(head))
		binary.Write(w, binary.LittleEndian, data)
	}
	put("indptr", "<i8", len(offsets), offsets)
	put("indices", "<i4", len(sources), sources)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "graph.npz")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadGraph(t *testing.T) {
	g, err := LoadGraph(writeGraph(t, []int64{0, 2, 2, 3}, []int32{1, 2, 0}))
	if err != nil {
		t.Fatal(err)
	}
	if g.NumSrc() != 3 || g.NumEdges() != 3 || !slices.Equal(g.In().Cols, []int32{1, 2, 0}) {
		t.Errorf("got %d nodes, %d edges, sources %v", g.NumSrc(), g.NumEdges(), g.In().Cols)
	}
	tests := []struct {
		offsets []int64
		sources []int32
		want    string
	}{
		{nil, nil, `array "indptr": it is empty`},
		{[]int64{0, 1}, []int32{1}, "has column 1 of a matrix of 1 columns"},
		{[]int64{0, 2, 1}, []int32{0, 1}, "below the 2 before it"},
		{[]int64{0, 1}, []int32{0, 0}, "want 2"},
		{[]int64{0, 1}, []int32{-1}, "column -1"},
	}
	for _, c := range tests {
		path := writeGraph(t, c.offsets, c.sources)
		if _, err := LoadGraph(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("offsets %v, sources %v: got %v, want an error with %q", c.offsets, c.sources, err, c.want)
		}
	}
	if _, err := LoadGraph(filepath.Join(t.TempDir(), "none.npz")); err == nil {
		t.Error("read a file that is not there")
	}
}

func FuzzReadGraph(f *testing.F) {
	for _, path := range []string{writeGraph(f, []int64{0, 1, 2}, []int32{1, 0}), writeGraph(f, []int64{0, 5}, []int32{1})} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	path := filepath.Join(f.TempDir(), "fuzz.npz")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		g, err := LoadGraph(path)
		if err == nil && len(g.In().Cols) != g.NumEdges() {
			t.Errorf("%d sources of %d edges", len(g.In().Cols), g.NumEdges())
		}
	})
}

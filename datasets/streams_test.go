package datasets

import (
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/streamtest"
)

// What is written to a stream is read from one, as from a file.
func TestStreams(t *testing.T) {
	d := Karate()
	b := streamtest.Writes(t, d.WriteNPZ)
	raw := streamtest.Reads(t, b, func(r io.Reader) (*form.Raw, error) { return form.Read(r, "karate.npz", form.Options{}) })
	e, err := From(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "karate.npz")
	if err := d.SaveNPZ(path); err != nil {
		t.Fatal(err)
	}
	if f, err := Load(path); err != nil || f.Digest() != e.Digest() || d.Graph.NumEdges() != e.Graph.NumEdges() {
		t.Errorf("from the file %v, error %v, and from the stream %v", f, err, e)
	}
	in := streamtest.Reads(t, b, func(r io.Reader) (*graph.Graph, error) {
		in, err := form.ReadIncoming(r, "karate.npz")
		if err != nil {
			return nil, err
		}
		return graph.FromCSR(in)
	})
	if g, err := LoadGraph(path); err != nil || !reflect.DeepEqual(g.In(), in.In()) {
		t.Errorf("from the file %v, error %v, and from the stream %v", g, err, in)
	}
	splits := streamtest.Reads(t, b, func(r io.Reader) ([]form.Split, error) { return form.ReadSplits(r, "karate.npz", d.Graph.NumNodes()) })
	if s, err := LoadSplit(path, d.Graph.NumNodes()); err != nil || len(splits) != 1 || !reflect.DeepEqual(s.Train, splits[0].Train) {
		t.Errorf("from the file %v, error %v, and from the stream %v", s, err, splits)
	}
	matrix := "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 3 5\n2 1 7\n"
	a := streamtest.Reads(t, []byte(matrix), func(r io.Reader) (any, error) { return form.ReadMatrix(r, "a.mtx") })
	if want, err := LoadMatrix(put(t, "a.mtx", []byte(matrix))); err != nil || !reflect.DeepEqual(a, any(want)) {
		t.Errorf("from the file %v, error %v, and from the stream %v", want, err, a)
	}
	if _, err := form.ReadMatrix(strings.NewReader("x"), "a.mtx"); err == nil || !strings.HasPrefix(err.Error(), "a.mtx: ") {
		t.Errorf("error %v", err)
	}
}

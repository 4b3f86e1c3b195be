package train_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/streamtest"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// A model and a checkpoint have the same bytes in a stream and in a file, and are read back from anywhere.
func TestStreams(t *testing.T) {
	m := newLogistic()
	of := func(m *logistic) *train.Checkpoint { return &train.Checkpoint{Model: m, Optimiser: &train.Adam{LR: 1}} }
	for name, s := range map[string]struct {
		write func(w io.Writer) error
		save  func(path string) error
		read  func(r io.ReaderAt, size int64, m *logistic) error
	}{
		"model": {func(w io.Writer) error { return train.Write(w, m) }, func(path string) error { return train.Save(path, m) },
			func(r io.ReaderAt, size int64, m *logistic) error { return train.Read(r, size, m) }},
		"checkpoint": {of(m).Write, of(m).Save, func(r io.ReaderAt, size int64, m *logistic) error { return of(m).Read(r, size) }},
	} {
		t.Run(name, func(t *testing.T) {
			b := streamtest.Writes(t, s.write)
			path := filepath.Join(t.TempDir(), "file")
			if err := s.save(path); err != nil {
				t.Fatal(err)
			}
			if file, err := os.ReadFile(path); err != nil || !bytes.Equal(file, b) {
				t.Errorf("the file has other bytes, error %v", err)
			}
			got := streamtest.ReadsAt(t, b, func(r io.ReaderAt, size int64) ([]tensor.Float, error) {
				again := newLogistic()
				again.W.Value.Fill(9)
				err := s.read(r, size, again)
				if err == nil {
					err = train.ReadConfig(r, size, again)
				}
				return values(again), err
			})
			if !slices.Equal(got, values(m)) {
				t.Errorf("%v, want %v", got, values(m))
			}
		})
	}
}

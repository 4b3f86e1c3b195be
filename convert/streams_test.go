package convert_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/internal/streamtest"
)

// A state dict is read from anywhere as from its file, in each of the three forms, and errors of a stream name no path.
func TestStreams(t *testing.T) {
	for _, name := range []string{"small.pt", "small.safetensors", "small.npz"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name)
			want, err := convert.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := streamtest.ReadsAt(t, b, func(r io.ReaderAt, size int64) (convert.State, error) { return convert.Read(r, size) })
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
			written := streamtest.Writes(t, func(w io.Writer) error { return convert.Write(w, want) })
			if again, err := convert.Read(bytes.NewReader(written), int64(len(written))); err != nil || again.String() != want.String() {
				t.Errorf("written and read: %v, error %v", again, err)
			}
		})
	}
	if _, err := convert.Read(strings.NewReader(""), 0); err == nil || err.Error() != "convert: it is empty" {
		t.Errorf("error %v", err)
	}
}

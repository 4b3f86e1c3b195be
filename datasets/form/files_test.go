package form

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// files are a few of a folder, one of them packed, one of them hidden and one too deep.
var files = map[string]string{"a.txt": "0 1\n", "b.csv.gz": "u,v\n", "raw/c.csv": "3\n", "split/x/d.csv": "4\n", ".hidden": "5", "q/r/s/t": "6"}

func packed(name, text string) []byte {
	if !strings.HasSuffix(name, ".gz") {
		return []byte(text)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.Bytes()
}

// folderOf writes files into a folder.
func folderOf(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, packed(name, text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// zipOf returns a zip archive of files.
func zipOf(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(packed(name, text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// mapOf returns files as a file system.
func mapOf(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: packed(name, text)}
	}
	return fsys
}

// TestFilesAreTheSameHoweverTheyLie reads a folder of the disk, one of a file system and an archive of either.
func TestFilesAreTheSameHoweverTheyLie(t *testing.T) {
	dir := folderOf(t, files)
	archive := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(archive, zipOf(t, files), 0o666); err != nil {
		t.Fatal(err)
	}
	all := []string{"a.txt", "b.csv.gz", "raw/c.csv", "split/x/d.csv"}
	inFS := mapOf(files)
	inFS["sub/a.zip"] = &fstest.MapFile{Data: zipOf(t, files)}
	for name, open := range map[string]func() (*Files, string, error){
		"folder":               func() (*Files, string, error) { return Open(dir) },
		"zip":                  func() (*Files, string, error) { return Open(archive) },
		"file system":          func() (*Files, string, error) { return OpenFS(mapOf(files), ".") },
		"zip in a file system": func() (*Files, string, error) { return OpenFS(inFS, "sub/a.zip") },
		"zip that is read":     func() (*Files, string, error) { return openReader(bytes.NewReader(zipOf(t, files)), "a.zip") },
	} {
		f, main, err := open()
		if err != nil || main != "" {
			t.Fatalf("%s: main %q, error %v", name, main, err)
		}
		names := slices.DeleteFunc(slices.Clone(f.Names()), func(n string) bool { return n == "q/r/s/t" && f.archive != nil })
		if !slices.Equal(names, all) {
			t.Errorf("%s: %q, want %q", name, names, all)
		}
		if got := f.Find("b.csv"); got != "b.csv.gz" || f.Find("none.csv") != "" || f.Find("raw/c.csv") != "raw/c.csv" {
			t.Errorf("%s: found %q", name, got)
		}
		for _, n := range all {
			r, err := f.Open(n)
			if err != nil {
				t.Fatal(name, err)
			}
			b, err := io.ReadAll(r)
			if err != nil || string(b) != files[n] || unpack.BudgetOf(r) == nil {
				t.Errorf("%s: %s holds %q, error %v", name, n, b, err)
			}
			r.Close()
		}
		at, size, closeAt, err := f.OpenAt("split/x/d.csv")
		if err != nil {
			t.Fatal(name, err)
		}
		b := make([]byte, 2)
		if _, err := at.ReadAt(b, 0); err != nil || string(b) != "4\n" || size != 2 {
			t.Errorf("%s: %q of %d bytes, error %v", name, b, size, err)
		}
		closeAt()
		if _, err := f.Open("none"); err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("%s: error %v", name, err)
		}
		want := int64(len(packed("b.csv.gz", files["b.csv.gz"]))) + 4 + 2 + 2
		if f.archive != nil {
			want = int64(len(zipOf(t, files)))
		}
		if got := f.Size(); got != want {
			t.Errorf("%s: %d bytes, want %d", name, got, want)
		}
		if at := f.At("raw/c.csv"); !strings.HasSuffix(at, filepath.FromSlash("raw/c.csv")) {
			t.Errorf("%s: at %q", name, at)
		}
		if err := f.Close(); err != nil {
			t.Error(name, err)
		}
	}
}

func TestFileAlone(t *testing.T) {
	dir := folderOf(t, files)
	f, main, err := Open(filepath.Join(dir, "a.txt"))
	if err != nil || main != "a.txt" || f.Path != dir || f.Find("b.csv") != "b.csv.gz" || !slices.Equal(f.Names(), []string{"a.txt", "b.csv.gz"}) {
		t.Errorf("main %q, names %q, error %v", main, f.Names(), err)
	}
	text := strings.Repeat("0 1\n", 1000)
	f, main, err = openReader(bytes.NewReader(packed("x.gz", text)), "x.gz")
	if err != nil || main != "x.gz" {
		t.Fatal(main, err)
	}
	r, err := f.Open(main)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || string(b) != text {
		t.Errorf("%d bytes, error %v", len(b), err)
	}
	if got, want := f.Size(), int64(len(packed("x.gz", text))); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	if _, _, err := Open(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("error %v", err)
	}
	if _, _, err := OpenFS(mapOf(files), "none"); !os.IsNotExist(err) {
		t.Errorf("error %v", err)
	}
}

// TestStreamsAreBounded: what comes from a reader has the budget of a file, which grows as it is read.
func TestStreamsAreBounded(t *testing.T) {
	bomb := bytes.Repeat(packed("x.gz", strings.Repeat("0 1\n", 1<<18)), 64)
	f, main, _ := openReader(bytes.NewReader(bomb), "x.gz")
	r, err := f.Open(main)
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, r)
	if want := unpack.Limit(int64(len(bomb))); n > want || err == nil || !strings.Contains(err.Error(), "which is refused") {
		t.Errorf("%d bytes of %d, error %v", n, want, err)
	}
}

// onlyReads is a file system whose files cannot be read from anywhere in them.
type onlyReads struct{ fs.FS }

func (o onlyReads) Open(name string) (fs.File, error) {
	f, err := o.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return struct{ fs.File }{f}, nil
}

func TestOpenAtWithoutReaderAt(t *testing.T) {
	f, main, err := OpenFS(onlyReads{mapOf(files)}, "raw/c.csv")
	if err != nil {
		t.Fatal(err)
	}
	r, size, _, err := f.OpenAt(main)
	b := make([]byte, size)
	if err == nil {
		_, err = r.ReadAt(b, 0)
	}
	if err != nil || string(b) != "3\n" {
		t.Errorf("%q, error %v", b, err)
	}
}

func ExampleOpenFS() {
	f, main, err := OpenFS(fstest.MapFS{"graphs/a_edges.csv": {}, "graphs/a_nodes.csv.gz": {}}, "graphs/a_edges.csv")
	fmt.Println(main, f.Find("a_nodes.csv"), f.At(main), err)
	// Output: a_edges.csv a_nodes.csv.gz graphs/a_edges.csv <nil>
}

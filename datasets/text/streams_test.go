package text

import (
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/edgewise-ml/edgewise/internal/streamtest"
)

// Each text is read from a stream as from a file, and errors say the line without a path.
func TestReadStreams(t *testing.T) {
	for name, s := range map[string]struct {
		text, bad, says string
		read            func(r io.Reader) (any, error)
	}{
		"lines": {"a\r\nb b\n\nc", "a\n\xff", "line 2, byte 1: ", func(r io.Reader) (any, error) { return ReadLines(r) }},
		"table": {"text,label\nhello,good\nbye,bad\n", "text,label\nhello\n", "line 2", func(r io.Reader) (any, error) { return ReadCSV(r, "text", "label") }},
		"words": {"He PRP B-NP\nran VBD B-VP\n\nI PRP B-NP\n", "He PRP\n", "line 1: ", func(r io.Reader) (any, error) { return ReadTagged(r) }},
		"label": {"a\tx y\r\n\nb\tz\n", "a\tx\nb y\n", "line 2: ", func(r io.Reader) (any, error) { return ReadLabelled(r) }},
		"story": {"1 Ann left.\n2 Who left?\tAnn\t1\n", "1 Ann left.\n3 Bob left.\n", "line 2: ", func(r io.Reader) (any, error) { return ReadQuestions(r) }},
		"trees": {"(3 (2 a) (4 b))\n(1 c)\n", "(3 a)\n(1", "line 2: byte 2: ", func(r io.Reader) (any, error) { return ReadTrees(r) }},
		"pairs": {"a\nb\n", "a\n", "the first text has 1 lines and the second 2: ", func(r io.Reader) (any, error) { return ReadParallel(r, strings.NewReader("x\ny\n")) }},
	} {
		t.Run(name, func(t *testing.T) {
			want := streamtest.Reads(t, []byte(s.text), s.read)
			if got := streamtest.Reads(t, []byte(gz(s.text)), s.read); !reflect.DeepEqual(got, want) {
				t.Errorf("in gzip %v, want %v", got, want)
			}
			if _, err := s.read(strings.NewReader(s.bad)); err == nil || !strings.HasPrefix(err.Error(), s.says) {
				t.Errorf("error %v, want %q", err, s.says)
			}
		})
	}
}

// A dataset is read from a file system as from its folder, and from an archive that lies in it.
func TestReadFileSystems(t *testing.T) {
	for name, s := range map[string]struct {
		files   []string // names and texts
		archive string
		load    func(path string) (any, error)
		read    func(fsys fs.FS) (any, error)
	}{
		"bAbI": {[]string{"qa1_a_train.txt", "1 Ann sat.\n2 Who?\tAnn\t1\n", "qa1_a_test.txt", "1 Bob sat.\n2 Who?\tBob\t1\n"}, "",
			func(path string) (any, error) { a, b, err := LoadBAbI(path, 1); return [2]any{a, b}, err },
			func(fsys fs.FS) (any, error) { a, b, err := ReadBAbI(fsys, 1); return [2]any{a, b}, err }},
		"CoNLL2000": {[]string{"train.txt", "He PRP B-NP\n", "test.txt", "I PRP B-NP\n"}, "conll2000.zip",
			func(path string) (any, error) { a, b, err := LoadCoNLL2000(path); return [2]any{a, b}, err },
			func(fsys fs.FS) (any, error) { a, b, err := ReadCoNLL2000(fsys); return [2]any{a, b}, err }},
		"Multi30k": {[]string{"train.de", "a\n", "train.en", "b\n", "val.de", "a\n", "val.en", "b\n", "test.de", "a\n", "test.en", "b\n"}, "",
			func(path string) (any, error) { a, b, c, err := LoadMulti30k(path); return [3]any{a, b, c}, err },
			func(fsys fs.FS) (any, error) { a, b, c, err := ReadMulti30k(fsys); return [3]any{a, b, c}, err }},
		"names": {[]string{"Czech.txt", "Abl\n", "Irish.txt", "Adam\nAhearn\n"}, "",
			func(path string) (any, error) { return LoadNames(path) }, func(fsys fs.FS) (any, error) { return ReadNames(fsys) }},
		"sorted": {[]string{"x_5.csv", "3,1,2\n", "y_5.csv", "1,2,0\n"}, "",
			func(path string) (any, error) { a, b, err := LoadSorted(path, "5"); return [2]any{a, b}, err },
			func(fsys fs.FS) (any, error) { a, b, err := ReadSorted(fsys, "5"); return [2]any{a, b}, err }},
		"SST": {[]string{"train.txt", "(3 a)\n", "dev.txt", "(2 b)\n", "test.txt", "(1 c)\n"}, "",
			func(path string) (any, error) { a, b, c, err := LoadSST(path); return [3]any{a, b, c}, err },
			func(fsys fs.FS) (any, error) { a, b, c, err := ReadSST(fsys); return [3]any{a, b, c}, err }},
		"TREC": {[]string{"train.txt", "DESC:manner How ?\n", "test.txt", "NUM:date When ?\n"}, "qc.zip",
			func(path string) (any, error) { a, b, err := LoadTREC(path); return [2]any{a, b}, err },
			func(fsys fs.FS) (any, error) { a, b, err := ReadTREC(fsys); return [2]any{a, b}, err }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := put(t, s.files...)
			want, err := s.load(dir)
			if err != nil {
				t.Fatal(err)
			}
			memory := fstest.MapFS{}
			for i := 0; i < len(s.files); i += 2 {
				memory["sub/"+s.files[i]] = &fstest.MapFile{Data: []byte(s.files[i+1])}
			}
			all := map[string]fs.FS{"a folder": os.DirFS(dir), "memory": memory}
			if s.archive != "" {
				all["an archive"] = fstest.MapFS{s.archive: {Data: []byte(zipOf(s.files...))}}
			}
			for from, fsys := range all {
				if got, err := s.read(fsys); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %v, error %v, want %v", from, got, err, want)
				}
			}
			if _, err := s.read(fstest.MapFS{}); err == nil {
				t.Error("no files, and no error")
			}
		})
	}
}

// A tokeniser is written to a stream and read from one.
func TestTokeniserStreams(t *testing.T) {
	words, err := NewWords([]string{"a b", "a c"}, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	b := streamtest.Writes(t, func(w io.Writer) error { return Write(w, words) })
	if got := streamtest.Reads(t, b, Read); !reflect.DeepEqual(got, Tokeniser(words)) {
		t.Errorf("%v, want %v", got, words)
	}
	if err := Write(io.Discard, nil); err == nil {
		t.Error("nothing is written as a tokeniser")
	}
}

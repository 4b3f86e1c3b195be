package text

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// document is the text of a file, and what may be kept of it.
type document struct {
	path   string
	text   string
	budget *unpack.Budget
}

// openFile opens the file at path, which may be in gzip or zstd.
func openFile(path string) (f *unpack.File, at string, err error) {
	if err := regular.File(path); err != nil {
		return nil, path, err
	}
	f, err = unpack.Open(path)
	return f, path, err
}

// openStream opens what r reads, which may be in gzip or zstd and has no path.
func openStream(r io.Reader) (f *unpack.File, at string, err error) {
	f, err = unpack.Stream(r)
	return f, "", err
}

// in puts the path of a file before an error about it; a stream has none.
func in(path string, err error) error {
	if path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// documentOf reads what a file holds, and closes it.
func documentOf(f *unpack.File, name string, err error) (*document, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b strings.Builder
	n, err := io.Copy(&b, f)
	if err == nil {
		err = f.Budget.Keep(int(n))
	}
	if err != nil {
		return nil, in(name, err)
	}
	return &document{name, strings.TrimPrefix(b.String(), "\ufeff"), f.Budget}, nil
}

// lines returns the lines of a text in UTF-8, without what ends them: a line feed, and
// perhaps a carriage return before it.
func (d *document) lines() ([]string, error) {
	n := strings.Count(d.text, "\n")
	if err := d.budget.Keep(16 * (n + 1)); err != nil {
		return nil, in(d.path, err)
	}
	lines := make([]string, 0, n+1)
	for rest := d.text; rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		lines, rest = append(lines, strings.TrimSuffix(line, "\r")), after
	}
	if err := checkLines(lines); err != nil {
		return nil, in(d.path, err)
	}
	return lines, nil
}

// latin makes the bytes that are no UTF-8 the characters that they are in ISO 8859-1.
func (d *document) latin() {
	if utf8.ValidString(d.text) {
		return
	}
	var b strings.Builder
	for i, r := range d.text {
		if r == utf8.RuneError && width(d.text[i:], r) == 1 {
			r = rune(d.text[i])
		}
		b.WriteRune(r)
	}
	d.text = b.String()
}

// keep takes n bytes for what is kept of line number i, which is counted from 0.
func (d *document) keep(n, i int) error {
	if err := d.budget.Keep(n); err != nil {
		return d.wrong(i, "%w", err)
	}
	return nil
}

// wrong is an error about line number i, which is counted from 0.
func (d *document) wrong(i int, format string, args ...any) error {
	return in(d.path, fmt.Errorf("line %d: %w", i+1, fmt.Errorf(format, args...)))
}

// bundle is the files of a dataset: a folder, or an archive.
type bundle struct {
	*unpack.Folder
	path string
}

// openBundle opens a folder or an archive, or the archive of that name which is in the
// folder.
func openBundle(name, archive string) (*bundle, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() && archive != "" {
		if packed := filepath.Join(name, archive); regular.File(packed) == nil {
			name = packed
		}
	}
	if err := regular.FileOrFolder(name); err != nil {
		return nil, err
	}
	f, err := unpack.OpenFolder(name)
	if err != nil {
		return nil, err
	}
	return &bundle{f, name}, nil
}

// openFS opens the folder that a file system is, or the archive of that name which is in it.
func openFS(fsys fs.FS, archive string) (*bundle, error) {
	name := "."
	if info, err := fs.Stat(fsys, archive); err == nil && info.Mode().IsRegular() {
		name = archive
	}
	f, err := unpack.OpenFS(fsys, name)
	return &bundle{f, name}, err
}

// names returns the files that a pattern matches, the folder that they are in left out;
// those in a folder of that name come first.
func (b *bundle) names(pattern, folder string) []string {
	var names []string
	for _, name := range b.All("") {
		if ok, err := path.Match(pattern, unpack.Plain(path.Base(name))); err == nil && ok {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, c string) int { return rank(a, folder) - rank(c, folder) })
	return names
}

// rank is 0 of a file in a folder of that name, else 1.
func rank(name, folder string) int {
	if path.Base(path.Dir(name)) == folder {
		return 0
	}
	return 1
}

// read reads the first file that one of the patterns matches.
func (b *bundle) read(folder string, patterns ...string) (*document, error) {
	for _, pattern := range patterns {
		if names := b.names(pattern, folder); len(names) > 0 {
			return b.document(names[0])
		}
	}
	return nil, fmt.Errorf("%s: there is no file %s in it: name the folder or the archive that holds it: %w", b.path, strings.Join(patterns, " or "), fs.ErrNotExist)
}

// document reads a file of the bundle.
func (b *bundle) document(name string) (*document, error) {
	f, err := b.Open(name)
	return documentOf(f, filepath.Join(b.path, filepath.FromSlash(name)), err)
}

// lines reads the lines of a file that one of the patterns matches.
func (b *bundle) lines(patterns ...string) (*document, []string, error) {
	return linesOf(b.read("", patterns...))
}

// LoadLines returns the lines of the text at path.
func LoadLines(path string) ([]string, error) {
	_, lines, err := linesOf(documentOf(openFile(path)))
	return lines, err
}

// ReadLines returns the lines of a text in UTF-8, perhaps in gzip or zstd. A line ends
// with a line feed, perhaps with a carriage return before it; the last need not. A
// byte-order mark is left out, and empty lines are kept.
func ReadLines(r io.Reader) ([]string, error) {
	_, lines, err := linesOf(documentOf(openStream(r)))
	return lines, err
}

// linesOf returns a text with its lines.
func linesOf(d *document, err error) (*document, []string, error) {
	if err != nil {
		return nil, nil, err
	}
	lines, err := d.lines()
	return d, lines, err
}

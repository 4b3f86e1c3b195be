package form

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Files is the files of one folder or archive, or a single file and those beside it, however they are stored.
type Files struct {
	Path string // of the folder or archive, for errors

	fsys     fs.FS          // nil: the disk's
	dir      string         // where the files are, in fsys or on the disk
	archive  *unpack.Folder // nil: they are in a folder
	one      io.Reader      // of a single file that is read as it comes
	whole    bool           // a folder or archive was named, and not one of its files
	names    []string       // nil: not listed yet
	opened   map[string]func() int64
	size     int64        // of the archive
	begun    *unpack.File // the file that was looked into last, until it is opened
	begunAt  string       // its name
	closeAll func() error
}

// How deep and how many files of a folder are listed.
const (
	depthMost = 3
	filesMost = 1 << 16
)

// Open opens what is at path: a folder, an archive, or a file, whose name in its folder is main. It must be
// closed.
func Open(path string) (f *Files, main string, err error) {
	if err := regular.FileOrFolder(path); err != nil {
		return nil, "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", err
	}
	switch f = (&Files{Path: path, dir: path}); {
	case info.IsDir():
		f.whole = true
		return f, "", f.list()
	case !isArchive(path):
		f.Path, main = filepath.Dir(path), filepath.Base(path)
		f.dir = f.Path
		return f, main, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	if err := f.unpack(file, info.Size()); err != nil {
		file.Close()
		return nil, "", err
	}
	f.closeAll = file.Close
	return f, "", nil
}

// OpenFS is [Open] of a name in fsys; "." is all of it.
func OpenFS(fsys fs.FS, name string) (f *Files, main string, err error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, "", err
	}
	switch f = (&Files{Path: name, fsys: fsys, dir: name}); {
	case info.IsDir():
		f.whole = true
		return f, "", f.list()
	case !isArchive(name):
		f.Path, main = path.Dir(name), path.Base(name)
		f.dir = f.Path
		return f, main, nil
	}
	file, err := fsys.Open(name)
	if err != nil {
		return nil, "", err
	}
	r, size, err := unpack.ReaderAt(file)
	if err == nil {
		err = f.unpack(r, size)
	}
	if err != nil {
		file.Close()
		return nil, "", err
	}
	f.closeAll = file.Close
	return f, "", nil
}

// openReader is Files of one file, which is what r reads.
func openReader(r io.Reader, name string) (f *Files, main string, err error) {
	if isArchive(name) {
		b, err := io.ReadAll(r)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", name, err)
		}
		f := &Files{Path: name}
		return f, "", f.unpack(bytes.NewReader(b), int64(len(b)))
	}
	return &Files{one: r, names: []string{name}}, name, nil
}

// unpack makes f an archive's.
func (f *Files) unpack(r io.ReaderAt, size int64) (err error) {
	if f.archive, err = unpack.OpenArchive(f.Path, r, size); err != nil {
		return err
	}
	f.whole, f.size, f.names = true, size, f.archive.All("")
	return nil
}

// isArchive reports whether a file is called like an archive of files.
func isArchive(path string) bool {
	return slices.Contains([]string{".zip", ".tar", ".tgz"}, filepath.Ext(unpack.Plain(path)))
}

// Close closes the files.
func (f *Files) Close() error {
	if f.begun != nil {
		f.begun.Close()
	}
	if f.closeAll == nil {
		return nil
	}
	return f.closeAll()
}

// folder returns the file system of a folder.
func (f *Files) folder() fs.FS {
	if f.fsys != nil {
		return f.fsys
	}
	return os.DirFS(f.dir)
}

// within returns the name that fs knows a file by.
func (f *Files) within(name string) string {
	if f.fsys != nil {
		return path.Join(f.dir, name)
	}
	return name
}

// list lists the files of a folder and, if all of it was named, of the folders in it: level by level, those at the top first, and no level
// that has too many.
func (f *Files) list() error {
	f.names = []string{}
	for level, dirs := 0, []string{"."}; level == 0 || f.whole && level < depthMost; level++ {
		var names, inner []string
		for _, dir := range dirs {
			entries, err := fs.ReadDir(f.folder(), f.within(dir))
			if err != nil && level == 0 {
				return fmt.Errorf("%s: %w", f.Path, underlying(err))
			}
			for _, e := range entries {
				switch name := path.Join(dir, e.Name()); {
				case strings.HasPrefix(e.Name(), "."):
				case e.IsDir():
					inner = append(inner, name)
				case e.Type().IsRegular() || f.isFile(name):
					names = append(names, name)
				}
			}
		}
		if len(f.names)+len(names) > filesMost {
			break
		}
		f.names, dirs = append(f.names, names...), inner
	}
	slices.Sort(f.names)
	return nil
}

// underlying returns what is wrong with a path that an error names.
func underlying(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// isFile reports whether there is an ordinary file of that name, or one that a link leads to.
func (f *Files) isFile(name string) bool {
	info, err := fs.Stat(f.folder(), f.within(name))
	return err == nil && info.Mode().IsRegular()
}

// Names returns the files as they lie there, ascending, with slashes: all of an archive, those three folders deep of a
// folder, and those that lie beside a file. Hidden files are none of them.
func (f *Files) Names() []string {
	if f.names == nil {
		f.list() // a folder that cannot be listed has no files beside the one that is opened
	}
	return f.names
}

// Find returns the name of a file, which may have the ending of gzip or zstd after it; "" if it is not there.
func (f *Files) Find(plain string) string {
	for _, packed := range []string{"", ".gz", ".zst"} {
		name := plain + packed
		if f.archive == nil && f.one == nil {
			if f.isFile(name) {
				return name
			}
		} else if slices.Contains(f.names, name) {
			return name
		}
	}
	return ""
}

// text is open of a file that may have the ending of gzip or zstd after its name.
func (f *Files) text(plain string) (*unpack.File, error) {
	if name := f.Find(plain); name != "" {
		return f.open(name)
	}
	return nil, fmt.Errorf("%s: there is no %q in it", f.Path, plain)
}

// above returns the files among which one lies that is said in relation to the folder of main, such as ../splits/a.npz, and its name
// there; "" if it is not there.
func (f *Files) above(main, relative string) (*Files, string) {
	name := path.Join(path.Dir(main), relative)
	if !strings.HasPrefix(name, "../") {
		return f, f.Find(name)
	}
	if f.archive != nil || f.one != nil {
		return f, ""
	}
	dir, base := path.Split(name)
	g := &Files{Path: filepath.Join(f.Path, filepath.FromSlash(dir)), fsys: f.fsys}
	if g.dir = g.Path; f.fsys != nil {
		g.dir = path.Join(f.dir, dir)
		g.Path = g.dir
	}
	return g, g.Find(base)
}

// Open opens a file of which gzip and zstd are taken off, and which fails where it expands to more than what people share does.
func (f *Files) Open(name string) (io.ReadCloser, error) {
	r, err := f.open(name)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// open is Open, with the budget that says what may be made of the file.
func (f *Files) open(name string) (r *unpack.File, err error) {
	switch {
	case f.begun != nil && f.begunAt == name:
		r, f.begun = f.begun, nil
		return r, nil
	case f.archive != nil:
		return f.archive.Open(name)
	case f.one != nil:
		if r, err = unpack.Stream(f.one); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	default:
		file, err := f.file(name)
		if err != nil {
			return nil, err
		}
		if r, err = unpack.OpenFile(file, f.At(name)); err != nil {
			return nil, err
		}
	}
	budget := r.Budget
	f.note(name, func() int64 { return min(budget.Packed(), 1<<48) })
	return r, nil
}

// peeked is how much of a text is looked at to tell a table from a list.
const peeked = 1 << 16

// namesColumns reports whether a text begins with a line that names columns, and so is a table. It is opened for that, and
// the next Open of it goes on with it: what comes from a reader is read once.
func (f *Files) namesColumns(name string) (bool, error) {
	r, err := f.open(name)
	if err != nil {
		return false, err
	}
	b := bufio.NewReaderSize(r.Reader, peeked)
	start, _ := b.Peek(peeked) // an error comes again as it is read
	r.Reader, f.begun, f.begunAt = b, r, name
	text := make([]byte, peeked)
	n, _ := io.ReadFull(table.Text(bytes.NewReader(start)), text)
	return table.Named(text[:n]), nil
}

// file opens a file of a folder as it is.
func (f *Files) file(name string) (fs.File, error) {
	if f.fsys != nil {
		return f.fsys.Open(f.within(name))
	}
	at := f.At(name)
	if err := regular.File(at); err != nil {
		return nil, err
	}
	return os.Open(at)
}

// OpenAt opens a file as it is, to be read from anywhere in it.
func (f *Files) OpenAt(name string) (r io.ReaderAt, size int64, close func() error, err error) {
	nothing := func() error { return nil }
	if f.archive != nil || f.one != nil {
		var from io.Reader = f.one
		if f.archive != nil {
			member, err := f.archive.Open(name)
			if err != nil {
				return nil, 0, nil, err
			}
			defer member.Close()
			from = member
		}
		b, err := io.ReadAll(from)
		if err != nil {
			return nil, 0, nil, fmt.Errorf("%s: %w", f.At(name), err)
		}
		f.note(name, func() int64 { return int64(len(b)) })
		return bytes.NewReader(b), int64(len(b)), nothing, nil
	}
	file, err := f.file(name)
	if err != nil {
		return nil, 0, nil, err
	}
	if r, size, err = unpack.ReaderAt(file); err != nil {
		file.Close()
		return nil, 0, nil, fmt.Errorf("%s: %w", f.At(name), underlying(err))
	}
	f.note(name, func() int64 { return size })
	return r, size, file.Close, nil
}

// note keeps the size of a file that is opened.
func (f *Files) note(name string, size func() int64) {
	if f.opened == nil {
		f.opened = map[string]func() int64{}
	}
	f.opened[name] = size
}

// At returns the path of a file, with the member of an archive after it, for errors.
func (f *Files) At(name string) string {
	switch {
	case f.one != nil:
		return name
	case f.fsys != nil && f.archive == nil:
		return path.Join(f.dir, name)
	}
	return filepath.Join(f.Path, filepath.FromSlash(name))
}

// Size returns the bytes on the disk of what has been opened, or of the archive.
func (f *Files) Size() int64 {
	n := f.size
	if f.archive == nil {
		for _, size := range f.opened {
			n += size()
		}
	}
	return n
}

// stem returns a file's name without its folder and without the endings of the forms.
func stem(name string) string {
	name = unpack.Plain(path.Base(filepath.ToSlash(name)))
	for _, e := range []string{".txt", ".csv", ".tsv", ".edges", ".edgelist", ".mtx", ".npz", ".content", ".json", ".jsonl", ".ndjson", ".mat", ".graphml", ".dot", ".gv", ".parquet", ".zip", ".tar", ".tgz"} {
		name = strings.TrimSuffix(name, e)
	}
	return name
}

// folderName returns what the folder of a file is called: of one at the top of what was opened, what that is called.
func (f *Files) folderName(main string) string {
	if dir := path.Dir(main); dir != "." {
		return path.Base(dir)
	}
	if f.fsys == nil {
		if whole, err := filepath.Abs(f.Path); err == nil {
			return stem(whole)
		}
	}
	return stem(f.Path)
}

// numberFiles are the files of a dataset, of numbers without names, whose own names begin
// alike.
type numberFiles struct {
	files  *Files
	prefix string // of their names
}

// has reports whether there is a file of that ending.
func (t *numberFiles) has(ending string) bool { return t.files.Find(t.prefix+ending) != "" }

// at returns the path of a file, for errors.
func (t *numberFiles) at(ending string) string { return t.files.At(t.prefix + ending) }

// wrong puts the dataset and the file before an error about all of that.
func (t *numberFiles) wrong(ending, format string, args ...any) error {
	return fmt.Errorf("%s: %s%s: %w", t.files.Path, t.prefix, ending, fmt.Errorf(format, args...))
}

// lines reads a file line by line: f is called with each one's fields, which stay as they
// are until the next.
func (t *numberFiles) lines(ending string, f func(fields [][]byte, budget *unpack.Budget) error) error {
	name := t.files.Find(t.prefix + ending)
	if name == "" {
		return fmt.Errorf("%s: there is no %q in it", t.files.Path, t.prefix+ending)
	}
	r, err := t.files.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := eachRow(r, func(fields [][]byte) error { return f(fields, r.Budget) }); err != nil {
		return fmt.Errorf("%s: %w", t.at(ending), err)
	}
	return nil
}

// numbers reads a file of as many finite numbers in each line. With gaps a number may be
// missing, or nan, and is NaN.
func (t *numberFiles) numbers(ending string, gaps bool) (*wide, error) {
	w := &wide{gaps: gaps}
	return w, t.lines(ending, func(fields [][]byte, budget *unpack.Budget) error {
		if w.rows > 0 && len(fields) != w.width {
			return fmt.Errorf("%d numbers, want %d as in the first line", len(fields), w.width)
		}
		for _, field := range fields {
			f, err := strconv.ParseFloat(string(field), 64)
			v := tensor.Float(f)
			switch {
			case gaps && (len(field) == 0 || v != v):
				f = math.NaN()
			case err != nil || v-v != 0:
				return fmt.Errorf("%.40q is no finite number", field)
			}
			if err := w.add(f, "the line", -1); err != nil {
				return err
			}
		}
		if err := w.end("the line", -1); err != nil {
			return err
		}
		return budget.Keep(w.takes())
	})
}

// ids reads numbers of rows.
func (t *numberFiles) ids(name string) (ids []int32, err error) {
	err = t.lines(name, func(fields [][]byte, budget *unpack.Budget) error {
		if len(fields) != 1 {
			return fmt.Errorf("%d fields, want one number", len(fields))
		}
		v, err := wholeNumber(fields[0])
		if err != nil {
			return err
		}
		ids = append(ids, v)
		return budget.Keep(16)
	})
	return ids, err
}

// rowMost is the length of the longest line of numbers that is read.
const rowMost = 1 << 20

// eachRow calls f with the fields of each line that is not empty. Between fields are
// commas or blanks.
func eachRow(r io.Reader, f func(fields [][]byte) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 1<<16), rowMost)
	var fields [][]byte
	line := 1
	for ; s.Scan(); line++ {
		text := s.Bytes()
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if fields = cutFields(fields[:0], text); len(fields) == 0 {
			continue
		}
		if err := f(fields); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	if err := s.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("it is longer than %d bytes", rowMost)
		}
		return fmt.Errorf("line %d: %w", line, err)
	}
	return nil
}

// cutFields appends the fields of a line. An empty one between commas is kept, for errors.
func cutFields(fields [][]byte, line []byte) [][]byte {
	at, end := 0, len(line)
	blank := func(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
	for end > 0 && blank(line[end-1]) {
		end--
	}
	for at < end {
		for at < end && blank(line[at]) {
			at++
		}
		start := at
		for at < end && line[at] != ',' && !blank(line[at]) {
			at++
		}
		fields = append(fields, line[start:at])
		for at < end && blank(line[at]) {
			at++
		}
		if at < end && line[at] == ',' {
			if at++; at == end {
				fields = append(fields, nil)
			}
		}
	}
	return fields
}

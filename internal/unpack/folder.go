package unpack

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zip"
)

// memberMost is the number of files beyond which a folder or an archive is not
// read, and nameMost the length of a name.
const (
	memberMost = 1 << 16
	nameMost   = 1 << 12
)

// Folder is a folder, or an archive read as one: files by name, with forward
// slashes.
type Folder struct {
	path  string
	names []string
	open  func(name string) (*File, error)
	close func() error
}

// OpenFolder opens a folder, a zip archive or a tar archive (as it is, or in
// gzip or zstd), which must be closed.
func OpenFolder(path string) (*Folder, error) {
	f, err := openFolder(path)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// check sorts the names and reports the first that is refused.
func (f *Folder) check() error {
	if len(f.names) > memberMost {
		return fmt.Errorf("%d files are too many; the limit is %d", len(f.names), memberMost)
	}
	slices.Sort(f.names)
	for i, name := range f.names {
		switch {
		case len(name) > nameMost:
			return fmt.Errorf("the name %.80q… of a member has %d bytes; the limit is %d", name, len(name), nameMost)
		case !filepath.IsLocal(name) || strings.Contains(name, `\`):
			return fmt.Errorf("the member %.80q leads out of the archive, which is refused", name)
		case i > 0 && name == f.names[i-1]:
			return fmt.Errorf("there are two members %.80q, of which one would be lost: pack it again", name)
		}
	}
	return nil
}

func openFolder(path string) (*Folder, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return inFolder(path, os.DirFS(path))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return inFile(path, file)
}

// OpenFS is [OpenFolder] of a name in fsys; "." is all of it.
func OpenFS(fsys fs.FS, name string) (*Folder, error) {
	f, err := openFS(fsys, name)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

func openFS(fsys fs.FS, name string) (*Folder, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		if fsys, err = fs.Sub(fsys, name); err != nil {
			return nil, err
		}
		return inFolder(name, fsys)
	}
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	return inFile(name, file)
}

// inFile opens the archive that a file is, and takes it over.
func inFile(path string, file fs.File) (*Folder, error) {
	r, size, err := ReaderAt(file)
	var f *Folder
	if err == nil {
		f, err = inArchive(path, r, size)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	f.close = file.Close
	return f, nil
}

// ReaderAt returns what reads from anywhere in a file, and its size: the file if it can, or else what it holds.
func ReaderAt(file fs.File) (io.ReaderAt, int64, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	if r, ok := file.(io.ReaderAt); ok {
		return r, info.Size(), nil
	}
	b, err := io.ReadAll(io.LimitReader(file, math.MaxInt32))
	return bytes.NewReader(b), int64(len(b)), err
}

// OpenArchive opens the zip or tar archive that r holds, size bytes. Errors call it path. r must stay open as long as it is
// read.
func OpenArchive(path string, r io.ReaderAt, size int64) (*Folder, error) {
	f, err := inArchive(path, r, size)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func inArchive(path string, r io.ReaderAt, size int64) (*Folder, error) {
	start := make([]byte, len(zipMagic))
	n, err := r.ReadAt(start, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if bytes.Equal(start[:n], zipMagic) {
		return inZip(path, r, size)
	}
	return inTar(path, r, size)
}

// Close closes the archive.
func (f *Folder) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

// Find returns the name of the file whose [Plain] name ends in suffix: the only one,
// or the first in order; "" if there is none.
func (f *Folder) Find(suffix string) string {
	if all := f.All(suffix); len(all) > 0 {
		return all[0]
	}
	return ""
}

// All returns the names of the files whose [Plain] names end in suffix, in order.
func (f *Folder) All(suffix string) []string {
	var all []string
	for _, name := range f.names {
		if strings.HasSuffix(Plain(name), suffix) && !strings.HasPrefix(path.Base(name), ".") {
			all = append(all, name)
		}
	}
	return all
}

// Open opens a file of the folder, or the first of which it is the [Plain] name.
// Gzip and zstd are expanded.
func (f *Folder) Open(name string) (*File, error) {
	at := slices.Index(f.names, name)
	if at < 0 {
		at = slices.IndexFunc(f.names, func(packed string) bool { return Plain(packed) == name })
	}
	if at < 0 {
		return nil, fmt.Errorf("%s: there is no %q in it", f.path, name)
	}
	name = f.names[at]
	r, err := f.open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", f.path, name, err)
	}
	return r, nil
}

// inFolder is the files of a folder and those of the folders right in it.
func inFolder(path string, fsys fs.FS) (*Folder, error) {
	f := &Folder{path: path, open: func(name string) (*File, error) {
		file, err := fsys.Open(name)
		if err != nil {
			return nil, err
		}
		return OpenFile(file, filepath.Join(path, filepath.FromSlash(name)))
	}}
	for _, pattern := range []string{"*", "*/*"} {
		names, err := fs.Glob(fsys, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if info, err := fs.Stat(fsys, name); err == nil && info.Mode().IsRegular() {
				f.names = append(f.names, name)
			}
		}
	}
	return f, nil
}

// inZip opens a zip archive, whose members share a budget.
func inZip(path string, r io.ReaderAt, size int64) (*Folder, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, Damaged("zip", err))
	}
	budget, members := NewBudget(size), map[string]*zip.File{}
	f := &Folder{path: path, open: func(name string) (*File, error) {
		return expand(members[name], budget)
	}}
	for _, m := range z.File {
		if !strings.HasSuffix(m.Name, "/") {
			members[m.Name] = m
			f.names = append(f.names, m.Name)
		} else if !filepath.IsLocal(m.Name) {
			f.names = append(f.names, m.Name) // for the error
		}
	}
	return f, nil
}

// expand opens a member of a zip archive. What the archive says of its size is only
// believed if that is too much: the budget is taken by what is read.
func expand(m *zip.File, budget *Budget) (*File, error) {
	if m.UncompressedSize64 > uint64(budget.text.left) {
		return nil, fmt.Errorf("it expands from %d to %d bytes, which is refused: unpack it first, if you trust it", m.CompressedSize64, m.UncompressedSize64)
	}
	r, err := m.Open()
	if err != nil {
		return nil, Damaged("zip", err)
	}
	return NewFile(&metered{r, "zip", budget}, budget, r.Close)
}

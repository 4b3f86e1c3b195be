package unpack

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zip"
)

// memberMost is the number of files beyond which a folder or an archive is not
// read.
const memberMost = 1 << 16

// Folder is a folder, or an archive read as one: files by name, with forward
// slashes.
type Folder struct {
	path  string
	names []string
	open  func(name string) (io.ReadCloser, error)
	close func() error
}

// OpenFolder opens a folder, a zip archive or a tar archive (as it is, or in
// gzip or zstd), which must be closed.
func OpenFolder(path string) (*Folder, error) {
	f, err := openFolder(path)
	if err != nil {
		return nil, err
	}
	for _, name := range f.names {
		if !filepath.IsLocal(name) || strings.Contains(name, `\`) {
			f.Close()
			return nil, fmt.Errorf("%s: the member %.80q leads out of the archive, which is refused", path, name)
		}
	}
	if len(f.names) > memberMost {
		f.Close()
		return nil, fmt.Errorf("%s: %d files are too many; the limit is %d", path, len(f.names), memberMost)
	}
	slices.Sort(f.names)
	return f, nil
}

func openFolder(path string) (*Folder, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return onDisk(path)
	}
	start := make([]byte, len(zipMagic))
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	n, err := io.ReadFull(file, start)
	file.Close()
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return nil, err
	}
	if bytes.Equal(start[:n], zipMagic) {
		return inZip(path)
	}
	return inTar(path)
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
func (f *Folder) Open(name string) (io.ReadCloser, error) {
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

// onDisk is a folder of the disk and the folders right in it.
func onDisk(dir string) (*Folder, error) {
	f := &Folder{path: dir, open: func(name string) (io.ReadCloser, error) {
		return Open(filepath.Join(dir, filepath.FromSlash(name)))
	}}
	for _, pattern := range []string{"*", "*/*"} {
		paths, err := filepath.Glob(filepath.Join(escape(dir), filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
				name, err := filepath.Rel(dir, p)
				if err != nil {
					return nil, err
				}
				f.names = append(f.names, filepath.ToSlash(name))
			}
		}
	}
	return f, nil
}

// escape returns a pattern that only dir matches.
func escape(dir string) string {
	if os.PathSeparator == '\\' {
		return dir // where a backslash escapes nothing
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func inZip(path string) (*Folder, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s: no zip archive: %w", path, err)
	}
	members := map[string]*zip.File{}
	f := &Folder{path: path, close: z.Close, open: func(name string) (io.ReadCloser, error) {
		return expand(members[name])
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

// expand opens a member of a zip archive.
func expand(m *zip.File) (io.ReadCloser, error) {
	limit := Limit(int64(min(m.CompressedSize64, 1<<48)))
	if m.UncompressedSize64 > uint64(limit) {
		return nil, fmt.Errorf("it expands from %d to %d bytes, which is refused", m.CompressedSize64, m.UncompressedSize64)
	}
	r, err := m.Open()
	if err != nil {
		return nil, err
	}
	text, err := NewReader(&bounded{r: r, left: limit, limit: limit}, limit)
	if err != nil {
		r.Close()
		return nil, err
	}
	return &file{text, r}, nil
}

// inTar lists a tar archive. It is read again from its start for each file that
// is opened: a tar has no table of contents.
func inTar(path string) (*Folder, error) {
	f := &Folder{path: path}
	f.open = func(name string) (io.ReadCloser, error) {
		var found io.ReadCloser
		err := eachMember(path, func(h *tar.Header, r io.Reader) (bool, error) {
			if h.Name != name {
				return true, nil
			}
			b, err := io.ReadAll(r) // bounded by the archive's own limit
			if err == nil {
				found, err = NewReader(bytes.NewReader(b), Limit(int64(len(b))))
			}
			return false, err
		})
		return found, err
	}
	err := eachMember(path, func(h *tar.Header, _ io.Reader) (bool, error) {
		switch h.Typeflag {
		case tar.TypeReg:
			f.names = append(f.names, h.Name)
		case tar.TypeDir, tar.TypeXGlobalHeader:
		default:
			return false, fmt.Errorf("the member %.80q is a link or a device, which is refused", h.Name)
		}
		return len(f.names) <= memberMost, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: neither a folder nor a zip or tar archive that can be read: %w", path, err)
	}
	return f, nil
}

// eachMember calls visit for each member of a tar archive until it says no.
func eachMember(path string, visit func(*tar.Header, io.Reader) (more bool, err error)) error {
	r, err := Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if err == io.EOF { // the checksum of what is compressed comes after the end of the archive
			_, err = io.Copy(io.Discard, r)
			return err
		}
		if err != nil {
			return err
		}
		if more, err := visit(h, t); err != nil || !more {
			return err
		}
	}
}

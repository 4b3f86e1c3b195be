package npy

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zip"
)

// arrayMost is the size beyond which an array of an archive is not read.
const arrayMost = 16 << 30

// expandMost returns how many bytes an array may expand to: what shrinks to less
// than a sixtieth is either small or made to fill a memory.
func expandMost(packed uint64) uint64 { return min(1<<28+64*min(packed, arrayMost), arrayMost) }

// Archive is a .npz file: arrays by name.
type Archive struct {
	path    string
	zip     *zip.ReadCloser
	members map[string]*zip.File
}

// OpenArchive opens the file at path, which must be closed.
func OpenArchive(path string) (*Archive, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("npy: %s: no npz archive: %w", path, err)
	}
	a := &Archive{path: path, zip: z, members: map[string]*zip.File{}}
	for _, f := range z.File {
		if name, ok := strings.CutSuffix(f.Name, ".npy"); ok {
			a.members[name] = f
		}
	}
	return a, nil
}

// Close closes the file.
func (a *Archive) Close() error { return a.zip.Close() }

// Names returns the names of the arrays, in order.
func (a *Archive) Names() []string {
	var names []string
	for name := range a.members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Contents says which arrays there are.
func (a *Archive) Contents() string {
	if len(a.members) == 0 {
		return "no arrays"
	}
	return strings.Join(a.Names(), ", ")
}

// Has reports whether there is an array of that name.
func (a *Archive) Has(name string) bool { return a.members[name] != nil }

// Read returns the array of that name.
func (a *Archive) Read(name string) (*Array, error) {
	f := a.members[name]
	if f == nil {
		return nil, fmt.Errorf("npy: %s has no array %q; it has %s", a.path, name, a.Contents())
	}
	limit := expandMost(f.CompressedSize64)
	if f.UncompressedSize64 > limit {
		return nil, fmt.Errorf("npy: %s: array %q expands from %d to %d bytes, which is refused", a.path, name, f.CompressedSize64, f.UncompressedSize64)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("npy: %s: array %q: %w", a.path, name, err)
	}
	defer r.Close()
	// What a member holds is at most what its header in the archive says.
	array, err := read(r, int64(f.UncompressedSize64))
	if err == nil { // the checksum is compared at the end of the member
		_, err = io.Copy(io.Discard, r)
	}
	if errors.Is(err, zip.ErrChecksum) {
		err = fmt.Errorf("its checksum is not that of the archive, which is damaged: copy or download it again (%w)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("npy: %s: array %q: %w", a.path, name, err)
	}
	return array, nil
}

package npy

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/klauspost/compress/zip"
)

// membersMost is the number of files beyond which an archive is not read.
const membersMost = 1 << 16

// Archive is a .npz file: arrays by name.
type Archive struct {
	path    string
	members map[string]*zip.File
	room    *room
}

// NewArchive reads the archive that r holds, size bytes; errors name path, unless it is empty. r must stay open as long as it is read.
func NewArchive(path string, r io.ReaderAt, size int64) (*Archive, error) {
	a := &Archive{path: path, members: map[string]*zip.File{}, room: newRoom(size)}
	z, err := zip.NewReader(r, size)
	if err != nil {
		if errors.Is(err, zip.ErrFormat) {
			err = errors.New("it has no end, where the list of its arrays stands: it was cut, or is another kind of file: download or copy it again")
		}
		return nil, a.wrong("no npz archive: %w", err)
	}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		switch {
		case len(z.File) > membersMost:
			err = a.wrong("%d arrays are too many; the limit is %d", len(z.File), membersMost)
		case ok && a.Has(name):
			err = a.wrong("there are two arrays %.80q, of which one would be lost: save it again", name)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			a.members[name] = f
		}
	}
	return a, nil
}

// Size returns the bytes of the file.
func (a *Archive) Size() int64 { return a.room.packed }

// wrong is an error about the archive.
func (a *Archive) wrong(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if a.path != "" {
		err = fmt.Errorf("%s: %w", a.path, err)
	}
	return fmt.Errorf("npy: %w", err)
}

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
		return nil, fmt.Errorf("npy: %s has no array %q; it has %s", cmp.Or(a.path, "the archive"), name, a.Contents())
	}
	array, err := a.read(f)
	if err != nil {
		return nil, a.wrong("array %q: %w", name, damaged(err))
	}
	return array, nil
}

// damaged says of an error of a checksum what to do.
func damaged(err error) error {
	if errors.Is(err, zip.ErrChecksum) {
		return errors.New("its checksum is not that of the archive, which is damaged: copy or download it again")
	}
	return err
}

// read reads a member. What it holds is at most what its header in the archive
// says, or else package zip ends it by an error.
func (a *Archive) read(f *zip.File) (*Array, error) {
	if f.UncompressedSize64 > math.MaxInt64-1 || a.room.left < int64(f.UncompressedSize64) {
		return nil, fmt.Errorf("it expands from %d to %d bytes, which is refused: %w", f.CompressedSize64, f.UncompressedSize64, a.room.full())
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	array, err := read(r, int64(f.UncompressedSize64), a.room, f.Open)
	if err == nil && array.again == nil { // the checksum is compared at the end of the member
		_, err = io.Copy(io.Discard, r)
	}
	return array, err
}

// What the arrays of an archive may take together, in bytes: a fixed amount, and so
// much for each byte of the file. Features that mostly are zeros, as dense arrays of
// float32, shrink to a two-hundredth.
const (
	roomLeast = 48 << 20
	roomPer   = 256
)

// What an element takes when it is read, in bytes, beside its own.
const (
	numberTakes = 4  // it becomes a float or an integer
	stringTakes = 24 // and its text
	pickleTakes = 16 // for each byte of a pickle
)

// room is what is left for arrays. A nil room has no end.
type room struct{ packed, of, left int64 }

// newRoom returns the room of an archive of that many bytes.
func newRoom(packed int64) *room {
	n := roomLeast + roomPer*min(packed, 1<<48)
	return &room{packed, n, n}
}

// take takes n times each bytes.
func (r *room) take(n, each int) error {
	if r == nil {
		return nil
	}
	if n > math.MaxInt/max(each, 1) || int64(n*each) > r.left {
		return r.full()
	}
	r.left -= int64(n * each)
	return nil
}

// Keep takes bytes for what is made of the arrays, beside the arrays themselves.
func (a *Archive) Keep(n, each int) error {
	if err := a.room.take(n, each); err != nil {
		return a.wrong("%w", err)
	}
	return nil
}

// full is the error for arrays that take too much.
func (r *room) full() error {
	return fmt.Errorf("its arrays take more than the %d bytes that those of a file of %d may: save them without compression (numpy.savez), or what is mostly zeros as a sparse matrix", r.of, r.packed)
}

// takes returns what an element of that many bytes takes.
func (a *Array) takes(size int) int {
	if kind := a.Type[1]; kind == 'S' || kind == 'U' {
		return size + stringTakes
	}
	return size + numberTakes
}

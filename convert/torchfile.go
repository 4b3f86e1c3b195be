package convert

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zip"

	"github.com/edgewise-ml/edgewise/internal/pickle"
	"github.com/edgewise-ml/edgewise/internal/safetensors"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// membersMost is the number of files beyond which an archive is not read.
const membersMost = 1 << 16

// programLeast is how long a data.pkl may be in any archive; in a larger one it may be as long
// as that, since torch.save does not compress it.
const programLeast = 2 << 20

// torchFile is an archive of torch.save: a pickle, data.pkl, and a member for each storage,
// all in one folder.
type torchFile struct {
	*zip.Reader
	folder  string
	members map[string]*zip.File
	order   binary.ByteOrder
	size    int64             // of the file
	left    int64             // bytes that the members may still expand to
	room    int64             // bytes that arrays may still take
	done    map[string][]byte // storages that were read and are wanted again
}

// openTorch opens an archive of torch.save; nil of another zip archive.
func openTorch(r io.ReaderAt, size int64) (*torchFile, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, unpack.Damaged("zip", err)
	}
	f := &torchFile{Reader: z, members: map[string]*zip.File{}, order: binary.LittleEndian, size: size,
		left: unpack.Limit(size), room: 2 * unpack.Limit(size), done: map[string][]byte{}}
	ok, err := f.index()
	if err != nil || !ok {
		return nil, err
	}
	return f, nil
}

// index lists the members, and reports whether there is a data.pkl.
func (f *torchFile) index() (bool, error) {
	found, script := 0, false
	for _, m := range f.File {
		if path.Base(m.Name) == "data.pkl" {
			f.folder = path.Dir(m.Name)
			found++
		}
		script = script || path.Base(m.Name) == "constants.pkl"
	}
	switch {
	case found == 0:
		return false, nil
	case len(f.File) > membersMost:
		return false, fmt.Errorf("%d members are too many; the limit is %d", len(f.File), membersMost)
	case found > 1:
		return false, errors.New("there are several data.pkl; torch.save writes one")
	case script:
		return false, errors.New("it is a TorchScript program, not a state dict: save that of the model: torch.save(model.state_dict(), path)")
	}
	for _, m := range f.File {
		switch {
		case !filepath.IsLocal(m.Name) || strings.Contains(m.Name, `\`):
			return false, fmt.Errorf("the member %.80q leads out of the archive, which is refused", m.Name)
		case f.members[m.Name] != nil:
			return false, fmt.Errorf("there are two members %.80q, of which one would be lost: save it again", m.Name)
		}
		f.members[m.Name] = m
	}
	return true, nil
}

// member returns what a member holds, at most want bytes.
func (f *torchFile) member(name string, want int64) ([]byte, error) {
	m := f.members[path.Join(f.folder, name)]
	if m == nil {
		return nil, fmt.Errorf("the archive has no member %.80q: it is damaged, or was packed again", path.Join(f.folder, name))
	}
	if m.UncompressedSize64 > uint64(max(0, min(f.left, want))) {
		return nil, fmt.Errorf("%.80q expands from %d to %d bytes, which is refused", m.Name, m.CompressedSize64, m.UncompressedSize64)
	}
	f.left -= int64(m.UncompressedSize64)
	r, err := m.Open()
	if err != nil {
		return nil, fmt.Errorf("%.80q: %w", m.Name, unpack.Damaged("zip", err))
	}
	defer r.Close()
	b, err := io.ReadAll(r) // zip ends it after as many bytes as the archive says
	if err != nil {
		return nil, fmt.Errorf("%.80q: %w", m.Name, unpack.Damaged("zip", err))
	}
	return b, nil
}

// read returns the state dict to which the keys within lead.
func (f *torchFile) read(within []string) (State, error) {
	if err := f.byteOrder(); err != nil {
		return nil, err
	}
	program, err := f.member("data.pkl", min(pickle.MaxInput, max(programLeast, f.size)))
	if err != nil {
		return nil, err
	}
	v, err := pickle.DecodeTorch(program)
	if err != nil {
		return nil, err
	}
	for i, key := range within {
		d, ok := v.(*pickle.Dict)
		if ok {
			v = d.Get(key)
		}
		if !ok || v == nil {
			return nil, fmt.Errorf("there is no %q within; %s", strings.Join(within[:i+1], "/"), contents(d))
		}
	}
	d, ok := v.(*pickle.Dict)
	if !ok {
		return nil, fmt.Errorf("it holds %s, and no dictionary of arrays: torch.save(model.state_dict(), path)", kindOf(v))
	}
	return f.state(d)
}

// byteOrder reads the order of bytes, which older versions do not write.
func (f *torchFile) byteOrder() error {
	if f.members[path.Join(f.folder, "byteorder")] == nil {
		return nil
	}
	b, err := f.member("byteorder", 16)
	if err != nil {
		return err
	}
	switch string(b) {
	case "little":
	case "big":
		f.order = binary.BigEndian
	default:
		return fmt.Errorf("its order of bytes is %.20q, want little or big", b)
	}
	return nil
}

// state returns the arrays of a dictionary.
func (f *torchFile) state(d *pickle.Dict) (State, error) {
	s, uses := State{}, map[string]int{} // of each storage
	for _, v := range d.Values {
		if x, ok := v.(*pickle.Tensor); ok {
			uses[x.Storage.Key]++
		}
	}
	if i := slices.IndexFunc(d.Values, ofNumPy); len(uses) == 0 && i >= 0 {
		return nil, fmt.Errorf("%.80q is an array of NumPy, and not of torch: write those with numpy.savez(path, **arrays)", fmt.Sprint(d.Keys[i]))
	}
	if len(uses) == 0 {
		return nil, fmt.Errorf("the dictionary has no arrays; %s", contents(d))
	}
	for i, k := range d.Keys {
		name, text := k.(string)
		x, ok := d.Values[i].(*pickle.Tensor)
		if b, bytes := k.(pickle.Bytes); bytes {
			name, text = string(b), true
		}
		switch _, twice := s[name]; {
		case !text:
			return nil, fmt.Errorf("a key of the dictionary is %s, and not the name of an array", kindOf(k))
		case !ok:
			return nil, fmt.Errorf("%.80q is %s, and not an array; %s", name, kindOf(d.Values[i]), contents(d))
		case twice:
			return nil, fmt.Errorf("%.80q is there twice", name)
		}
		var err error
		if s[name], err = f.array(x); err != nil {
			return nil, fmt.Errorf("%.80q: %w", name, err)
		}
		if uses[x.Storage.Key]--; uses[x.Storage.Key] == 0 {
			delete(f.done, x.Storage.Key) // so that not all is held twice
		}
	}
	return s, nil
}

// array returns the elements of a tensor, once its numbers have been held against what
// there is.
func (f *torchFile) array(x *pickle.Tensor) (Array, error) {
	size := int64(storageSizes[x.Storage.Type])
	n, last, shape := int64(1), x.Offset, []int(nil)
	for i, s := range x.Shape {
		if s > 0 && n > math.MaxInt32*int64(64)/s {
			return Array{}, fmt.Errorf("the shape %v has too many elements", x.Shape)
		}
		if s > 1 && !slices.Contains(x.Shape, 0) {
			if x.Strides[i] > (x.Storage.Len-1-last)/(s-1) {
				return Array{}, fmt.Errorf("shape %v and strides %v reach beyond the %d elements of its storage", x.Shape, x.Strides, x.Storage.Len)
			}
			last += (s - 1) * x.Strides[i]
		}
		n, shape = n*s, append(shape, int(s))
	}
	if n > 0 && last >= x.Storage.Len {
		return Array{}, fmt.Errorf("it begins at element %d of shape %v, beyond the %d elements of its storage", x.Offset, x.Shape, x.Storage.Len)
	}
	if f.room -= n * 8; f.room < 0 {
		return Array{}, errors.New("its arrays show the same elements so often that they take more memory than is granted, which is refused")
	}
	raw, err := f.storage(x.Storage, size)
	if err != nil {
		return Array{}, err
	}
	walk := newWalk(shape, int(x.Offset), narrow(x.Strides))
	number := storageNumber(x.Storage.Type, f.order)
	a, err := newArray(shape, int(n), func(int) float64 {
		i := int64(walk.next())
		return number(raw[i*size : (i+1)*size])
	})
	a.Whole = !floats[x.Storage.Type]
	return a, err
}

// storage returns the bytes of a storage.
func (f *torchFile) storage(s *pickle.Storage, size int64) ([]byte, error) {
	if raw, ok := f.done[s.Key]; ok {
		if int64(len(raw)) < s.Len*size {
			return nil, fmt.Errorf("its storage %.40q has %d bytes, want %d", s.Key, len(raw), s.Len*size)
		}
		return raw, nil
	}
	if !filepath.IsLocal(s.Key) || strings.ContainsAny(s.Key, `/\`) {
		return nil, fmt.Errorf("its storage is called %.40q, which is the name of no member", s.Key)
	}
	raw, err := f.member("data/"+s.Key, s.Len*size)
	if err == nil && int64(len(raw)) != s.Len*size {
		err = fmt.Errorf("its storage %.40q has %d bytes, want %d: the file is damaged", s.Key, len(raw), s.Len*size)
	}
	if err != nil {
		return nil, err
	}
	f.done[s.Key] = raw
	return raw, nil
}

// contents says what a dictionary has that is no array, and dictionaries first.
func contents(d *pickle.Dict) string {
	const most = 8
	names := map[string]bool{}
	if d != nil {
		for i, k := range d.Keys {
			name, ok := k.(string)
			if _, dict := d.Values[i].(*pickle.Dict); ok && dict && len(names) < most {
				names[fmt.Sprintf("%.40q", name)] = true
			}
		}
	}
	if len(names) == 0 {
		return "want what torch.save(model.state_dict(), path) writes"
	}
	return "name the dictionary to be read: it has " + strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

// ofNumPy reports whether a value of a pickle is one of NumPy's arrays.
func ofNumPy(v any) bool { _, ok := v.(*pickle.Array); return ok }

// kindOf names a value of a pickle.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case bool:
		return "a boolean"
	case int64, float64:
		return "a number"
	case string, pickle.Bytes:
		return "text"
	case pickle.Tuple, *pickle.List:
		return "a list"
	case *pickle.Dict:
		return "a dictionary"
	case *pickle.Tensor:
		return "a single array"
	}
	return "an array of NumPy"
}

func narrow(v []int64) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = int(x)
	}
	return out
}

// storageSizes are the bytes of an element of each of PyTorch's storages.
var storageSizes = map[string]int{"Float": 4, "Double": 8, "Half": 2, "BFloat16": 2, "Long": 8, "Int": 4, "Short": 2, "Char": 1, "Byte": 1, "Bool": 1}

// floats are the storages whose elements are no whole numbers or booleans.
var floats = map[string]bool{"Float": true, "Double": true, "Half": true, "BFloat16": true}

// storageNumber returns a function that reads an element of one of PyTorch's storages.
func storageNumber(kind string, o binary.ByteOrder) func(b []byte) float64 {
	switch kind {
	case "Float":
		return func(b []byte) float64 { return float64(math.Float32frombits(o.Uint32(b))) }
	case "Double":
		return func(b []byte) float64 { return math.Float64frombits(o.Uint64(b)) }
	case "Half":
		return func(b []byte) float64 { return float64(safetensors.Half(o.Uint16(b))) }
	case "BFloat16":
		return func(b []byte) float64 { return float64(math.Float32frombits(uint32(o.Uint16(b)) << 16)) }
	case "Long":
		return func(b []byte) float64 { return float64(int64(o.Uint64(b))) }
	case "Int":
		return func(b []byte) float64 { return float64(int32(o.Uint32(b))) }
	case "Short":
		return func(b []byte) float64 { return float64(int16(o.Uint16(b))) }
	case "Char":
		return func(b []byte) float64 { return float64(int8(b[0])) }
	}
	return func(b []byte) float64 { return float64(b[0]) } // Byte, Bool
}

// walk goes through the elements of a view of an array, the last axis fastest.
type walk struct {
	shape, strides, at []int
	i                  int // the element that is next
}

func newWalk(shape []int, offset int, strides []int) *walk {
	return &walk{shape: shape, strides: strides, at: make([]int, len(shape)), i: offset}
}

// next returns where the next element is.
func (w *walk) next() int {
	i := w.i
	for a := len(w.shape) - 1; a >= 0; a-- {
		w.at[a]++
		w.i += w.strides[a]
		if w.at[a] < w.shape[a] {
			break
		}
		w.i -= w.at[a] * w.strides[a]
		w.at[a] = 0
	}
	return i
}

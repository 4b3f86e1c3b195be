package form

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/internal/pickle"
	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// archive is an .npz whose errors name the file and the array.
type archive struct {
	*npy.Archive
	path  string
	close func() error
}

// openArchive opens an .npz, which must be closed.
func openArchive(f *Files, name string) (z archive, err error) {
	at, size, closeAt, err := f.OpenAt(name)
	if err != nil {
		return archive{}, err
	}
	z = archive{path: f.At(name), close: closeAt}
	if z.Archive, err = npy.NewArchive(z.path, at, size); err != nil {
		closeAt()
		return archive{}, err
	}
	return z, nil
}

// wrong returns an error about an array.
func (z archive) wrong(name, format string, args ...any) error {
	return fmt.Errorf("%s: array %q: %w", z.path, name, fmt.Errorf(format, args...))
}

// wrongIf is wrong about an array of which err says so, nil if it is nil.
func (z archive) wrongIf(name string, err error) error {
	if err == nil {
		return nil
	}
	return z.wrong(name, "%w", err)
}

// first returns which of the names is that of an array, "" if none is.
func (z archive) first(names ...string) string {
	for _, name := range names {
		if z.Has(name) {
			return name
		}
	}
	return ""
}

// vector returns the elements of an array of one axis, as read reads them.
func vector[T any](z archive, name string, read func(*npy.Array) ([]T, error)) ([]T, error) {
	a, err := z.Read(name)
	if err != nil {
		return nil, err
	}
	return elements(z, name, a, read)
}

// elements returns the elements of an array of one axis.
func elements[T any](z archive, name string, a *npy.Array, read func(*npy.Array) ([]T, error)) ([]T, error) {
	if len(a.Shape) != 1 {
		return nil, z.wrong(name, "its shape is %v, want one axis", a.Shape)
	}
	out, err := read(a)
	if err != nil {
		return nil, z.wrong(name, "%w", err)
	}
	return out, nil
}

// object returns the Python value in an array of objects that is a single one.
func (z archive) object(name string, a *npy.Array) (any, error) {
	if !a.Pickled {
		return nil, z.wrong(name, "its elements are of type %q, want a pickled object", a.Type)
	}
	v, err := pickle.Decode(a.Raw)
	if err != nil {
		return nil, z.wrong(name, "%w", err)
	}
	if box, ok := v.(*pickle.Array); ok && len(box.Shape) == 0 && len(box.Objects) == 1 {
		v = box.Objects[0]
	}
	return v, nil
}

// csr returns the csr_matrix that an array of objects holds.
func (z archive) csr(name string, a *npy.Array) (*sparse.CSR, error) {
	v, err := z.object(name, a)
	if err != nil {
		return nil, err
	}
	m, err := matrix(v)
	if err != nil {
		return nil, z.wrong(name, "%w", err)
	}
	return m, nil
}

// matrix returns a pickled csr_matrix, or an array of rows and columns.
func (z archive) matrix(name string) (tensor.Array, error) {
	a, err := z.Read(name)
	if err != nil {
		return nil, err
	}
	if a.Pickled {
		return nilIfError(z.csr(name, a))
	}
	x, err := z.dense(name, a)
	if err != nil {
		return nil, err
	}
	return x, nil
}

// nilIfError makes an interface of a matrix.
func nilIfError(x *sparse.CSR, err error) (tensor.Array, error) {
	if err != nil {
		return nil, err
	}
	return x, nil
}

// plain returns the matrix that is stored as NAME_indptr, NAME_indices,
// NAME_shape and, if its elements are not all 1, NAME_data.
func (z archive) plain(name string) (*sparse.CSR, error) {
	offsets, err := vector(z, name+"_indptr", (*npy.Array).Int64s)
	if err != nil {
		return nil, err
	}
	cols, err := vector(z, name+"_indices", (*npy.Array).Int32s)
	if err != nil {
		return nil, err
	}
	shape, err := vector(z, name+"_shape", (*npy.Array).Int32s)
	if err == nil && len(shape) != 2 {
		err = z.wrong(name+"_shape", "%d lengths, want 2", len(shape))
	}
	if err != nil {
		return nil, err
	}
	var values []tensor.Float
	if z.Has(name + "_data") {
		if values, err = vector(z, name+"_data", finiteOf); err != nil {
			return nil, err
		}
	}
	m, err := sparse.New(int(shape[0]), int(shape[1]), offsets, cols, values)
	if err != nil {
		return nil, fmt.Errorf("%s: arrays %s_*: %w", z.path, name, err)
	}
	sortRows(m)
	return m, nil
}

// dense returns an array of two axes, or of one as a column.
func (z archive) dense(name string, a *npy.Array) (*tensor.Dense, error) {
	if len(a.Shape) != 2 && len(a.Shape) != 1 || a.Len() == 0 {
		return nil, z.wrong(name, "its shape is %v, want rows and columns", a.Shape)
	}
	values, err := finiteOf(a)
	if err != nil {
		return nil, z.wrong(name, "%w", err)
	}
	return tensor.Of(values, a.Shape[0], a.Len()/a.Shape[0]), nil
}

// answers is dense of what is to be learnt, of which NaN is not known.
func (z archive) answers(name string, a *npy.Array) (*tensor.Dense, error) {
	if len(a.Shape) != 2 && len(a.Shape) != 1 || a.Len() == 0 {
		return nil, z.wrong(name, "its shape is %v, want rows and columns", a.Shape)
	}
	x := tensor.New(a.Shape[0], a.Len()/a.Shape[0])
	err := a.Each(func(k int, v float64) error {
		if x.Data[k] = tensor.Float(v); math.IsInf(float64(x.Data[k]), 0) {
			return fmt.Errorf("element %d is %v", k, v)
		}
		return nil
	})
	if err != nil {
		return nil, z.wrong(name, "%w", err)
	}
	return x, nil
}

// finiteOf returns the elements of an array, which it checks to be finite.
func finiteOf(a *npy.Array) ([]tensor.Float, error) {
	out := make([]tensor.Float, a.Len())
	return out, a.Each(func(k int, v float64) error {
		if out[k] = tensor.Float(v); out[k]-out[k] != 0 {
			return fmt.Errorf("element %d is %v", k, v)
		}
		return nil
	})
}

// names returns an array of strings, nil if there is none of that name.
func (z archive) names(name string) (out []string, err error) {
	if !z.Has(name) {
		return nil, nil
	}
	a, err := z.Read(name)
	if err != nil {
		return nil, err
	}
	if out, err = a.Strings(); a.Pickled {
		v, bad := z.object(name, a)
		if bad != nil {
			return nil, bad
		}
		out, err = stringsOf(v)
	}
	if err != nil {
		return nil, z.wrong(name, "%w", err)
	}
	return out, nil
}

// stringsOf returns the strings of a pickled array.
func stringsOf(v any) ([]string, error) {
	a, ok := v.(*pickle.Array)
	if !ok {
		return nil, fmt.Errorf("it holds %s, want an array of strings", kindOf(v))
	}
	return a.Strings()
}

// part is one part of a split.
type part struct {
	name string
	rows *[]int32
}

func (s *Split) parts() []part {
	return []part{{"train", &s.Train}, {"val", &s.Val}, {"test", &s.Test}}
}

// check returns an error that names the first row of a split of n rows that is
// out of range, out of order, or in two parts; and one if there are rows to
// validate or test with, but none to train on.
func (s *Split) check(n int) error {
	in := make([]string, n)
	for _, p := range s.parts() {
		last := int32(-1)
		for i, v := range *p.rows {
			switch {
			case v < 0 || int(v) >= n:
				return fmt.Errorf("%s %s %d is %d; the %ss are 0 to %d", p.name, s.Of, i, v, s.Of, n-1)
			case v <= last:
				return fmt.Errorf("%s %s %d is %d, after %d; want ascending %ss", p.name, s.Of, i, v, last, s.Of)
			case in[v] != "":
				return fmt.Errorf("%s %d is in two parts of the split, %s and %s", s.Of, v, in[v], p.name)
			}
			in[v], last = p.name, v
		}
	}
	if len(s.Train) == 0 && len(s.Val)+len(s.Test) > 0 {
		return fmt.Errorf("the split has no training %ss", s.Of)
	}
	return nil
}

// readSplits reads one or more splits of n nodes from an .npz that holds nothing else.
func readSplits(f *Files, name string, n int) ([]Split, error) {
	z, err := openArchive(f, name)
	if err != nil {
		return nil, err
	}
	defer z.close()
	splits, err := z.splits(n, OfNodes)
	if err == nil && (len(splits) == 0 || len(splits[0].Train) == 0) {
		err = fmt.Errorf("%s: the split has no training nodes: want an array train or train_mask", z.path)
	}
	return splits, err
}

// splits reads the parts that are there, of n nodes or edges; nil if there are none.
func (z archive) splits(n int, of Of) (splits []Split, err error) {
	from := "" // the array that said how many
	for i, p := range new(Split).parts() {
		names := []string{p.name, p.name + "_idx", p.name + "_mask", p.name + "_masks"}
		if p.name == "val" {
			names = append(names, "valid", "valid_idx", "valid_mask", "valid_masks")
		}
		name := z.first(names...)
		if name == "" {
			continue
		}
		lists, err := z.parts(name, n)
		if err != nil {
			return nil, err
		}
		if from == "" {
			splits, from = make([]Split, len(lists)), name
		}
		if len(lists) != len(splits) {
			return nil, z.wrong(name, "it has %d splits, %q has %d", len(lists), from, len(splits))
		}
		for k, rows := range lists {
			*splits[k].parts()[i].rows = rows
		}
	}
	for k := range splits {
		s := &splits[k]
		s.Of = of
		err := s.check(n)
		if len(splits) == 1 {
			return splits, z.at(err)
		}
		if s.Name = strconv.Itoa(k); err != nil {
			return nil, z.at(fmt.Errorf("split %d: %w", k, err))
		}
	}
	return splits, nil
}

// at is an error about the file, nil if it is nil.
func (z archive) at(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", z.path, err)
}

// parts reads one part of each split: rows, or masks of n.
func (z archive) parts(name string, n int) ([][]int32, error) {
	if !strings.Contains(name, "_mask") {
		rows, err := vector(z, name, (*npy.Array).Int32s) // in any order
		slices.Sort(rows)
		return [][]int32{rows}, err
	}
	a, err := z.Read(name)
	if err != nil {
		return nil, err
	}
	count, rows := 1, true
	if len(a.Shape) == 2 {
		count, rows = a.Shape[0], a.Shape[1] == n
		if turned := a.Shape[0] == n && strings.HasSuffix(name, "_mask"); turned || !rows {
			count, rows = a.Shape[1], false
		}
		if !rows && a.Shape[0] != n || count < 1 || count > splitsMost {
			return nil, z.wrong(name, "its shape is %v, want 1 to %d splits of %d nodes", a.Shape, splitsMost, n)
		}
		a.Shape = []int{a.Len()}
	}
	is, err := elements(z, name, a, (*npy.Array).Int32s)
	if err != nil {
		return nil, err
	}
	if len(is) != count*n {
		return nil, z.wrong(name, "%d elements for %d nodes", len(is), n)
	}
	return z.masks(name, is, count, rows)
}

// masks returns which nodes each of count masks means, a row each or a column each.
func (z archive) masks(name string, is []int32, count int, rows bool) ([][]int32, error) {
	lists, n := make([][]int32, count), max(1, len(is)/count)
	at := func(i int) (split, node int) {
		if rows {
			return i / n, i % n
		}
		return i % count, i / count
	}
	sizes := make([]int, count)
	for i, b := range is {
		k, _ := at(i)
		sizes[k] += int(b & 1)
	}
	for k, size := range sizes {
		if err := z.Keep(size, 4); err != nil {
			return nil, err
		}
		if size > 0 {
			lists[k] = make([]int32, 0, size)
		}
	}
	for i, b := range is {
		k, v := at(i)
		switch b {
		case 0:
		case 1:
			lists[k] = append(lists[k], int32(v))
		default:
			return nil, z.wrong(name, "element %d is %d, want 0 or 1: nodes themselves go into %q", i, b, name[:strings.Index(name, "_mask")])
		}
	}
	return lists, nil
}

// single is one file, which what reads it closes.
type single struct {
	*Files
	name string
}

// openFile opens a file on the disk.
func openFile(path string) (single, error) {
	if err := regular.File(path); err != nil {
		return single{}, err
	}
	return alone(Open(path))
}

// alone is the file that was opened, which is no archive of files.
func alone(f *Files, name string, err error) (single, error) {
	if err == nil && name == "" {
		f.Close()
		err = fmt.Errorf("%s: it is an archive of files: unpack it, and name the file that you want", f.Path)
	}
	return single{f, name}, err
}

// LoadSplits reads one or more splits of n nodes from the .npz at path: train, val or valid, and test, or train_idx and so on,
// which hold nodes, or train_mask, val_mask and test_mask, which hold for each node whether it is in that part; masks of
// two axes are several splits.
func LoadSplits(path string, n int) ([]Split, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readSplits(f.Files, f.name, n)
}

// ReadSplits is [LoadSplits] of what r reads. Errors call it name.
func ReadSplits(r io.Reader, name string, n int) ([]Split, error) {
	f, err := alone(openReader(r, name))
	if err != nil {
		return nil, err
	}
	return readSplits(f.Files, f.name, n)
}

// LoadIncoming reads the arrays indptr and indices of the .npz at path: the sources of the edges into each node.
func LoadIncoming(path string) (*sparse.CSR, error) { return incomingIn(openFile(path)) }

// ReadIncoming is [LoadIncoming] of what r reads. Errors call it name.
func ReadIncoming(r io.Reader, name string) (*sparse.CSR, error) {
	return incomingIn(alone(openReader(r, name)))
}

func incomingIn(f single, err error) (*sparse.CSR, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := openArchive(f.Files, f.name)
	if err != nil {
		return nil, err
	}
	defer z.close()
	return z.incoming()
}

// incoming reads indptr and indices.
func (z archive) incoming() (*sparse.CSR, error) {
	offsets, err := vector(z, "indptr", (*npy.Array).Int64s)
	if err != nil {
		return nil, err
	}
	sources, err := vector(z, "indices", (*npy.Array).Int32s)
	if err != nil {
		return nil, err
	}
	n := len(offsets) - 1
	if n < 0 {
		return nil, z.wrong("indptr", "it is empty, want one number for each node and one more")
	}
	if most := int64(1<<16) + z.Size(); int64(n) > most {
		return nil, fmt.Errorf("%s: %d nodes, in a file of %d bytes: each takes a row in every layer, so at most %d are believed: leave out those without edges, or save the file without compression", z.path, n, z.Size(), most)
	}
	a, err := sparse.New(n, n, offsets, sources, nil)
	return a, z.at(err)
}

// finite returns an error that names the first number that no [tensor.Float] is.
func finite(x []float64) error {
	for k, v := range x {
		if math.IsNaN(v) || math.IsInf(float64(tensor.Float(v)), 0) {
			return fmt.Errorf("element %d is %v", k, v)
		}
	}
	return nil
}

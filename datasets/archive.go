package datasets

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/internal/pickle"
	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// archive is an .npz whose errors name the file and the array.
type archive struct {
	*npy.Archive
	path string
}

// openArchive opens an .npz, which must be closed.
func openArchive(path string) (archive, error) {
	if err := regular.File(path); err != nil {
		return archive{}, err
	}
	z, err := npy.OpenArchive(path)
	return archive{z, path}, err
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
		if values, err = vector(z, name+"_data", numbers); err != nil {
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
	values, err := numbers(a)
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
	at, err := a.Numbers()
	if err != nil {
		return nil, z.wrong(name, "%w", err)
	}
	x := tensor.New(a.Shape[0], a.Len()/a.Shape[0])
	for k := range x.Data {
		if x.Data[k] = tensor.Float(at(k)); math.IsInf(float64(x.Data[k]), 0) {
			return nil, z.wrong(name, "element %d is %v", k, at(k))
		}
	}
	return x, nil
}

// numbers returns the elements of an array, which it checks to be finite.
func numbers(a *npy.Array) ([]tensor.Float, error) {
	at, err := a.Numbers()
	if err != nil {
		return nil, err
	}
	out := make([]tensor.Float, a.Len())
	for k := range out {
		if out[k] = tensor.Float(at(k)); out[k]-out[k] != 0 {
			return nil, fmt.Errorf("element %d is %v", k, at(k))
		}
	}
	return out, nil
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

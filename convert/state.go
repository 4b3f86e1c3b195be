package convert

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/safetensors"
	"github.com/edgewise-ml/edgewise/tensor"
)

// State is a state dict: arrays by their names. It is a map, so an array is renamed,
// left out or added as in any other.
type State map[string]Array

// Array is an array of a [State], row after row. A scalar has no axes. Elements of
// other types have been brought to tensor.Float when it was read.
type Array struct {
	Shape []int
	Data  []tensor.Float
	Whole bool // they were whole numbers or booleans: weights are neither
}

// String lists the names and shapes, one a line.
func (s State) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%s %v\n", name, s[name].Shape)
	}
	return b.String()
}

// Under returns the arrays whose names begin with prefix and a dot, without both.
func (s State) Under(prefix string) State {
	part := State{}
	for name, a := range s {
		if rest, ok := strings.CutPrefix(name, prefix+"."); ok {
			part[rest] = a
		}
	}
	return part
}

// Save is [Write] to the file at path, which appears whole or not at all.
func Save(path string, s State) error {
	return failed(atomicfile.Write(path, func(w io.Writer) error { return s.write(w) }))
}

// Write writes a state dict as safetensors, which safetensors.torch.load_file reads. The same
// state gives the same bytes.
func Write(w io.Writer, s State) error { return failed(s.write(w)) }

func (s State) write(w io.Writer) error {
	var tensors []safetensors.Tensor
	for _, name := range slices.Sorted(maps.Keys(s)) {
		t := safetensors.Tensor{Name: name, Shape: s[name].Shape}
		switch data := any(s[name].Data).(type) {
		case []float32:
			t.F32 = data
		case []float64:
			t.F64 = data
		}
		tensors = append(tensors, t)
	}
	return safetensors.Write(w, tensors, map[string]string{"format": "pt"})
}

// failed puts the package's name before an error.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("convert: %w", err)
}

// newArray returns an array of n numbers that at gives. A finite one that Float does not
// hold is an error: it would become an infinity.
func newArray(shape []int, n int, at func(i int) float64) (Array, error) {
	a := Array{Shape: shape, Data: make([]tensor.Float, n)}
	for i := range a.Data {
		v := at(i)
		a.Data[i] = tensor.Float(v)
		if math.IsInf(float64(a.Data[i]), 0) && !math.IsInf(v, 0) {
			return a, fmt.Errorf("element %d is %g, which a float32 does not hold", i, v)
		}
	}
	return a, nil
}

// Load is [Read] of the file at path.
func Load(path string, within ...string) (s State, err error) {
	err = regular.Read(path, func(r io.ReaderAt, size int64) (err error) {
		s, err = read(r, size, within)
		return err
	})
	return s, failed(err)
}

// Read reads the state dict in a file of size bytes, which r reads: PyTorch's own (of
// torch.save, since version 1.6), a safetensors file, or NumPy's .npz. What it is, its first
// bytes say. Floats of 16, 32 and 64 bits, whole numbers and booleans become tensor.Float.
//
// Of a file of torch.save that holds more than a state dict, within names the keys that
// lead to it: Load("checkpoint.pt", "model") for {'model': model.state_dict(), 'epoch': 3}.
func Read(r io.ReaderAt, size int64, within ...string) (State, error) {
	s, err := read(r, size, within)
	return s, failed(err)
}

func read(r io.ReaderAt, size int64, within []string) (State, error) {
	start := make([]byte, 512)
	n, err := io.ReadFull(io.NewSectionReader(r, 0, size), start)
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	start = start[:n]
	if bytes.HasPrefix(start, []byte("PK")) {
		if pt, err := openTorch(r, size); err != nil {
			return nil, err
		} else if pt != nil {
			return pt.read(within)
		}
	}
	if len(within) > 0 {
		return nil, fmt.Errorf("it is no file of torch.save, so there is no %q within", strings.Join(within, "/"))
	}
	switch {
	case bytes.HasPrefix(start, []byte("PK")):
		return readNPZ(r, size)
	case len(start) > 8 && start[8] == '{' && binary.LittleEndian.Uint64(start) <= safetensors.MaxHeader:
		return readSafetensors(r, size)
	}
	return nil, foreign(start)
}

// legacy is the number that files of torch.save before version 1.6 begin with, as a pickle.
var legacy = []byte("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")

// foreign says what a file is that cannot be read.
func foreign(start []byte) error {
	const again = "load it there and save the state dict again: torch.save(model.state_dict(), path)"
	switch {
	case len(start) > 2 && start[0] == 0x80 && bytes.Contains(start[:min(len(start), 32)], legacy):
		return errors.New("it is of torch.save before PyTorch 1.6, or with _use_new_zipfile_serialization=False; " + again)
	case len(start) > 2 && start[0] == 0x80:
		return errors.New("it is a plain pickle, not a file of torch.save; " + again)
	case len(start) > 262 && string(start[257:262]) == "ustar":
		return errors.New("it is a tar archive, of PyTorch before 0.4 perhaps; " + again)
	case bytes.HasPrefix(start, []byte("\x93NUMPY")):
		return errors.New("it is a single array of NumPy; save them by their names: numpy.savez(path, **arrays)")
	case bytes.HasPrefix(start, []byte("\x89HDF")):
		return errors.New("it is HDF5; save the arrays by their names: numpy.savez(path, **arrays)")
	case len(start) == 0:
		return errors.New("it is empty")
	}
	return errors.New("it is no state dict: neither a file of torch.save (a zip archive) nor safetensors nor .npz, or it is damaged")
}

func readSafetensors(r io.ReaderAt, size int64) (State, error) {
	tensors, _, err := safetensors.Read(r, size)
	if err != nil {
		return nil, err
	}
	s := State{}
	for _, t := range tensors {
		at := func(i int) float64 { return float64(t.F32[i]) }
		switch {
		case t.F64 != nil:
			at = func(i int) float64 { return t.F64[i] }
		case t.I64 != nil:
			at = func(i int) float64 { return float64(t.I64[i]) }
		}
		a, err := newArray(t.Shape, len(t.F32)+len(t.F64)+len(t.I64), at)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", t.Name, err)
		}
		a.Whole = t.I64 != nil
		s[t.Name] = a
	}
	return s, nil
}

func readNPZ(r io.ReaderAt, size int64) (State, error) {
	z, err := npy.NewArchive("", r, size)
	if err != nil {
		return nil, err
	}
	s := State{}
	for _, name := range z.Names() {
		a, err := z.Read(name)
		if err != nil {
			return nil, err
		}
		var values Array
		at, err := a.Numbers()
		if err == nil {
			values, err = newArray(a.Shape, a.Len(), at)
		}
		if err != nil {
			return nil, fmt.Errorf("array %q: %w", name, err)
		}
		values.Whole = !strings.Contains(a.Type, "f")
		s[name] = values
	}
	if len(s) == 0 {
		return nil, errors.New("a zip archive without arrays of NumPy (*.npy) and without a data.pkl of torch.save")
	}
	return s, nil
}

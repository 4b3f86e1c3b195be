package safetensors

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// MaxHeader is the longest header, in bytes, that is read or written.
const MaxHeader = 100_000_000

// What a header may hold, so that it cannot be made to fill a memory: the largest
// models have a few thousand tensors, whose names have some hundred bytes.
const (
	tensorsMost  = 1 << 16
	metadataMost = 1 << 12 // keys
	nameMost     = 1 << 12 // bytes of a name or a key, as it stands there
	fieldMost    = 1 << 10 // bytes of a type, a shape, or a tensor's place
)

const metadataKey = "__metadata__"

// Tensor is a named array, row after row. Its elements are in F32, in F64 or, whole
// numbers and booleans of other programs, in I64; the others are nil. A scalar has no axes.
type Tensor struct {
	Name  string
	Shape []int
	F32   []float32
	F64   []float64
	I64   []int64 // only read
}

// dtype is an element type of the format and its size in bytes.
type dtype struct {
	name string
	size int
}

var dtypes = []dtype{{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2},
	{"I64", 8}, {"I32", 4}, {"I16", 2}, {"I8", 1}, {"U8", 1}, {"BOOL", 1}}

// whole reports whether elements are whole numbers or booleans.
func (d dtype) whole() bool { return d.name[0] != 'F' && d.name != "BF16" }

func (t *Tensor) dtype() dtype {
	if t.F64 != nil {
		return dtypes[0]
	}
	return dtypes[1]
}

func (t *Tensor) len() int { return len(t.F32) + len(t.F64) }

// check reports what keeps t from being written.
func (t *Tensor) check() error {
	switch {
	case t.Name == "" || t.Name == metadataKey || !utf8.ValidString(t.Name):
		return fmt.Errorf("safetensors: %q cannot be the name of a tensor", t.Name)
	case quoted(t.Name) > nameMost:
		return fmt.Errorf("safetensors: the name %.40q… takes %d bytes in JSON; at most %d are read", t.Name, quoted(t.Name), nameMost)
	case t.I64 != nil:
		return fmt.Errorf("safetensors: %q has whole numbers, which are only read", t.Name)
	case t.F32 != nil && t.F64 != nil:
		return fmt.Errorf("safetensors: %q has float32 and float64 elements; it needs one of them", t.Name)
	}
	n, err := elements(t.Shape)
	if err != nil {
		return fmt.Errorf("safetensors: %q: %w", t.Name, err)
	}
	if n != t.len() {
		return fmt.Errorf("safetensors: %q has %d elements for the shape %v", t.Name, t.len(), t.Shape)
	}
	return nil
}

// elements returns the number of elements of a shape.
func elements(shape []int) (int, error) {
	n := 1
	for _, s := range shape {
		if s < 0 {
			return 0, fmt.Errorf("the shape %v has a negative length", shape)
		}
		if s > 0 && n > math.MaxInt/8/s {
			return 0, errors.New("the number of elements overflows")
		}
		n *= s
	}
	return n, nil
}

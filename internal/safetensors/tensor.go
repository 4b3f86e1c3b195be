package safetensors

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// MaxHeader is the longest header, in bytes, that is read or written.
const MaxHeader = 100_000_000

const metadataKey = "__metadata__"

// Tensor is a named array, row after row. Its elements are in F32 or in F64;
// the other is nil. A scalar has no axes.
type Tensor struct {
	Name  string
	Shape []int
	F32   []float32
	F64   []float64
}

// dtype is an element type of the format and its size in bytes.
type dtype struct {
	name string
	size int
}

var dtypes = []dtype{{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}}

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

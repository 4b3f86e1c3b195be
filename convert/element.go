package convert

import (
	"encoding/binary"
	"math"

	"github.com/edgewise-ml/edgewise/internal/safetensors"
)

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

package convert

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
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

// Write writes a state dict to a safetensors file at exactly that path, which
// safetensors.torch.load_file reads. The same state gives the same bytes. The file
// appears whole or not at all.
func Write(path string, s State) error {
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
	err := atomicfile.Write(path, func(w io.Writer) error {
		return safetensors.Write(w, tensors, map[string]string{"format": "pt"})
	})
	if err != nil {
		return fmt.Errorf("convert: %w", err)
	}
	return nil
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

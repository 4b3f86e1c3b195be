package golden

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Case is one golden file.
type Case struct {
	Name         string           `json:"name"`
	Config       map[string]any   `json:"config"` // the constructor's arguments, under the framework's names
	Graph        *Edges           `json:"graph"`  // nil where the case has none
	Params       map[string]Array `json:"params"`
	Inputs       map[string]Array `json:"inputs"`
	Outputs      map[string]Array `json:"outputs"`
	Cotangents   map[string]Array `json:"cotangents"`
	Grads        map[string]Array `json:"grads"`
	Float32Error Errors           `json:"float32_error"`
}

// Edges is the graph of a case: edge i goes from Src[i] to Dst[i].
type Edges struct {
	NumSrc int     `json:"num_src"`
	NumDst int     `json:"num_dst"`
	Src    []int32 `json:"src"`
	Dst    []int32 `json:"dst"`
}

// Errors is how far the framework itself gets from the golden numbers in
// float32, as a fraction of max(1, max|value|).
type Errors struct {
	Outputs float64 `json:"outputs"`
	Grads   float64 `json:"grads"`
}

// Array is one array of a case, row after row.
type Array struct {
	Shape []int     `json:"shape"`
	Dtype string    `json:"dtype"` // empty for float32, else int64 or bool
	Data  []float64 `json:"data"`
}

// Load reads the golden file at path. A file that is missing or broken fails
// the test.
func Load(t testing.TB, path string) *Case {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("golden: %v", err)
	}
	c, err := parse(b)
	if err != nil {
		t.Fatalf("golden: %s: %v", path, err)
	}
	return c
}

// parse decodes a golden file and checks the size of each of its arrays.
func parse(b []byte) (*Case, error) {
	c := new(Case)
	if err := json.Unmarshal(b, c); err != nil {
		return nil, err
	}
	if c.Graph != nil && len(c.Graph.Src) != len(c.Graph.Dst) {
		return nil, fmt.Errorf("graph has %d sources and %d destinations", len(c.Graph.Src), len(c.Graph.Dst))
	}
	for _, name := range sections {
		for key, a := range c.section(name) {
			n := 1
			for _, s := range a.Shape {
				n *= s
			}
			if n != len(a.Data) {
				return nil, fmt.Errorf("%s %q has %d elements for the shape %v", name, key, len(a.Data), a.Shape)
			}
		}
	}
	return c, nil
}

var sections = []string{"params", "inputs", "outputs", "cotangents", "grads"}

// section returns the arrays of a section, nil if there is no such section.
func (c *Case) section(name string) map[string]Array {
	switch name {
	case "params":
		return c.Params
	case "inputs":
		return c.Inputs
	case "outputs":
		return c.Outputs
	case "cotangents":
		return c.Cotangents
	case "grads":
		return c.Grads
	}
	return nil
}

// find returns one array, or an error that lists what there is.
func (c *Case) find(section, key string) (Array, error) {
	if !slices.Contains(sections, section) {
		return Array{}, fmt.Errorf("golden: %s has no section %q; sections are %s", c.Name, section, strings.Join(sections, ", "))
	}
	m := c.section(section)
	a, ok := m[key]
	if !ok {
		keys := slices.Sorted(maps.Keys(m))
		return a, fmt.Errorf("golden: %s has no %q in %s, which holds: %s", c.Name, key, section, strings.Join(keys, ", "))
	}
	return a, nil
}

// Has reports whether a section holds an array of that name.
func (c *Case) Has(section, key string) bool {
	_, ok := c.section(section)[key]
	return ok
}

// Tensor returns a copy of one array of a section ("params", "inputs",
// "outputs", "cotangents" or "grads"). A scalar has the shape [1]. A missing
// key fails the test with the list of those there are.
func (c *Case) Tensor(t testing.TB, section, key string) *tensor.Dense {
	t.Helper()
	a, err := c.find(section, key)
	if err != nil {
		t.Fatal(err)
	}
	return a.Dense()
}

// Ints returns a copy of one array of whole numbers.
func (c *Case) Ints(t testing.TB, section, key string) []int32 {
	t.Helper()
	a, err := c.find(section, key)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]int32, len(a.Data))
	for i, v := range a.Data {
		if v != math.Trunc(v) || math.Abs(v) > math.MaxInt32 {
			t.Fatalf("golden: %s: element %d of %s %q is %v, not a 32-bit integer", c.Name, i, section, key, v)
		}
		out[i] = int32(v)
	}
	return out
}

// Dense returns a copy of a as a tensor. A scalar has the shape [1].
func (a Array) Dense() *tensor.Dense {
	shape := a.Shape
	if len(shape) == 0 {
		shape = []int{1}
	}
	d := tensor.New(shape...)
	for i, v := range a.Data {
		d.Data[i] = tensor.Float(v)
	}
	return d
}

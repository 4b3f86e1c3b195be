package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/safetensors"
	"github.com/edgewise-ml/edgewise/tensor"
)

// namedTensor is an array of a program and its name in a file.
type namedTensor struct {
	name  string
	shape []int
	data  []tensor.Float
}

// make gives it an array if it has none: after compare, so that a file cannot
// ask for more than it holds.
func (p *namedTensor) make() {
	if p.data == nil {
		p.data = make([]tensor.Float, tensor.Size(p.shape...))
	}
}

// params returns the places of a model's Params. Its error names one that would be
// lost, or whose name no file can hold.
func params(model any) ([]namedTensor, error) {
	if err := grad.CheckParams(model); err != nil {
		return nil, err
	}
	var out []namedTensor
	known := map[string]bool{}
	for name, p := range grad.Params(model) {
		if known[name] {
			return nil, fmt.Errorf("the model has two Params called %q", name)
		}
		if strings.Contains(name, "/") {
			return nil, fmt.Errorf("the model has a Param called %q; a file keeps names with a slash for what is not of the model, so the key of a map may have none", name)
		}
		known[name] = true
		out = append(out, namedTensor{name, p.Value.Shape(), p.Value.Data})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("a %T has no Params; was its Init called?", model)
	}
	return out, nil
}

// tensors returns the arrays as a file holds them.
func tensors(places []namedTensor) []safetensors.Tensor {
	var out []safetensors.Tensor
	for _, p := range places {
		t := safetensors.Tensor{Name: p.name, Shape: p.shape}
		switch data := any(p.data).(type) {
		case []float32:
			t.F32 = data
		case []float64:
			t.F64 = data
		}
		out = append(out, t)
	}
	return out
}

// compare reports what keeps a file's tensors from being those of the places,
// which are what is called owner.
func compare(file map[string]*safetensors.Tensor, places []namedTensor, owner string) error {
	var missing, superfluous, wrong []string
	known := map[string]bool{}
	for _, p := range places {
		known[p.name] = true
		t := file[p.name]
		switch {
		case t == nil:
			missing = append(missing, p.name)
		case !slices.Equal(t.Shape, p.shape):
			wrong = append(wrong, fmt.Sprintf("%s is %v in the file and %v in the %s", p.name, t.Shape, p.shape, owner))
		case t.I64 != nil:
			wrong = append(wrong, fmt.Sprintf("%s has whole numbers in the file and floats in the %s", p.name, owner))
		case t.F64 != nil && !wide:
			wrong = append(wrong, fmt.Sprintf("%s is float64 in the file and float32 in the %s", p.name, owner))
		}
	}
	for name := range file {
		if !known[name] {
			superfluous = append(superfluous, name)
		}
	}
	slices.Sort(superfluous)
	var parts []string
	if len(missing) > 0 {
		parts = append(parts, "missing in the file: "+list(missing))
	}
	if len(superfluous) > 0 {
		parts = append(parts, fmt.Sprintf("not in the %s: %s", owner, list(superfluous)))
	}
	if len(wrong) > 0 {
		parts = append(parts, list(wrong))
	}
	if parts == nil {
		return nil
	}
	return fmt.Errorf("the file is not of this %s: %s", owner, strings.Join(parts, "; "))
}

// wide reports whether Float is float64.
const wide = tensor.Float(1)+tensor.Float(1e-10) != tensor.Float(1)

// list joins names, the first few of many.
func list(names []string) string {
	const most = 8
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

// fill sets the places to the file's elements, once compare has found no fault.
func fill(places []namedTensor, file map[string]*safetensors.Tensor) {
	for _, p := range places {
		t := file[p.name]
		for i, v := range t.F32 {
			p.data[i] = tensor.Float(v)
		}
		for i, v := range t.F64 {
			p.data[i] = tensor.Float(v)
		}
	}
}

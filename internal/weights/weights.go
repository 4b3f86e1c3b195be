package weights

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/safetensors"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Place is an array of a program and its name in a file.
type Place struct {
	Name  string
	Shape []int
	Data  []tensor.Float // nil: Make makes it
}

// Make gives it an array if it has none: after Compare, so that a file cannot
// ask for more than it holds.
func (p *Place) Make() {
	if p.Data == nil {
		p.Data = make([]tensor.Float, tensor.Size(p.Shape...))
	}
}

// Of returns the places of a model's Params. Its error names one that would be
// lost, or whose name no file can hold.
func Of(model any) ([]Place, error) {
	if err := grad.CheckParams(model); err != nil {
		return nil, err
	}
	var out []Place
	known := map[string]bool{}
	for name, p := range grad.Params(model) {
		if known[name] {
			return nil, fmt.Errorf("the model has two Params called %q", name)
		}
		if strings.Contains(name, "/") {
			return nil, fmt.Errorf("the model has a Param called %q; a file keeps names with a slash for what is not of the model, so the key of a map may have none", name)
		}
		known[name] = true
		out = append(out, Place{name, p.Value.Shape(), p.Value.Data})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("a %T has no Params; was its Init called?", model)
	}
	return out, nil
}

// Tensors returns the arrays as a file holds them.
func Tensors(places []Place) []safetensors.Tensor {
	var out []safetensors.Tensor
	for _, p := range places {
		t := safetensors.Tensor{Name: p.Name, Shape: p.Shape}
		switch data := any(p.Data).(type) {
		case []float32:
			t.F32 = data
		case []float64:
			t.F64 = data
		}
		out = append(out, t)
	}
	return out
}

// Compare reports what keeps a file's tensors from being those of the places,
// which are what is called owner.
func Compare(file map[string]*safetensors.Tensor, places []Place, owner string) error {
	var missing, superfluous, wrong []string
	known := map[string]bool{}
	for _, p := range places {
		known[p.Name] = true
		t := file[p.Name]
		switch {
		case t == nil:
			missing = append(missing, p.Name)
		case !slices.Equal(t.Shape, p.Shape):
			wrong = append(wrong, fmt.Sprintf("%s is %v in the file and %v in the %s", p.Name, t.Shape, p.Shape, owner))
		case t.I64 != nil:
			wrong = append(wrong, fmt.Sprintf("%s has whole numbers in the file and floats in the %s", p.Name, owner))
		case t.F64 != nil && !Wide:
			wrong = append(wrong, fmt.Sprintf("%s is float64 in the file and float32 in the %s", p.Name, owner))
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
		parts = append(parts, "missing in the file: "+List(missing))
	}
	if len(superfluous) > 0 {
		parts = append(parts, fmt.Sprintf("not in the %s: %s", owner, List(superfluous)))
	}
	if len(wrong) > 0 {
		parts = append(parts, List(wrong))
	}
	if parts == nil {
		return nil
	}
	return fmt.Errorf("the file is not of this %s: %s", owner, strings.Join(parts, "; "))
}

// Wide reports whether Float is float64.
const Wide = tensor.Float(1)+tensor.Float(1e-10) != tensor.Float(1)

// List joins names, the first few of many.
func List(names []string) string {
	const most = 8
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

// Fill sets the places to the file's elements, once Compare has found no fault.
func Fill(places []Place, file map[string]*safetensors.Tensor) {
	for _, p := range places {
		t := file[p.Name]
		for i, v := range t.F32 {
			p.Data[i] = tensor.Float(v)
		}
		for i, v := range t.F64 {
			p.Data[i] = tensor.Float(v)
		}
	}
}

// ByName returns the tensors of a file by their names.
func ByName(tensors []safetensors.Tensor) map[string]*safetensors.Tensor {
	file := make(map[string]*safetensors.Tensor, len(tensors))
	for i := range tensors {
		file[tensors[i].Name] = &tensors[i]
	}
	return file
}

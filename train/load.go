package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/safetensors"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Load gives the Params of a model the values in the safetensors file at path.
// The file must hold every Param's path with its shape, and nothing else; else
// the error names what is missing, superfluous or of another shape, and the
// model stays as it was. Elements of less precision than the model's are
// widened; those of more are refused.
func Load(path string, model any) error {
	tensors, _, err := read(path)
	if err != nil {
		return err
	}
	file := make(map[string]*safetensors.Tensor, len(tensors))
	for i := range tensors {
		file[tensors[i].Name] = &tensors[i]
	}
	if err := compare(file, model); err != nil {
		return fmt.Errorf("train: load %s: %w", path, err)
	}
	for name, p := range grad.Params(model) {
		fill(p.Value.Data, file[name])
	}
	return nil
}

// compare reports what keeps the file's tensors from being the model's.
func compare(file map[string]*safetensors.Tensor, model any) error {
	var missing, superfluous, wrong []string
	known := map[string]bool{}
	for name, p := range grad.Params(model) {
		if known[name] {
			return fmt.Errorf("the model has two Params called %q", name)
		}
		known[name] = true
		t := file[name]
		switch {
		case t == nil:
			missing = append(missing, name)
		case !slices.Equal(t.Shape, p.Value.Shape()):
			wrong = append(wrong, fmt.Sprintf("%s is %v in the file and %v in the model", name, t.Shape, p.Value.Shape()))
		case t.F64 != nil && !wide:
			wrong = append(wrong, name+" is float64 in the file and float32 in the model")
		}
	}
	for name := range file {
		if !known[name] {
			superfluous = append(superfluous, name)
		}
	}
	slices.Sort(superfluous)
	if len(known) == 0 {
		return fmt.Errorf("a %T has no Params; was its Init called?", model)
	}
	return describe(missing, superfluous, wrong)
}

// wide reports whether Float is float64.
const wide = tensor.Float(1)+tensor.Float(1e-10) != tensor.Float(1)

func describe(missing, superfluous, wrong []string) error {
	var parts []string
	if len(missing) > 0 {
		parts = append(parts, "missing in the file: "+list(missing))
	}
	if len(superfluous) > 0 {
		parts = append(parts, "not in the model: "+list(superfluous))
	}
	if len(wrong) > 0 {
		parts = append(parts, list(wrong))
	}
	if parts == nil {
		return nil
	}
	return fmt.Errorf("the file is not of this model: %s", strings.Join(parts, "; "))
}

// list joins names, the first few of many.
func list(names []string) string {
	const most = 8
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

// fill sets dst to the elements of t.
func fill(dst []tensor.Float, t *safetensors.Tensor) {
	for i, v := range t.F32 {
		dst[i] = tensor.Float(v)
	}
	for i, v := range t.F64 {
		dst[i] = tensor.Float(v)
	}
}

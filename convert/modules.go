package convert

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Framework is where a state dict comes from or goes to. PyG and DGL have the layers of
// torch.nn too, under PyTorch's names.
type Framework string

const (
	PyTorch Framework = "PyTorch" // torch.nn
	PyG     Framework = "PyG"     // torch_geometric.nn
	DGL     Framework = "DGL"     // dgl.nn.pytorch
)

// Modules says which layer stands under which name of a state dict, such as "conv1" of
// "conv1.lin.weight". The one layer of a state dict without such names stands under
// "". A value is a pointer to a layer with its Params made, further Modules, or a
// *grad.Param, which is the array of exactly that name and shape, an embedding say.
type Modules map[string]any

// Load gives the layers the values of a state dict. It is an error if the state dict
// lacks an array, has another one, or one of another shape, or whole numbers where weights
// are wanted; the error names them all, and the layers stay as they were. The counters of batch norms (num_batches_tracked) are not read.
func (m Modules) Load(f Framework, s State) error {
	b := newBinding(f, s)
	err := b.bind(m)
	if err == nil {
		err = b.compare()
	}
	var values map[*grad.Param]*staged
	if err == nil {
		values, err = b.stage()
	}
	if err != nil {
		return fmt.Errorf("convert: load: %w", err)
	}
	for p, v := range values {
		copy(p.Value.Data, v.data)
		p.Changed()
	}
	for _, f := range b.fields {
		if f.number != nil {
			*f.number = float64(s[f.key].Data[0])
		}
	}
	return nil
}

// State returns the layers' values as a state dict, for load_state_dict there. Of two
// biases there which are one here, the second is zeros.
func (m Modules) State(f Framework) (State, error) {
	b := newBinding(f, nil)
	if err := b.bind(m); err != nil {
		return nil, fmt.Errorf("convert: %w", err)
	}
	s := State{}
	for _, f := range b.fields {
		if f.optional {
			continue
		}
		a := Array{Shape: f.shape, Data: make([]tensor.Float, size(f.shape))}
		if f.number != nil {
			a.Data[0] = tensor.Float(*f.number)
		}
		if f.fill != 0 {
			a.Data[0] = f.fill
		}
		for _, p := range f.places {
			if !p.extra {
				p.each(func(here, there int) { a.Data[there] = p.to(p.param.Value.Data[here]) })
			}
		}
		s[f.key] = a
	}
	return s, nil
}

// binding is what a state dict's names are of some layers.
type binding struct {
	framework Framework
	state     State // nil where one is made
	fields    []field
}

func newBinding(f Framework, s State) *binding {
	return &binding{framework: f, state: s}
}

// bind finds out the names of all modules' arrays.
func (b *binding) bind(m Modules) error {
	if b.framework != PyTorch && b.framework != PyG && b.framework != DGL {
		return fmt.Errorf("no framework is called %q; there are PyTorch, PyG and DGL", b.framework)
	}
	if err := b.modules("", m); err != nil {
		return err
	}
	known := map[string]bool{}
	for _, f := range b.fields {
		if known[f.key] {
			return fmt.Errorf("two modules have an array %q", f.key)
		}
		known[f.key] = true
	}
	return nil
}

func (b *binding) modules(prefix string, m Modules) error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		full := prefix + name
		switch l := m[name].(type) {
		case Modules:
			if err := b.modules(dotted(full), l); err != nil {
				return err
			}
		case *grad.Param:
			if l == nil || name == "" {
				return fmt.Errorf("the Param under %q is nil, or has no name", full)
			}
			b.fields = append(b.fields, whole(full, l, l.Value.Shape()...))
		default:
			if v := reflect.ValueOf(l); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
				return fmt.Errorf("what stands under %s is nil", quoted(full))
			}
			if err := b.layer(full, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// layer binds one layer, all of whose elements must have a place.
func (b *binding) layer(name string, l any) error {
	n := &names{binding: b, prefix: dotted(name)}
	first := len(b.fields)
	if !n.layer(l) && n.err == nil {
		return fmt.Errorf("%s: %s has no layer like a %T that is known; name its parts one by one", quoted(name), b.framework, l)
	}
	if n.err != nil {
		return fmt.Errorf("%s, a %T: %w", quoted(name), l, n.err)
	}
	bound := map[*grad.Param]int{}
	for _, f := range b.fields[first:] {
		for _, p := range f.places {
			if !p.extra {
				bound[p.param] += size(p.shape)
			}
		}
	}
	for path, p := range grad.Params(l) {
		if bound[p] < len(p.Value.Data) {
			return fmt.Errorf("%s, a %T: %s has no place for its %s of shape %v", quoted(name), l, b.framework, path, p.Value.Shape())
		}
	}
	return nil
}

// compare reports how the arrays of the state dict differ from those of the layers.
func (b *binding) compare() error {
	var missing, wrong, superfluous, whole []string
	known := map[string]bool{}
	for _, f := range b.fields {
		known[f.key] = true
		switch a, ok := b.state[f.key]; {
		case !ok && !f.optional:
			missing = append(missing, f.key)
		case ok && !f.any && !sameShape(a.Shape, f.shape):
			wrong = append(wrong, fmt.Sprintf("%s is %v there and %v in the model", f.key, a.Shape, f.shape))
		case ok && a.Whole && len(f.places) > 0:
			whole = append(whole, f.key)
		case ok && len(a.Data) != size(a.Shape):
			wrong = append(wrong, fmt.Sprintf("%s has %d elements for its shape %v", f.key, len(a.Data), a.Shape))
		}
	}
	for key := range b.state {
		if !known[key] {
			superfluous = append(superfluous, key)
		}
	}
	var parts []string
	for _, list := range []struct {
		what string
		keys []string
	}{{"missing there: ", missing}, {"not in the model: ", superfluous}, {"", wrong}, {"whole numbers or booleans, where weights are floats: ", whole}} {
		if len(list.keys) > 0 {
			slices.Sort(list.keys)
			parts = append(parts, list.what+strings.Join(list.keys, ", "))
		}
	}
	if parts == nil {
		return nil
	}
	if whole != nil {
		parts = append(parts, "write there the floats that whole numbers stand for, as in a quantised model; if these are meant, unset their Whole")
	}
	if prefix := b.beneath(missing, superfluous); prefix != "" {
		parts = append(parts, fmt.Sprintf("what is missing is there under %q: load state.Under(%q), or name the Modules so", prefix, prefix))
	}
	return fmt.Errorf("the state dict is not one of %s of this model: %s", b.framework, strings.Join(parts, "; "))
}

// beneath returns what stands before the names of all arrays that are missing, as "module"
// of DataParallel does; "" if nothing does.
func (b *binding) beneath(missing, superfluous []string) string {
	if len(missing) == 0 {
		return ""
	}
	for _, key := range superfluous {
		prefix, ok := strings.CutSuffix(key, "."+missing[0])
		if ok && !slices.ContainsFunc(missing, func(name string) bool { _, there := b.state[prefix+"."+name]; return !there }) {
			return prefix
		}
	}
	return ""
}

// staged is the values that a Param is to have.
type staged struct {
	data []tensor.Float
	by   []int32 // the field that gave each, from 1
}

// stage returns the values of all Params. Arrays that are one Param must agree.
func (b *binding) stage() (map[*grad.Param]*staged, error) {
	values := map[*grad.Param]*staged{}
	for _, extra := range []bool{false, true} {
		for i, f := range b.fields {
			there, ok := b.state[f.key]
			for _, p := range f.places {
				if !ok || p.extra != extra {
					continue
				}
				v := values[p.param]
				if v == nil {
					n := len(p.param.Value.Data)
					v = &staged{make([]tensor.Float, n), make([]int32, n)}
					values[p.param] = v
				}
				clash := v.take(p, there.Data, int32(i+1))
				if clash > 0 {
					return nil, fmt.Errorf("%s and %s differ there and are one Param of the model", b.fields[clash-1].key, f.key)
				}
			}
		}
	}
	return values, nil
}

// take takes the values of a place, or returns the field that gave others before.
func (v *staged) take(p place, there []tensor.Float, by int32) (clash int32) {
	p.each(func(here, i int) {
		x := p.from(there[i])
		switch {
		case p.extra:
			v.data[here] += x
		case v.by[here] != 0 && v.data[here] != x:
			clash = v.by[here]
		default:
			v.data[here], v.by[here] = x, by
		}
	})
	return clash
}

func dotted(name string) string {
	if name == "" || strings.HasSuffix(name, ".") {
		return name
	}
	return name + "."
}

func quoted(name string) string {
	if name == "" {
		return "the model"
	}
	return fmt.Sprintf("%q", name)
}

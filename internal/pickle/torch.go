package pickle

import (
	"math"
	"strings"
)

// Storage is one of PyTorch's storages: elements one after another, in a member of the
// archive that the pickle belongs to.
type Storage struct {
	Type string // Float, Double, Half, BFloat16, Long, Int, Short, Char, Byte, Bool
	Key  string // the member's name
	Len  int64  // elements
}

// Tensor is a PyTorch tensor, a view of a Storage. Nothing but the signs of its numbers
// has been checked: it may ask for elements that the Storage does not have.
type Tensor struct {
	Storage *Storage
	Offset  int64 // of the first element
	Shape   []int64
	Strides []int64 // in elements
}

// DecodeTorch is [Decode] of the pickle in a file that torch.save wrote. It knows besides
// what a state dict is made of: a tensor is a [*Tensor], an OrderedDict a [*Dict], a
// torch.Size a [Tuple].
func DecodeTorch(b []byte) (any, error) { return decodeAs(b, true) }

// torchGlobals are the names a state dict may use beside those of globals.
var torchGlobals = map[string]global{
	"torch._utils _rebuild_tensor_v2":              "tensor",
	"torch._utils _rebuild_parameter":              "parameter",
	"collections OrderedDict":                      "ordereddict",
	"torch Size":                                   "size",
	"torch.serialization _get_layout":              "layout",
	"torch._tensor _rebuild_from_type_v2":          "type",
	"torch._utils _rebuild_sparse_tensor":          "sparse",
	"torch._utils _rebuild_meta_tensor_no_storage": "meta",
}

// lookupTorch returns an allowed name of PyTorch.
func (m *machine) lookupTorch(module, name string) (global, bool) {
	if !m.torch {
		return "", false
	}
	if g, ok := torchGlobals[module+" "+name]; ok {
		return g, true
	}
	if kind, ok := strings.CutSuffix(name, "Storage"); ok && module == "torch" && storageTypes[kind] {
		return global("storage " + kind), true
	}
	if tensorType(module, name) {
		m.fail("it asks for %.60q of %.60q: a tensor of a type that is not read, such as complex, quantised, of 8 bits or without elements: save x.float()", name, module)
	}
	if !strings.HasPrefix(module, "numpy") && !strings.HasPrefix(module, "scipy") {
		m.fail("it asks for %.60q of %.60q, which is not data: a whole model, or an object of a program, is stored there. Save the state dict alone: torch.save(model.state_dict(), path)", name, module)
	}
	return "", false
}

// tensorType reports whether a name is of tensors of some type, which is not one of those
// that are read.
func tensorType(module, name string) bool {
	switch module {
	case "torch._utils":
		return strings.HasPrefix(name, "_rebuild_")
	case "torch":
		if strings.HasSuffix(name, "Storage") {
			return true
		}
		for _, kind := range []string{"float", "bfloat", "complex", "int", "uint", "qint", "quint", "bool"} {
			if rest, ok := strings.CutPrefix(name, kind); ok && strings.Trim(rest, "0123456789_efmnuz") == "" {
				return true
			}
		}
	}
	return false
}

var storageTypes = map[string]bool{"Float": true, "Double": true, "Half": true, "BFloat16": true,
	"Long": true, "Int": true, "Short": true, "Char": true, "Byte": true, "Bool": true}

// callTorch is the value of one of PyTorch's names called with arguments, nil if that
// is none of them.
func (m *machine) callTorch(g global, args Tuple) any {
	switch {
	case g == "tensor" && (len(args) == 6 || len(args) == 7):
		return m.newTensor(args)
	case g == "parameter" && len(args) == 3:
		if x, ok := args[0].(*Tensor); ok {
			return x
		}
	case g == "ordereddict" && len(args) == 0:
		return new(Dict)
	case g == "size" && len(args) == 1:
		if t, ok := args[0].(Tuple); ok {
			return t
		}
	case g == "sparse" || g == "layout" || g == "meta" || g == "type":
		m.fail("a tensor is sparse, without elements, or of a class of its own, and cannot be read: save x.to_dense()")
	}
	return nil
}

// newTensor is a tensor of (storage, offset, shape, strides, …).
func (m *machine) newTensor(args Tuple) *Tensor {
	s, ok1 := args[0].(*Storage)
	offset, ok2 := args[1].(int64)
	shape, ok3 := args[2].(Tuple)
	strides, ok4 := args[3].(Tuple)
	if !ok1 || !ok2 || !ok3 || !ok4 || offset < 0 || len(shape) != len(strides) || len(shape) > 64 {
		m.fail("a tensor is not made of (storage, offset, shape, strides)")
	}
	if len(args) == 7 { // a dictionary of what else there is to know, which is left out where it is empty
		if notes, ok := args[6].(*Dict); !ok || len(notes.Keys) > 0 {
			m.fail("a tensor is one that negates what is stored, or has other notes beside it, and cannot be read: save x.resolve_neg()")
		}
	}
	m.spend(2 * sizeNumber * len(shape))
	x := &Tensor{Storage: s, Offset: offset}
	for i := range shape {
		n, ok1 := shape[i].(int64)
		step, ok2 := strides[i].(int64)
		if !ok1 || !ok2 || n < 0 || step < 0 {
			m.fail("the shape or the strides of a tensor are not made of lengths")
		}
		x.Shape, x.Strides = append(x.Shape, n), append(x.Strides, step)
	}
	return x
}

// persistent runs the opcode of what stands outside of the pickle: a storage.
func (m *machine) persistent() {
	t, ok := m.pop().(Tuple)
	if !ok || len(t) != 5 {
		m.fail("what stands outside of the pickle is not one of PyTorch's storages")
	}
	kind, _ := short(t[0])
	g, _ := t[1].(global)
	key, ok := short(t[2])
	n, whole := t[4].(int64)
	kindOf, known := strings.CutPrefix(string(g), "storage ")
	if kind != "storage" || !known || !ok || key == "" || !whole || n < 0 || n > math.MaxInt64/8 {
		m.fail("a storage is not ('storage', type, key, place, length)")
	}
	m.pushNew(&Storage{Type: kindOf, Key: key, Len: n}, sizeObject)
}

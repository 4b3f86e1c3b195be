package pickle

import (
	"math"
	"strings"
)

// globals are the names a pickle may use, under all of their spellings.
var globals = map[string]global{
	"numpy.core.multiarray _reconstruct":  "array",
	"numpy._core.multiarray _reconstruct": "array",
	"numpy ndarray":                       "ndarray",
	"numpy dtype":                         "dtype",
	"numpy.core.multiarray scalar":        "scalar",
	"numpy._core.multiarray scalar":       "scalar",
	"scipy.sparse.csr csr_matrix":         "csr",
	"scipy.sparse._csr csr_matrix":        "csr",
	"scipy.sparse._csr csr_array":         "csr",
	"scipy.sparse._arrays csr_array":      "csr",        // of SciPy 1.8 to 1.10
	"numpy.core.numeric _frombuffer":      "frombuffer", // protocol 5
	"numpy._core.numeric _frombuffer":     "frombuffer",
	"__builtin__ bytes":                   "bytes", // none, in protocols 1 and 2
	"builtins bytes":                      "bytes",
	"collections defaultdict":             "defaultdict",
	"__builtin__ list":                    "list",
	"builtins list":                       "list",
	"__builtin__ set":                     "set",
	"builtins set":                        "set",
	"__builtin__ object":                  "object",
	"builtins object":                     "object",
	"copy_reg _reconstructor":             "reconstructor",
	"copyreg _reconstructor":              "reconstructor",
	"_codecs encode":                      "encode",
}

// lookup puts an allowed name on the stack.
func (m *machine) lookup(module, name string) {
	g, ok := globals[module+" "+name]
	if !ok {
		g, ok = m.lookupTorch(module, name)
	}
	if !ok && strings.HasPrefix(module, "scipy.sparse.") {
		m.fail("it asks for %.60q of %.60q, which is not data that can be read; save a csr_matrix instead: x.tocsr()", name, module)
	}
	if !ok {
		m.fail("it asks for %.60q of %.60q, which is not data that can be read", name, module)
	}
	m.pushNew(g, sizeText)
}

// call is the value of an allowed name called with arguments.
func (m *machine) call(f any, args Tuple) any {
	g, ok := f.(global)
	if v := m.callTorch(g, args); v != nil {
		return v
	}
	switch {
	case !ok:
		m.fail("%T is called", f)
	case g == "array" && len(args) == 3 && args[0] == any(global("ndarray")):
		return new(Array)
	case g == "dtype" && len(args) >= 1:
		return m.newDtype(args[0])
	case g == "csr" && len(args) == 0:
		return new(CSR)
	case g == "reconstructor" && len(args) == 3 && args[0] == any(global("csr")) && args[1] == any(global("object")):
		return new(CSR)
	case g == "defaultdict" && len(args) <= 1 && (len(args) == 0 || args[0] == any(global("list"))):
		return new(Dict)
	case g == "list" && len(args) == 0:
		return new(List)
	case g == "set" && len(args) == 1: // of protocols 1 to 3
		if l, ok := args[0].(*List); ok {
			return l
		}
	case g == "scalar" && len(args) == 2:
		return m.scalar(args)
	case g == "bytes" && len(args) == 0:
		return Bytes{}
	case g == "frombuffer" && len(args) == 4:
		return m.fromBuffer(args)
	case g == "encode" && len(args) == 2:
		return m.encode(args[0], args[1])
	}
	m.fail("%s is called with %d arguments it does not take", g, len(args))
	return nil
}

// scalar is a number of (dtype, content).
func (m *machine) scalar(args Tuple) any {
	d, ok1 := args[0].(*dtype)
	b, ok2 := args[1].(Bytes)
	if !ok1 || !ok2 || len(b) != itemSize(d.code) {
		m.fail("a number is not a dtype and as many bytes")
	}
	a := &Array{Dtype: d.order + d.code, Data: b}
	if n, err := a.Ints(); err == nil {
		return n[0]
	}
	x, err := a.Floats()
	if err != nil || len(x) != 1 {
		m.fail("an element of type %s is no number that can be read", a.Dtype)
	}
	return x[0]
}

// fromBuffer is an array of (content, dtype, shape, order).
func (m *machine) fromBuffer(args Tuple) *Array {
	order, ok := short(args[3])
	if !ok || order != "C" && order != "F" {
		m.fail("the order of an array is neither C nor F")
	}
	a := new(Array)
	m.buildArray(a, Tuple{int64(1), args[2], args[1], order == "F", args[0]})
	return a
}

func (m *machine) newDtype(arg any) *dtype {
	code, ok := short(arg)
	if code == "O" || code == "O4" || code == "O8" { // the width of a pointer there
		return &dtype{"|", objects}
	}
	if !ok || itemSize(code) == 0 {
		m.fail("an array of type %.40q cannot be read, only plain integers, floats, booleans, strings and objects", code)
	}
	m.spend(len(code))
	if single(code) {
		return &dtype{"|", code}
	}
	return &dtype{"<", code}
}

// encode is how Python 3 writes bytes in protocol 2: as the text whose Latin-1
// they are. The results together may not be longer than the input: the same
// text can be encoded again and again.
func (m *machine) encode(s, codec any) Bytes {
	str, ok := s.(string)
	if name, _ := short(codec); !ok || name != "latin1" && name != "latin-1" {
		m.fail("only text can be encoded, and only as latin1")
	}
	if m.encoded += len(str); m.encoded > len(m.in) {
		m.fail("it encodes more text than it holds")
	}
	out := make(Bytes, 0, len(str))
	for _, r := range str {
		if r > 0xff {
			m.fail("%q has no code in latin1", r)
		}
		out = append(out, byte(r))
	}
	return out
}

// build gives an object its state.
func (m *machine) build(obj, state any) {
	switch o := obj.(type) {
	case *dtype:
		m.buildDtype(o, state)
	case *Array:
		m.buildArray(o, state)
	case *CSR:
		m.buildCSR(o, state)
	case *Dict: // the _metadata of a state dict
		if _, ok := state.(*Dict); !ok || !m.torch {
			m.fail("a dictionary takes no state")
		}
	default:
		m.fail("%T takes no state", obj)
	}
}

// buildDtype reads (version, byte order, subarray, names, fields, …).
func (m *machine) buildDtype(d *dtype, state any) {
	t, ok := state.(Tuple)
	if !ok || len(t) < 5 || t[2] != nil || t[3] != nil || t[4] != nil {
		m.fail("the state of a dtype is not that of plain numbers")
	}
	order, _ := short(t[1])
	one := single(d.code)
	switch {
	case order == "|" && one, (order == "<" || order == ">") && !one:
		d.order = order
	case order == "=" || order == "|" || order == "<" || order == ">":
		m.fail("a dtype %s of byte order %q", d.code, order)
	default:
		m.fail("%.20q is no byte order", order)
	}
}

// buildArray reads (version, shape, dtype, column-major, data).
func (m *machine) buildArray(a *Array, state any) {
	t, ok := state.(Tuple)
	if !ok || len(t) != 5 || a.built {
		m.fail("the state of an array is not five values given once")
	}
	shape, ok1 := t[1].(Tuple)
	d, ok2 := t[2].(*dtype)
	fortran, ok3 := t[3].(bool)
	if !ok1 || !ok2 || !ok3 || len(shape) > 32 {
		m.fail("the state of an array is not (version, shape, dtype, order, content)")
	}
	m.spend(len(d.code) + sizeNumber*len(shape))
	a.Dtype, a.Fortran = d.order+d.code, fortran
	m.fill(a, shape, t[4])
	a.built = true
}

// fill gives an array its shape and its content: bytes, or a list of objects.
func (m *machine) fill(a *Array, shape Tuple, content any) {
	n := itemSize(a.Dtype[1:])
	if a.Dtype[1:] == objects {
		n = 1
	}
	for _, s := range shape {
		s, ok := s.(int64)
		if !ok || s < 0 || s > 0 && int64(n) > math.MaxInt64/s || s > math.MaxInt {
			m.fail("the shape of an array is not made of lengths, or its size overflows")
		}
		n *= int(s)
		a.Shape = append(a.Shape, int(s))
	}
	got := 0
	switch c := content.(type) {
	case Bytes:
		a.Data, got = c, len(c)
	case *List:
		a.Objects, got = c.Items, len(c.Items)
	}
	if _, list := content.(*List); list != (a.Dtype[1:] == objects) {
		m.fail("an array of type %s has its content in a %T", a.Dtype, content)
	}
	if n != got && a.Objects != nil {
		m.fail("an array has %d objects for the shape %v", got, a.Shape)
	}
	if n != got {
		m.fail("an array has %d bytes for %v elements of type %s", got, a.Shape, a.Dtype[1:])
	}
}

// buildCSR reads the attributes of a csr_matrix.
func (m *machine) buildCSR(c *CSR, state any) {
	d, ok := state.(*Dict)
	if !ok || c.built || len(d.Keys) > 64 {
		m.fail("the state of a csr_matrix is not one dictionary of its attributes")
	}
	shape, ok := d.Get("_shape").(Tuple)
	if !ok || len(shape) != 2 {
		m.fail("a csr_matrix has no shape of two lengths")
	}
	for i, into := range []*int{&c.Rows, &c.Cols} {
		n, ok := shape[i].(int64)
		if !ok || n < 0 || n > math.MaxInt32 {
			m.fail("length %d of the shape of a csr_matrix is a %T, or out of range", i, shape[i])
		}
		*into = int(n)
	}
	for key, into := range map[string]**Array{"indptr": &c.Offsets, "indices": &c.Columns, "data": &c.Values} {
		if *into, ok = d.Get(key).(*Array); !ok || !(*into).built || len((*into).Shape) != 1 {
			m.fail("the %s of a csr_matrix is not an array of one axis", strings.TrimSpace(key))
		}
	}
	c.built = true
}

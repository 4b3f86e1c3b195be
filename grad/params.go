package grad

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"path"
	"reflect"
	"slices"
	"strconv"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Param is an array that is trained. It takes part in a computation through
// [Tape.Use].
type Param struct {
	Value  *tensor.Dense
	Frozen bool // not trained: gets no gradient, changes through Tape.Update

	changes uint64
}

// NewParam returns a Param of zeros.
func NewParam(shape ...int) *Param { return &Param{Value: tensor.New(shape...)} }

// Glorot returns the weights of a layer of in inputs and out outputs, in×out, drawn as
// Glorot and Bengio (2010) do: uniformly from −b to b with b = √(6/(in+out)).
func Glorot(rng *rand.Rand, in, out int) *Param {
	p := NewParam(in, out)
	p.Value.GlorotUniform(rng, in, out, 1)
	return p
}

// Changed says that elements of p.Value were written, so that packed copies of them
// ([Weights]) are made anew. The optimisers, Update, Load and all else in this module
// that changes a Param say so.
func (p *Param) Changed() { p.changes++ }

// Zero is a 0 that is meant, for fields whose zero value stands for a preset:
//
//	layers.GATConv{…, Slope: grad.Zero}  // ReLU; Slope 0 means 0.2
//	layers.APPNP{Alpha: grad.Zero}       // no way back; Alpha 0 means 0.1
//	train.Adam{…, Beta1: grad.Zero}      // no momentum; Beta1 0 means 0.9
//
// It is the smallest positive number, so it passes through JSON as it is, files
// that were saved without it keep their meaning, and a program that does not know
// it computes the same. [Preset] makes it 0.
const Zero = math.SmallestNonzeroFloat64

// Preset returns what a field says whose zero value stands for preset: preset if
// v is 0, 0 if v is [Zero], else v.
func Preset(v, preset float64) float64 {
	switch v {
	case 0:
		return preset
	case Zero:
		return 0
	}
	return v
}

// Params yields the Params of a model by name, in the order of declaration.
// Like encoding/json it looks at exported fields, and at what they point to or
// hold, through embedded structs, and into slices and maps; the keys of a map
// are strings or integers, and are taken in their order. A name is the path that
// leads to the Param, such as "Conv1.W" or "Heads.left.W". A Param that is
// reached by several paths is yielded once, under the first. [CheckParams] says
// which it cannot reach.
func Params(model any) iter.Seq2[string, *Param] {
	return func(yield func(string, *Param) bool) {
		w := walker{yield: yield, seen: map[visited]bool{}, leads: leads{}}
		w.walk("", reflect.ValueOf(model))
	}
}

type walker struct {
	yield func(string, *Param) bool
	seen  map[visited]bool
	leads leads
}

// visited is a pointer, a slice or a map that was looked into: a Param may be
// shared, a model may be cyclic. A struct and its first field have one address,
// but two types.
type visited struct {
	to  uintptr
	as  reflect.Type
	len int
}

// keyOf returns the key of v, which is a pointer, a slice or a map.
func keyOf(v reflect.Value) visited {
	if v.Kind() == reflect.Slice {
		return visited{v.Pointer(), v.Type(), v.Len()}
	}
	return visited{v.Pointer(), v.Type(), 0}
}

func (w *walker) walk(path string, v reflect.Value) bool {
	if !v.IsValid() || !w.leads.toParam(v.Type()) {
		return true
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if w.seen[keyOf(v)] {
			return true
		}
		w.seen[keyOf(v)] = true
	}
	switch v.Kind() {
	case reflect.Pointer:
		if p, ok := v.Interface().(*Param); ok {
			return p == nil || p.Value == nil || w.yield(path, p)
		}
		return w.walk(path, v.Elem())
	case reflect.Interface:
		return w.walk(path, v.Elem())
	case reflect.Struct:
		if v.CanAddr() && v.Type() == paramType {
			return w.walk(path, v.Addr())
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if inSight(f) && !w.walk(under(path, f), v.Field(i)) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !w.walk(join(path, strconv.Itoa(i)), v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for _, k := range sortedKeys(v) {
			if !w.walk(join(path, keyName(k)), v.MapIndex(k)) {
				return false
			}
		}
	}
	return true
}

// inSight reports whether Params looks at a field: at an exported one, and at a
// struct that is embedded.
func inSight(f reflect.StructField) bool {
	return f.IsExported() || f.Anonymous && f.Type.Kind() == reflect.Struct
}

// under returns the path of a field: that of its struct if it is embedded.
func under(path string, f reflect.StructField) string {
	if f.Anonymous {
		return path
	}
	return join(path, f.Name)
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "." + b
}

// named reports whether the keys of a map can stand in a path.
func named(key reflect.Type) bool {
	k := key.Kind()
	return k == reflect.String || k >= reflect.Int && k <= reflect.Uintptr
}

// keyName returns a key as it stands in a path, whatever its String method says.
func keyName(k reflect.Value) string {
	switch {
	case k.CanInt():
		return strconv.FormatInt(k.Int(), 10)
	case k.CanUint():
		return strconv.FormatUint(k.Uint(), 10)
	}
	return k.String()
}

// sortedKeys returns the keys of a map in their order; of keys that have no name
// none.
func sortedKeys(m reflect.Value) []reflect.Value {
	if !named(m.Type().Key()) {
		return nil
	}
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		switch {
		case a.Kind() == reflect.String:
			return cmp.Compare(a.String(), b.String())
		case a.CanInt():
			return cmp.Compare(a.Int(), b.Int())
		}
		return cmp.Compare(a.Uint(), b.Uint())
	})
	return keys
}

var paramType = reflect.TypeFor[Param]()

// leads remembers of types whether a value of theirs may lead to a Param.
type leads map[reflect.Type]bool

// toParam reports whether a value of t may lead to a Param: features, graphs and
// caches need not be looked through then, however large they are.
func (l leads) toParam(t reflect.Type) bool {
	known, ok := l[t]
	if !ok {
		known = reaches(t, map[reflect.Type]bool{})
		l[t] = known
	}
	return known
}

// reaches is toParam, but for the types that were seen on the way.
func reaches(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return reaches(t.Elem(), seen)
	case reflect.Map:
		return reaches(t.Key(), seen) || reaches(t.Elem(), seen)
	case reflect.Struct:
		if t == paramType {
			return true
		}
		for i := range t.NumField() {
			if f := t.Field(i); (inSight(f) || !closed(t)) && reaches(f.Type, seen) {
				return true
			}
		}
	}
	return false
}

// closed reports whether the fields of t that are not exported are no part of a
// model: those of tapes, Vars, graphs and arrays.
func closed(t reflect.Type) bool {
	switch dir, name := path.Split(t.PkgPath()); name {
	case "grad", "graph", "tensor", "sparse":
		return dir == module
	}
	return false
}

// module is the path of this module, with a slash behind.
var module, _ = path.Split(paramType.PkgPath())

// CheckParams returns an error that names the first Param with a value that a
// model holds where [Params] does not see it, so that it would be trained but
// neither saved nor loaded: in a field that is not exported, in a map whose keys
// are neither strings nor integers, or by value in a map or an interface, where
// it has no address. A Param that Params finds by another path too is no fault.
func CheckParams(model any) error {
	a := auditor{known: map[uintptr]bool{}, seen: map[visited]bool{}, leads: leads{}}
	for _, p := range Params(model) {
		a.known[reflect.ValueOf(p.Value).Pointer()] = true
	}
	a.walk(spot{}, reflect.ValueOf(model))
	if a.fault == "" {
		return nil
	}
	return fmt.Errorf("grad: not all Params of a %T can be found: %s", model, a.fault)
}

// auditor walks through all of a model, and not only through what Params sees.
type auditor struct {
	known map[uintptr]bool // values of the Params that Params yields
	seen  map[visited]bool
	leads leads
	fault string // the first
}

// spot is where in a model something is.
type spot struct {
	path string
	why  string // why Params does not see it; empty: it does
}

// at is the spot of a part.
func (p spot) at(path string) spot { return spot{path, p.why} }

// hidden is the spot p, which cannot be seen from here on.
func (p spot) hidden(why string) spot {
	if p.why == "" {
		p.why = why
	}
	return p
}

func (a *auditor) walk(p spot, v reflect.Value) {
	if a.fault != "" || !v.IsValid() || !a.leads.toParam(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.seen[keyOf(v)] {
			return
		}
		a.seen[keyOf(v)] = true
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		a.walk(p, v.Elem())
	case reflect.Struct:
		a.fields(p, v)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			a.walk(p.at(join(p.path, strconv.Itoa(i))), v.Index(i))
		}
	case reflect.Map:
		a.entries(p, v)
	}
}

// fields walks through a struct, or judges it if it is a Param.
func (a *auditor) fields(p spot, v reflect.Value) {
	if v.Type() == paramType {
		a.judge(p, v)
		return
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		at := p.at(under(p.path, f))
		switch {
		case inSight(f):
		case closed(v.Type()):
			continue
		default:
			at = p.at(join(p.path, f.Name)).hidden(fmt.Sprintf("the field %s of %s is not exported; export it", f.Name, v.Type()))
		}
		a.walk(at, v.Field(i))
	}
}

// entries walks through a map.
func (a *auditor) entries(p spot, v reflect.Value) {
	if key := v.Type().Key(); !named(key) {
		at := p.hidden(fmt.Sprintf("the keys of the map are of type %s; take strings or integers", key))
		for _, k := range v.MapKeys() {
			a.walk(at, k)
			a.walk(at, v.MapIndex(k))
		}
		return
	}
	for _, k := range sortedKeys(v) {
		a.walk(p.at(join(p.path, keyName(k))), v.MapIndex(k))
	}
}

// judge notes a fault if nobody finds the Param v.
func (a *auditor) judge(p spot, v reflect.Value) {
	value := v.FieldByName("Value")
	if value.IsNil() || a.known[value.Pointer()] {
		return
	}
	why := p.hidden("it stands by value in a map, an interface or a model that is no pointer, where it has no address; hold a *grad.Param").why
	a.fault = fmt.Sprintf("%s: %s", cmp.Or(p.path, "it"), why)
}

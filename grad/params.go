package grad

import (
	"cmp"
	"iter"
	"path"
	"reflect"
	"slices"
	"strconv"
)

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

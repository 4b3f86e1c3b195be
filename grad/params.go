package grad

import (
	"iter"
	"reflect"
	"strconv"
)

// Params yields the Params of a model by name, in the order of declaration.
// Like encoding/json it looks at exported fields, and at what they point to or
// hold, and through embedded structs; a name is the path that leads to the Param, such as "Conv1.W". A Param
// that is reached by several paths is yielded once, under the first.
func Params(model any) iter.Seq2[string, *Param] {
	return func(yield func(string, *Param) bool) {
		w := walker{yield: yield, seen: map[any]bool{}}
		w.walk("", reflect.ValueOf(model))
	}
}

type walker struct {
	yield func(string, *Param) bool
	seen  map[any]bool // pointers already followed: a Param may be shared, a model may be cyclic
}

func (w *walker) walk(path string, v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return w.follow(path, v)
	case reflect.Struct:
		if v.CanAddr() && v.Type() == reflect.TypeFor[Param]() {
			return w.follow(path, v.Addr())
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct) {
				continue
			}
			at := join(path, f.Name)
			if f.Anonymous {
				at = path
			}
			if !w.walk(at, v.Field(i)) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); k <= reflect.Complex128 || k == reflect.String {
			return true
		}
		for i := range v.Len() {
			if !w.walk(join(path, strconv.Itoa(i)), v.Index(i)) {
				return false
			}
		}
	}
	return true
}

func (w *walker) follow(path string, v reflect.Value) bool {
	if v.IsNil() {
		return true
	}
	if v.Kind() == reflect.Pointer {
		if w.seen[v.Interface()] {
			return true
		}
		w.seen[v.Interface()] = true
		if p, ok := v.Interface().(*Param); ok {
			return p.Value == nil || w.yield(path, p)
		}
	}
	return w.walk(path, v.Elem())
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "." + b
}

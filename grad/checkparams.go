package grad

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
)

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

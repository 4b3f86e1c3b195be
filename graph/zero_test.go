package graph_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
)

// The zero value is the graph without nodes: each of its methods returns what that of an
// empty graph returns, or refuses with the same words.
func TestZeroGraph(t *testing.T) {
	empty, err := graph.New(0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	zero := reflect.ValueOf(&graph.Graph{})
	called := 0
	for i := range zero.NumMethod() {
		m := zero.Type().Method(i)
		got, want := call(m, zero), call(m, reflect.ValueOf(empty))
		if got != want {
			t.Errorf("%s: %s, want %s", m.Name, got, want)
		}
		if strings.Contains(got, "nil pointer") {
			t.Errorf("%s: %s", m.Name, got)
		}
		called++
	}
	if called < 40 {
		t.Errorf("%d methods were called", called)
	}
	var plain graph.Graph
	if n, e := plain.NumNodes(), plain.NumEdges(); n != 0 || e != 0 {
		t.Errorf("%d nodes and %d edges", n, e)
	}
	if both := graph.Batch(&plain, empty); both.NumNodes() != 0 {
		t.Errorf("a batch of two is %v", both)
	}
}

// call returns what a method says of zero arguments, and for functions one that says no.
func call(m reflect.Method, g reflect.Value) (says string) {
	defer func() {
		if v := recover(); v != nil {
			says = fmt.Sprint("panic: ", v)
		}
	}()
	args := []reflect.Value{g}
	for k := 1; k < m.Type.NumIn() && !(m.Type.IsVariadic() && k == m.Type.NumIn()-1); k++ {
		in := m.Type.In(k)
		if in.Kind() == reflect.Func {
			args = append(args, reflect.MakeFunc(in, func([]reflect.Value) []reflect.Value {
				var out []reflect.Value
				for i := range in.NumOut() {
					out = append(out, reflect.Zero(in.Out(i)))
				}
				return out
			}))
			continue
		}
		if in.Kind() == reflect.Interface { // the key of Derived
			args = append(args, reflect.ValueOf("a key of this test"))
			continue
		}
		args = append(args, reflect.Zero(in))
	}
	for _, out := range m.Func.Call(args) {
		switch out.Kind() {
		case reflect.Func, reflect.Pointer, reflect.Struct, reflect.Interface:
			if s, ok := out.Interface().(fmt.Stringer); ok && !out.IsZero() {
				says += s.String() + " "
			} else {
				says += fmt.Sprint(out.Kind(), out.IsZero(), " ")
			}
		default:
			says += fmt.Sprint(out.Interface(), " ")
		}
	}
	return says
}

package graph_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
)

// transforms are the functions that make another graph of a graph.
var transforms = map[string]any{
	"AtDistance": graph.AtDistance, "Block": graph.Block, "BlockFrom": graph.BlockFrom, "BlockOf": graph.BlockOf, "Blocks": graph.Blocks,
	"Coalesce": graph.Coalesce, "Contract": graph.Contract, "Dst": graph.Dst, "DstOf": graph.DstOf, "EdgeMembership": graph.EdgeMembership,
	"EdgeSubgraph": graph.EdgeSubgraph, "LineGraph": graph.LineGraph, "Members": graph.Members, "Membership": graph.Membership,
	"Neighbourhood": graph.Neighbourhood, "Permute": graph.Permute, "Reorder": graph.Reorder, "Reverse": graph.Reverse, "Subgraph": graph.Subgraph,
	"Unbatch": graph.Unbatch, "Undirected": graph.Undirected, "WithDstRows": graph.WithDstRows, "WithKinds": graph.WithKinds,
	"WithMembers": graph.WithMembers, "WithOffsets": graph.WithOffsets, "WithOrigin": graph.WithOrigin, "WithPlaces": graph.WithPlaces,
	"WithSelfLoops": graph.WithSelfLoops, "WithVirtualNodes": graph.WithVirtualNodes, "WithoutSelfLoops": graph.WithoutSelfLoops,
}

// The zero value is the graph without nodes: each of its methods, and each function, returns what that of an
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
		got, want := call(m.Func, zero), call(m.Func, reflect.ValueOf(empty))
		if got != want {
			t.Errorf("%s: %s, want %s", m.Name, got, want)
		}
		if strings.Contains(got, "nil pointer") {
			t.Errorf("%s: %s", m.Name, got)
		}
		called++
	}
	if called != 30 {
		t.Errorf("%d methods were called, want 30: what makes another graph is a function", called)
	}
	for name, f := range transforms {
		got, want := call(reflect.ValueOf(f), zero), call(reflect.ValueOf(f), reflect.ValueOf(empty))
		if got != want || strings.Contains(got, "nil pointer") {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if got, want := call(reflect.ValueOf(f), reflect.ValueOf((*graph.Graph)(nil))), "panic: graph."+name+": the graph is nil"; got != want {
			t.Errorf("%s of nil: %s, want %s", name, got, want)
		}
	}
	var plain graph.Graph
	if n, e := plain.NumNodes(), plain.NumEdges(); n != 0 || e != 0 {
		t.Errorf("%d nodes and %d edges", n, e)
	}
	if both := graph.Batch(&plain, empty); both.NumNodes() != 0 {
		t.Errorf("a batch of two is %v", both)
	}
}

// call returns what a function says of a graph and zero arguments, and for functions one that says no.
func call(f, g reflect.Value) (says string) {
	defer func() {
		if v := recover(); v != nil {
			says = fmt.Sprint("panic: ", v)
		}
	}()
	args := []reflect.Value{g}
	for k := 1; k < f.Type().NumIn() && !(f.Type().IsVariadic() && k == f.Type().NumIn()-1); k++ {
		in := f.Type().In(k)
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
		args = append(args, reflect.Zero(in))
	}
	for _, out := range f.Call(args) {
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

// BenchmarkBlock makes the block of all nodes of a graph of the size of arXiv's,
// and that of a thousand.
func BenchmarkBlock(b *testing.B) {
	g := random.PowerLaw(rand.New(rand.NewPCG(1, 1)), 169_344, 1_169_344, 0.75)
	for name, seeds := range map[string][]int32{"all": g.DstRows(), "1000": g.DstRows()[:1000]} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				graph.Must(graph.Block(g, seeds))
			}
		})
	}
}

func BenchmarkReorder(b *testing.B) {
	g := random.Citation(rand.New(rand.NewPCG(1, 1)), 169_344, 1_169_344)
	g.In()
	for b.Loop() {
		graph.Reorder(g)
	}
}

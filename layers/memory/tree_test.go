package memory_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
)

// treeParents are of two trees, one of them with an only child, and one that is a leaf.
var treeParents = [][]int32{{2, 2, -1, 2, 1, 1, 4}, {-1}, {1, -1, 1}}

func joined(parents [][]int32) (out []int32) {
	for _, p := range parents {
		base := int32(len(out))
		for _, v := range p {
			if v >= 0 {
				v += base
			}
			out = append(out, v)
		}
	}
	return out
}

// The formula of the comment, from each leaf up to its root.
func TestTreeMemoryIsItsFormula(t *testing.T) {
	g := graph.Must(graph.Trees(treeParents...))
	keys, values, queries := normal(40, 11, 3), normal(41, 11, 2), normal(42, 3, 3)
	m := &memory.TreeMemory{Scale: 1.5}
	r, reached := m.Forward(nil, g, grad.Const(keys), grad.Const(values), grad.Const(queries))
	parent, ends := joined(treeParents), g.NodeOffsets()
	for i := range 3 {
		weigh := func(v int) float64 {
			s := 0.0
			for j, k := range keys.Row(v) {
				s += 1.5 * float64(k) * float64(queries.Row(i)[j])
			}
			return math.Exp(s)
		}
		want, leaf := [2]float64{}, 0
		for v := ends[i]; v < ends[i+1]; v++ {
			pi := 1.0
			for u := v; parent[u] >= 0; u = int(parent[u]) {
				sum := 0.0
				for w := ends[i]; w < ends[i+1]; w++ {
					if parent[w] == parent[u] {
						sum += weigh(w)
					}
				}
				pi *= weigh(u) / sum
			}
			if got := float64(reached.Value().Data[v]); math.Abs(got-pi) > 1e-5 {
				t.Errorf("node %d is reached with %v, want %v", v, got, pi)
			}
			if !slices.Contains(parent, int32(v)) {
				leaf++
				want[0] += pi * float64(values.Row(v)[0])
				want[1] += pi * float64(values.Row(v)[1])
			}
		}
		for j := range want {
			if got := float64(r.Value().Row(i)[j]); math.Abs(got-want[j]) > 1e-5 {
				t.Errorf("tree %d reads %v, want %v", i, got, want[j])
			}
		}
	}
	sharp := &memory.TreeMemory{Scale: 1e4} // to the leaf that Descend comes to
	_, reached = sharp.Forward(nil, g, grad.Const(keys), grad.Const(values), grad.Const(queries))
	leaf, _ := m.Descend(g, keys, queries)
	for i, v := range leaf {
		if v < int32(ends[i]) || v >= int32(ends[i+1]) || math.Abs(float64(reached.Value().Data[v])-1) > 1e-5 {
			t.Errorf("tree %d comes down to node %d, which a sharp read reaches with %v", i, v, reached.Value().Data[v])
		}
	}
}

// Of 64 leaves in a binary tree twelve keys are looked at: two a level.
func TestTreeMemoryLooksAtFew(t *testing.T) {
	parent := []int32{-1}
	for v := 1; v < 127; v++ {
		parent = append(parent, int32((v-1)/2))
	}
	g := graph.Must(graph.Trees(parent))
	_, looked := (&memory.TreeMemory{}).Descend(g, normal(43, 127, 4), normal(44, 1, 4))
	if looked[0] != 12 {
		t.Errorf("it looks at %d keys", looked[0])
	}
}

// As a set: a root and its leaves, whose read does not depend on their order.
func TestTreeMemoryAsSet(t *testing.T) {
	g := graph.Must(graph.Trees([]int32{-1, 0, 0, 0, 0}))
	keys, values, q := normal(45, 5, 3), normal(46, 5, 2), normal(47, 1, 3)
	read := func(order []int32) []tensor.Float {
		r, _ := (&memory.TreeMemory{}).Forward(nil, g, grad.Const(keys).Rows(order), grad.Const(values).Rows(order), grad.Const(q))
		return r.Value().Data
	}
	one, other := read([]int32{0, 1, 2, 3, 4}), read([]int32{0, 4, 2, 1, 3})
	compare.Near(t, "a set in another order", other, one, compare.Off(1e-5, 0))
}

func TestTreeMemoryGradient(t *testing.T) {
	g := graph.Must(graph.Trees(treeParents...))
	model := &struct{ K, V, Q *grad.Param }{grad.NewParam(11, 2), grad.NewParam(11, 2), grad.NewParam(3, 2)}
	for i, p := range []*grad.Param{model.K, model.V, model.Q} {
		copy(p.Value.Data, normal(uint64(50+i), 1, len(p.Value.Data)).Data)
	}
	gradtest.Check(t, model, func(tape *grad.Tape) *grad.Var {
		r, reached := (&memory.TreeMemory{}).Forward(tape, g, tape.Use(model.K), tape.Use(model.V), tape.Use(model.Q))
		return r.Sin().Sum().Add(reached.Square().Sum())
	})
}

func TestTreeMemoryRefuses(t *testing.T) {
	g := graph.Must(graph.Trees(treeParents...))
	c := func(n, d int) *grad.Var { return grad.Const(tensor.New(n, d)) }
	for want, f := range map[string]func(){
		"the graph is nil":                func() { (&memory.TreeMemory{}).Forward(nil, nil, c(1, 1), c(1, 1), c(1, 1)) },
		"want a key for each of 11":       func() { (&memory.TreeMemory{}).Forward(nil, g, c(3, 1), c(11, 1), c(3, 1)) },
		"want a value for each of 11":     func() { (&memory.TreeMemory{}).Forward(nil, g, c(11, 1), c(3, 1), c(3, 1)) },
		"want a query for each of 3 tree": func() { (&memory.TreeMemory{}).Forward(nil, g, c(11, 1), c(11, 1), c(2, 1)) },
	} {
		if err := refusal(f); !strings.Contains(err, want) {
			t.Errorf("the error is %q, want %q", err, want)
		}
	}
	empty := graph.Must(graph.Trees([]int32{}, []int32{-1}))
	r, _ := (&memory.TreeMemory{}).Forward(nil, empty, c(1, 2), c(1, 2), c(2, 2))
	if leaf, _ := (&memory.TreeMemory{}).Descend(empty, tensor.New(1, 2), tensor.New(2, 2)); r.Dim(0) != 2 || !slices.Equal(leaf, []int32{-1, 0}) {
		t.Errorf("an empty tree reads %v and comes down to %v", r.Value().Data, leaf)
	}
}

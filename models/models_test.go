package models

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// ring is a graph of six nodes in a circle with loops and a chord, whose edges have kinds if there is more than one, and features of
// nodes and edges.
func ring(kinds int) (*graph.Graph, layers.In) {
	var src, dst, kind []int32
	for v := range int32(6) {
		for _, u := range []int32{v, (v + 1) % 6, (v + 5) % 6} {
			src, dst = append(src, u), append(dst, v)
		}
	}
	src, dst = append(src, 0), append(dst, 3) // so that degrees differ
	g := graph.Must(graph.New(6, src, dst))
	if kinds > 0 {
		for e := range g.NumEdges() {
			kind = append(kind, int32(e%kinds))
		}
		g = graph.Must(graph.WithKinds(g, kind))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	x, edge := tensor.New(6, 5), tensor.New(g.NumEdges(), 2)
	x.Normal(rng, 0, 1)
	edge.Uniform(rng, 0, 1)
	return g, layers.In{Src: grad.Const(x), Edge: grad.Const(edge)}
}

// shapeFor is what a model reads of the ring, whatever it can.
func shapeFor(e EdgesRead) (s Shape, kinds int) {
	s = Shape{In: 5, Out: 3}
	if e.Kinds() {
		s.EdgeKinds = 2
	}
	if e.Numbers() {
		s.EdgeIn = 2
	}
	return s, s.EdgeKinds
}

// shapesFor are the shapes that a model can have: with what it reads of edges, and without where it need not.
func shapesFor(e EdgesRead) []Shape {
	with, _ := shapeFor(e)
	if e == MayNumbers || e == MayKinds {
		return []Shape{with, {In: 5, Out: 3}}
	}
	return []Shape{with}
}

// graded returns how many Params of a model there are, and how many have a gradient that is not all zeros.
func graded(t *testing.T, tape *grad.Tape, y *grad.Var, model any) (params, moved int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	mix := tensor.New(y.Value().Shape()...)
	mix.Normal(rng, 0, 1)
	grads := tape.Backward(y.Mul(grad.Const(mix)).Sum())
	for _, p := range grad.Params(model) {
		params++
		if g := grads.Param(p); g != nil && slices.ContainsFunc(g.Data, func(v tensor.Float) bool { return v != 0 }) {
			moved++
		}
	}
	return params, moved
}

// Every model of the table is made for nodes, edges and, where it has a form for them, graphs; each forward has the right shape
// and is finite, every Param of a network for nodes has a gradient, and Numbers is no more than there are.
func TestEveryModel(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			m, err := Named(name)
			if err != nil {
				t.Fatal(err)
			}
			m = With(m, Settings{Hidden: 4, Layers: 3, Heads: 2, Dropout: grad.Zero, AttentionDropout: grad.Zero})
			traits := TraitsOf(m)
			s, kinds := shapeFor(traits.Edges)
			g, in := ring(kinds)
			if s.EdgeIn == 0 {
				in.Edge = nil
			}
			net, err := New(m, s, 7)
			if err != nil {
				t.Fatal(err)
			}
			says := slices.Clone(net.Forward(grad.NewEval(), g, in).Value().Data) // before a step moves norms
			tape := grad.NewTape(1)
			y := net.Forward(tape, g, in)
			check(t, y, 6, 3)
			if params, moved := graded(t, tape, y, net); moved < params*2/3 || params == 0 { // of a bias before a normalisation it is 0
				t.Errorf("%d of %d Params have a gradient", moved, params)
			}
			fits(t, net.Numbers(), net)
			edges, err := NewEdges(m, s, Pairs{Mirrored: true}, 7)
			if err != nil {
				t.Fatal(err)
			}
			p := edges.Whole(Hop{Graph: g, Edge: in.Edge}, in.Src)
			p.Ends = &Ends{From: []int32{0, 3}, To: []int32{1, 5}}
			check(t, edges.Run(grad.NewEval(), p), 2, 3)
			fits(t, edges.Numbers(), edges)
			other := new(Network)
			again(t, net, other)
			if a, b := string(must(json.Marshal(net))), string(must(json.Marshal(other))); a != b {
				t.Errorf("%s\nis read as\n%s", a, b)
			}
			if !slices.Equal(other.Forward(grad.NewEval(), g, in).Value().Data, says) {
				t.Error("a network that is made again of its JSON says something else")
			}
		})
	}
}

// again makes a network of the JSON of another, with its seed.
func again(t *testing.T, net any, into interface {
	Check() error
	Init(rng *rand.Rand)
}) {
	t.Helper()
	if err := json.Unmarshal(must(json.Marshal(net)), into); err != nil {
		t.Fatal(err)
	}
	if err := into.Check(); err != nil {
		t.Fatal(err)
	}
	into.Init(rand.New(rand.NewPCG(7, 0)))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(t *testing.T, y *grad.Var, rows, columns int) {
	t.Helper()
	v := y.Value()
	if v.Dim(0) != rows || v.Dim(1) != columns {
		t.Fatalf("the result is %v, want %d×%d", v.Shape(), rows, columns)
	}
	for _, f := range v.Data {
		if f-f != 0 {
			t.Fatalf("the result is %v", v.Data)
		}
	}
}

// fits fails a test if a network has fewer numbers than it says it has at least.
func fits(t *testing.T, least int64, model any) {
	t.Helper()
	n := int64(0)
	for _, p := range grad.Params(model) {
		n += int64(len(p.Value.Data))
	}
	if least > n || least < n/8 {
		t.Errorf("%v says it has at least %d numbers, and it has %d", model, least, n)
	}
	if Fits(least, 2*n) != nil || Fits(2*n, n) == nil {
		t.Error("Fits does not compare")
	}
}

// Each model that has a form for graphs is made for them, with all readouts and poolings in turn; what it says of a graph is the same
// when it is made again of its JSON, and every member has a row.
func TestEveryModelOfGraphs(t *testing.T) {
	for i, name := range GraphNames() {
		t.Run(name, func(t *testing.T) {
			m := must(Named(name))
			s, kinds := shapeFor(TraitsOf(m).Graphs.Edges)
			g, in := ring(kinds)
			if s.EdgeIn == 0 {
				in.Edge = nil
			}
			g = graph.Must(graph.WithMembers(g, []int{0, 6}))
			g, in = twice(g, in)
			set := Settings{Hidden: 4, Layers: 3, Dropout: grad.Zero}
			if i%2 == 1 {
				set.Heads = 2
			}
			readout, pool := Readouts()[i%len(Readouts())], append(Pools(), "")[i%(len(Pools())+1)]
			net, err := NewGraphs(With(m, set), s, readout, pool, 7)
			if err != nil {
				t.Fatal(err)
			}
			says := slices.Clone(net.Forward(grad.NewEval(), g, in).Value().Data)
			tape := grad.NewTape(1)
			y := net.Forward(tape, g, in)
			check(t, y, 2, 3)
			if params, moved := graded(t, tape, y, net); moved < params/2 {
				t.Errorf("%d of %d Params have a gradient", moved, params)
			}
			fits(t, net.Numbers(), net)
			other := new(GraphNetwork)
			again(t, net, other)
			if !slices.Equal(other.Forward(grad.NewEval(), g, in).Value().Data, says) {
				t.Error("a network that is made again of its JSON says something else")
			}
		})
	}
}

// twice is a batch of a graph and the same one with other features.
func twice(g *graph.Graph, in layers.In) (*graph.Graph, layers.In) {
	b := graph.Batch(g, g)
	double := func(x *grad.Var) *grad.Var {
		if x == nil {
			return nil
		}
		a := x.Value()
		y := tensor.New(2*a.Rows(), a.Dim(1))
		copy(y.Data, a.Data)
		for i, v := range a.Data {
			y.Data[len(a.Data)+i] = 1 - v
		}
		return grad.Const(y)
	}
	return b, layers.In{Src: double(in.Src), Edge: double(in.Edge)}
}

// Numbers grows as the Params do where only the width is large, so that a file cannot ask for much more memory than it says it needs.
func TestNumbersOfWideNetworks(t *testing.T) {
	for _, name := range Names() {
		m := must(Named(name))
		for depth := 1; depth < 4; depth += 2 {
			if name == modelH2GCN && depth == 1 {
				continue
			}
			for _, s := range shapesFor(TraitsOf(m).Edges) {
				net := must(New(With(m, Settings{Hidden: 128, Layers: depth, Heads: 1}), s, 7))
				fits(t, net.Numbers(), net)
				net = must(New(With(m, Settings{Hidden: 128, Layers: depth, Heads: 1, Input: 256 - 64*depth, Residual: true, Output: true}), s, 7))
				fits(t, net.Numbers(), net)
			}
		}
	}
	for _, name := range GraphNames() {
		m := must(Named(name))
		for _, s := range shapesFor(TraitsOf(m).Graphs.Edges) {
			for i, readout := range Readouts() {
				net := must(NewGraphs(With(m, Settings{Hidden: 128, Layers: 2 + i%2}), s, readout, "", 7))
				fits(t, net.Numbers(), net)
			}
		}
	}
}

// Each type of the package is in the table under its own name, and the other way round.
func TestTableOfTypes(t *testing.T) {
	for _, m := range table() {
		name, s := m.zero.is()
		if name != m.Name || s != (Settings{}) {
			t.Errorf("the row %s has a %T, which is %s with %+v", m.Name, m.zero, name, s)
		}
		full := Settings{Hidden: 3, Layers: 4, Heads: 2, OutHeads: 5, Dropout: 0.25, AttentionDropout: 0.5, Residual: true, NoBias: true, ValueDrop: true, Start: StartNormal, Norm: NormLayer, ResidualLinear: true, Input: 6, Output: true}
		with := With(m.zero, full)
		_, got := with.is()
		if reflect.TypeOf(with) != reflect.TypeOf(m.zero) || got.Hidden != 3 || got.Layers != 4 || got.Dropout != 0.25 {
			t.Errorf("With makes %s a %T of %+v", m.Name, with, got)
		}
		for _, o := range own {
			if o.given(&got) != m.Has(o.name) {
				t.Errorf("With gives %s %+v, whose own settings are %v", m.Name, got, m.Settings)
			}
		}
		set := SettingsOf(with)
		if twice := SettingsOf(reflect.ValueOf(set).Convert(reflect.TypeOf(with)).Interface().(Model)); twice != set {
			t.Errorf("%s: complete settings %+v are completed to %+v", m.Name, set, twice)
		}
	}
	if text := fmt.Sprint(SettingsOf(GAT{}), SettingsOf(GCN{}), SettingsOf(SGC{}).Layers); !strings.HasPrefix(text, "{8 2 8 1 0.6 0.6 ") || !strings.Contains(text, "{16 2 1 1 0.5 0 ") || !strings.HasSuffix(text, " 1") {
		t.Errorf("the presets are %s", text)
	}
}

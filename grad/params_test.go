package grad_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

type node struct {
	W    *grad.Param
	Next *node
}

// Base is embedded; Params does not name it.
type Base struct{ Scale *grad.Param }

type hidden struct{ Shift *grad.Param }

type model struct {
	Base
	hidden
	First   node
	Layers  []*node
	Pair    [2]*grad.Param
	Any     any
	Nil     *node
	NoValue *grad.Param
	private *grad.Param
	Names   []string
	Ring    *node
	Again   *grad.Param
	Inline  grad.Param
}

func paths(m any) []string {
	var names []string
	for name := range grad.Params(m) {
		names = append(names, name)
	}
	return names
}

func TestParams(t *testing.T) {
	p := func() *grad.Param { return grad.NewParam(1) }
	m := &model{
		Base: Base{p()}, hidden: hidden{p()}, First: node{W: p()},
		Layers: []*node{{W: p()}, nil, {W: p(), Next: &node{W: p()}}},
		Pair:   [2]*grad.Param{p(), p()}, Any: &node{W: p()},
		NoValue: &grad.Param{}, private: p(), Names: []string{"a"},
		Inline: *p(),
	}
	m.Ring = &node{W: p()}
	m.Ring.Next = m.Ring
	m.Again = m.First.W // shared: named once, by the first path
	want := []string{"Scale", "Shift", "First.W", "Layers.0.W", "Layers.2.W", "Layers.2.Next.W", "Pair.0", "Pair.1", "Any.W", "Ring.W", "Inline"}
	if got := paths(m); !slices.Equal(got, want) {
		t.Errorf("paths are %v, want %v", got, want)
	}
	if m.private == nil || len(paths(nil)) != 0 || len(paths(7)) != 0 || len(paths((*model)(nil))) != 0 {
		t.Error("there are Params in nothing")
	}
	if got := paths([]*grad.Param{p(), p()}); !slices.Equal(got, []string{"0", "1"}) {
		t.Errorf("paths of a list are %v", got)
	}
	n := 0
	for range grad.Params(m) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("broke off after %d", n)
	}
}

type weighty struct{ W *grad.Param }

type inline struct{ W grad.Param }

type side uint8

// String is not what stands in a path.
func (side) String() string { return "left or right" }

// Maps are walked in the order of their keys, whatever these print.
func TestParamsOfMaps(t *testing.T) {
	p := func() *grad.Param { return grad.NewParam(1) }
	m := struct {
		Layers map[string]*weighty
		Ids    map[int]weighty // by value, but what it holds is a pointer
		Sides  map[side]any
		None   map[string]*grad.Param
		Deep   map[string][]map[uint8]*grad.Param
	}{
		Layers: map[string]*weighty{"b": {p()}, "a": {p()}, "c": nil, "B": {p()}},
		Ids:    map[int]weighty{10: {p()}, 9: {p()}, -1: {p()}},
		Sides:  map[side]any{1: p(), 0: &weighty{p()}},
		Deep:   map[string][]map[uint8]*grad.Param{"x": {{200: p(), 3: p()}}},
	}
	want := []string{"Layers.B.W", "Layers.a.W", "Layers.b.W", "Ids.-1.W", "Ids.9.W", "Ids.10.W", "Sides.0.W", "Sides.1", "Deep.x.0.3", "Deep.x.0.200"}
	for range 5 { // a map has another order each time
		if got := paths(m); !slices.Equal(got, want) {
			t.Fatalf("paths are %v, want %v", got, want)
		}
	}
	if err := grad.CheckParams(m); err != nil {
		t.Error(err)
	}
	if got := paths(m.Layers); !slices.Equal(got, []string{"B.W", "a.W", "b.W"}) {
		t.Errorf("paths of a map are %v", got)
	}
	cyclic := map[string]any{"w": p()}
	cyclic["self"], cyclic["list"] = cyclic, []any{cyclic}
	if got := paths(cyclic); !slices.Equal(got, []string{"w"}) || grad.CheckParams(cyclic) != nil {
		t.Errorf("paths of a map in itself are %v, %v", got, grad.CheckParams(cyclic))
	}
}

type encoder struct{ inner *weighty }

type shy struct {
	Out     *grad.Param
	encoder *encoder
}

// A Param that Params does not see is an error that names it and says what to do.
func TestCheckParams(t *testing.T) {
	p := grad.NewParam(1)
	type hiddenMap struct{ byName map[string]*grad.Param }
	type anyField struct{ any any }
	for name, tt := range map[string]struct {
		model any
		want  []string
	}{
		"an unexported field":       {&shy{Out: p, encoder: &encoder{&weighty{grad.NewParam(1)}}}, []string{"*grad_test.shy", "encoder.inner.W", "field encoder of grad_test.shy is not exported"}},
		"an unexported map":         {&hiddenMap{map[string]*grad.Param{"a": p}}, []string{"byName.a:", "field byName"}},
		"an unexported interface":   {&anyField{&weighty{p}}, []string{"any.W:", "field any"}},
		"by value in a map":         {map[string]grad.Param{"a": *p}, []string{"a:", "by value", "*grad.Param"}},
		"a struct's copy in a map":  {map[string]inline{"a": {*p}}, []string{"a.W:", "by value"}},
		"by value in an interface":  {&struct{ Any any }{inline{*p}}, []string{"Any.W:", "by value"}},
		"a model that is a copy":    {inline{*p}, []string{"W:", "no pointer"}},
		"a map by structs":          {map[[2]int]*grad.Param{{1, 2}: p}, []string{"keys of the map are of type [2]int"}},
		"Params that are keys":      {map[*grad.Param]int{p: 1}, []string{"keys of the map are of type *grad.Param"}},
		"deep in a list":            {[]any{nil, []shy{{}, {encoder: &encoder{&weighty{p}}}}}, []string{"1.1.encoder.inner.W:"}},
		"an embedded pointer":       {&struct{ *hidden }{&hidden{p}}, []string{"hidden.Shift:", "field hidden"}},
		"a list behind an embedded": {&struct{ hiddenList }{hiddenList{all: []*grad.Param{nil, p}}}, []string{"all.1:", "field all"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := grad.CheckParams(tt.model)
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

type hiddenList struct{ all []*grad.Param }

// What Params finds elsewhere, what has no value, and what is no part of a model
// is no fault.
func TestCheckParamsInReach(t *testing.T) {
	w, tape := &weighty{grad.NewParam(1)}, grad.NewTape(1)
	x := tape.Use(grad.NewParam(1)) // a Var that is kept leads to a tape, which knows Params
	ring := &encoder{}
	ring.inner = &weighty{}
	for name, m := range map[string]any{
		"nothing": nil, "a number": 7, "no pointer": weighty{grad.NewParam(1)}, "a nil model": (*shy)(nil),
		"a cache of its own Params": &struct {
			W     *weighty
			cache map[string]*grad.Param
			state map[*grad.Param][]float64
		}{w, map[string]*grad.Param{"W": w.W}, map[*grad.Param][]float64{w.W: nil}},
		"before Init": &shy{encoder: ring},
		"a tape, a Var, a graph, features": &struct {
			W     *weighty
			tape  *grad.Tape
			x     *grad.Var
			g     *graph.Graph
			data  *tensor.Dense
			huge  []float64
			mu    sync.Mutex
			hook  func(*grad.Param)
			queue chan *grad.Param
		}{W: w, tape: tape, x: x, g: graph.Ring(3, 1), data: tensor.New(2, 2),
			huge: make([]float64, 1), mu: sync.Mutex{}, hook: func(*grad.Param) {}, queue: make(chan *grad.Param, 1)},
	} {
		if err := grad.CheckParams(m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Zero is 0 where a field has a preset, stays itself in JSON, and rounds to 0 in
// float32, which programs do that do not know it.
func TestPreset(t *testing.T) {
	for v, want := range map[float64]float64{0: 0.2, grad.Zero: 0, 0.5: 0.5, -1: -1} {
		if got := grad.Preset(v, 0.2); got != want {
			t.Errorf("Preset(%v, 0.2) is %v, want %v", v, got, want)
		}
	}
	text, err := json.Marshal(grad.Zero)
	var back float64
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil || back != grad.Zero || float32(back) != 0 {
		t.Errorf("%s became %v, %v", text, back, err)
	}
}

// The losses and norms of this package know it.
func TestZeroOfFields(t *testing.T) {
	x := grad.Const(tensor.Of([]tensor.Float{3, 2, 0, 1}, 2, 2))
	if got := (grad.Hinge{Margin: grad.Zero}).Of(x, []int32{0, 0}).Value().Data[0]; got != 0.25 { // ½·(0 + ½·1)
		t.Errorf("a hinge without margin gives %v, want 0.25", got)
	}
	if got := (grad.PairNorm{Scale: grad.Zero}).Of(x, []int{0, 2}).Value().Data; got[0] != 0 {
		t.Errorf("a scale of 0 gives %v", got)
	}
	mean, variance := &grad.Param{Value: tensor.New(2), Frozen: true}, &grad.Param{Value: ones(2), Frozen: true}
	tape, run := grad.NewTape(1), &grad.RunningStats{Mean: mean, Variance: variance, Momentum: grad.Zero}
	tape.Backward(tape.BatchNorm(tape.Watch(x.Value()), grad.Affine{}, run, 1e-5).Square().Sum())
	if mean.Value.Data[0] != 0 || variance.Value.Data[0] != 1 {
		t.Errorf("without momentum the statistics moved to %v and %v", mean.Value, variance.Value)
	}
}

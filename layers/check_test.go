package layers_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// nameOf is how errors name a layer.
func nameOf(l any) string { return "layers." + reflect.TypeOf(l).Elem().Name() }

// larger returns rows with one row and one column more; of none, none.
func larger(x *grad.Param, rows, columns int) *grad.Var {
	if x == nil {
		return nil
	}
	return grad.Const(tensor.New(x.Value.Dim(0)+rows, x.Value.Dim(1)+columns))
}

// refuses fails the test unless f panics with a ShapeError of op that says want.
func refuses(t *testing.T, op, want string, f func()) {
	t.Helper()
	var shape *tensor.ShapeError
	if err := tensor.Try(f); !errors.As(err, &shape) || shape.Op != op || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want a ShapeError of %s about %q", err, op, want)
	}
}

// widthField is what an error calls the width of the sources' features; empty for a
// layer that takes any.
func widthField(l layer) string {
	switch l.(type) {
	case *layers.APPNP, *layers.LightGCN, *layers.H2GCNConv, *layers.AGNNConv:
		return ""
	case *layers.GINConv, *layers.GINEConv:
		return "the first of Net.Widths"
	case *layers.GCN2Conv, *layers.GPSConv:
		return "Width"
	case *layers.EdgeConv:
		return "half the first of Net.Widths"
	}
	return "In"
}

// Inputs that do not fit are refused by the layer that was given them, and by
// name.
func TestErrorNamesLayer(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		g, op := v.graph(), nameOf(v.layer)
		m := v.model(g)
		try := func(want string, change func(in *layers.In)) {
			t.Helper()
			in := m.in(nil)
			change(&in)
			refuses(t, op, want, func() { m.L.Apply(nil, g, in) })
		}
		try("x has", func(in *layers.In) { in.Src = larger(m.Src, 1, 0) })
		if field := widthField(v.layer); field != "" {
			try("columns, "+field+" is", func(in *layers.In) { in.Src = larger(m.Src, 0, 1) })
		}
		if m.Dst != nil {
			try("In.Dst has 5 rows", func(in *layers.In) { in.Dst = larger(m.Dst, 1, 0) })
			try("In.Dst has", func(in *layers.In) { in.Dst = larger(m.Dst, 0, 1) })
		}
		if m.Edge != nil {
			try("In.Edge has", func(in *layers.In) { in.Edge = larger(m.Edge, 1, 0) })
			try("columns, EdgeIn is", func(in *layers.In) { in.Edge = larger(m.Edge, 0, 1) })
		}
		try("In.Weight has 2 rows", func(in *layers.In) { in.Weight = grad.Const(tensor.New(2, 1)) })
		for want, f := range map[string]func(){
			"graph is nil": func() { m.L.Apply(nil, nil, m.in(nil)) },
			"is nil":       func() { m.L.Apply(nil, g, layers.In{}) },
		} {
			if err := misused(f); err == nil || err.Op != op || !strings.Contains(err.Why, want) {
				t.Errorf("got %v, want a TapeError of %s about %q", err, op, want)
			}
		}
	})
}

// A layer that was changed after its Init, or never told how wide its result is,
// says so.
func TestChangedAfterInit(t *testing.T) {
	x, rng := grad.Const(tensor.New(8, 3)), rand.New(rand.NewPCG(1, 1))
	for _, l := range []layer{
		&layers.GATConv{In: 3, Heads: 2}, &layers.GATv2Conv{In: 3}, &layers.DotGATConv{In: 3}, &layers.TransformerConv{In: 3},
		&layers.GCNConv{In: 3}, &layers.SGConv{In: 3}, &layers.SAGEConv{In: 3},
	} {
		l.Init(rng)
		refuses(t, nameOf(l), "set Out", func() { l.Apply(nil, odd(), layers.In{Src: x}) })
		reflect.ValueOf(l).Elem().FieldByName("Out").SetInt(4)
		refuses(t, nameOf(l), "then call Init", func() { l.Apply(nil, odd(), layers.In{Src: x}) })
		l.Init(rng)
		if y := l.Apply(nil, odd(), layers.In{Src: x}).Y; y.Dim(0) != 8 {
			t.Errorf("%s: %v", nameOf(l), y)
		}
	}
}

// So do layers without a graph.
func TestErrorNamesRowLayer(t *testing.T) {
	for name, l := range rowLayers() {
		op := nameOf(l)
		if err := misused(func() { l.Forward(nil, grad.Const(tensor.New(2, 3))) }); !strings.HasSuffix(name, "plain") && (err == nil || err.Op != op || !strings.Contains(err.Why, "Init called")) {
			t.Errorf("%s without Init: %v", name, err)
		}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		refuses(t, op, "x has 4 columns", func() { l.Forward(nil, grad.Const(tensor.New(2, 4))) })
		if err := misused(func() { l.Forward(nil, nil) }); err == nil || err.Op != op {
			t.Errorf("%s of nil: %v", name, err)
		}
	}
}

// A slope of 0 is a ReLU where the logits are too large for exponentials of nodes,
// too: the weights of a destination are those of its largest logits, and all alike
// where none is positive.
func TestReLUOfLargeLogits(t *testing.T) {
	for name, v := range map[string]variant{
		"GAT":   {layer: &layers.GATConv{In: 3, Out: 8, Heads: 8, Slope: grad.Zero}, in: 3},
		"GATv2": {layer: &layers.GATv2Conv{In: 3, Out: 8, Heads: 8, Slope: grad.Zero}, in: 3},
	} {
		g := graph.Complete(12)
		m := v.model(g)
		for i := range m.Src.Value.Data {
			m.Src.Value.Data[i] *= 12
		}
		var want matrix
		switch l := v.layer.(type) {
		case *layers.GATConv:
			want = gatOracle(l, g, m)
		case *layers.GATv2Conv:
			want = gatv2Oracle(l, g, m)
		}
		y, data := m.apply(nil, g).Value(), []tensor.Float(nil)
		for _, row := range want {
			for _, x := range row {
				data = append(data, tensor.Float(x))
			}
		}
		golden.Compare(t, name, y, tensor.Of(data, y.Shape()...), 1e-4)
	}
}

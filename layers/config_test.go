package layers_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A layer's JSON says what it is, without its numbers: what is read back has the
// same Params after Init.
func TestJSON(t *testing.T) {
	check := func(t *testing.T, l interface{ Init(*rand.Rand) }) {
		l.Init(rand.New(rand.NewPCG(1, 1)))
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		back := reflect.New(reflect.TypeOf(l).Elem()).Interface().(interface{ Init(*rand.Rand) })
		if err := json.Unmarshal(text, back); err != nil {
			t.Fatal(err)
		}
		for name := range grad.Params(back) {
			t.Errorf("%s came with the JSON %s", name, text)
		}
		back.Init(rand.New(rand.NewPCG(1, 1)))
		if !reflect.DeepEqual(l, back) {
			t.Errorf("%+v came back from %s as %+v", l, text, back)
		}
	}
	each(t, func(t *testing.T, v variant) { check(t, v.layer) })
	for name, l := range rowLayers() {
		t.Run(name, func(t *testing.T) { check(t, l) })
	}
}

// A second Init leaves nothing of the first configuration behind.
func TestInitAgain(t *testing.T) {
	names := func(l layer) (all []string) {
		for name := range grad.Params(l) {
			all = append(all, name)
		}
		return all
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, tt := range [][2]layer{
		{&layers.GATConv{In: 3, InDst: 2, Out: 2, EdgeIn: 2, Residual: layers.ResidualLinear}, &layers.GATConv{In: 3, Out: 2, NoBias: true}},
		{&layers.GATv2Conv{In: 3, InDst: 2, Out: 2, EdgeIn: 2, Residual: layers.ResidualLinear}, &layers.GATv2Conv{In: 3, Out: 2, Shared: true, NoBias: true, NoProjBias: true}},
		{&layers.DotGATConv{In: 3, InDst: 3, Out: 2}, &layers.DotGATConv{In: 3, Out: 2}},
		{&layers.TransformerConv{In: 3, Out: 2, EdgeIn: 2, Gate: true}, &layers.TransformerConv{In: 3, Out: 2, NoRoot: true, NoBias: true}},
		{&layers.SAGEConv{In: 3, Out: 2, Project: true, Aggregate: layers.AggregateLSTM}, &layers.SAGEConv{In: 3, Out: 2, NoRoot: true, NoBias: true}},
		{&layers.GINConv{Net: layers.MLP{Widths: []int{3, 4, 2}, BatchNorm: true}, TrainEps: true}, &layers.GINConv{Net: layers.MLP{Widths: []int{3, 2}}}},
	} {
		first, second := reflect.ValueOf(tt[0]).Elem(), reflect.ValueOf(tt[1]).Elem()
		tt[0].Init(rng)
		tt[1].Init(rng)
		want, before := names(tt[1]), names(tt[0])
		for i := range first.NumField() { // the second's configuration in the first, whose Params stay
			if f := first.Type().Field(i); f.Type != reflect.TypeFor[*grad.Param]() {
				first.Field(i).Set(second.Field(i))
			}
		}
		tt[0].Init(rng)
		if got := names(tt[0]); !slices.Equal(got, want) || slices.Equal(got, before) {
			t.Errorf("%T: Params %v after a second Init, want %v", tt[0], got, want)
		}
	}
}

// Features of edges are read where they stand: no step of training holds an
// array of a row of all heads for each edge.
func TestEdgesAreNotProjected(t *testing.T) {
	const nodes, edges, heads, out = 200, 20000, 8, 16
	rng := rand.New(rand.NewPCG(1, 1))
	g := random.Uniform(rng, nodes, edges)
	for _, l := range []layer{
		&layers.GATConv{In: 4, Out: out, Heads: heads, EdgeIn: 2},
		&layers.GATv2Conv{In: 4, Out: out, Heads: heads, EdgeIn: 2},
		&layers.TransformerConv{In: 4, Out: out, Heads: heads, EdgeIn: 2},
	} {
		l.Init(rng)
		x, e := tensor.New(nodes, 4), tensor.New(edges, 2)
		x.Normal(rng, 0, 1)
		e.Normal(rng, 0, 1)
		tp := grad.NewTape(1)
		y := l.Apply(tp, g, layers.In{Src: tp.Watch(x), Edge: tp.Watch(e)}).Y
		tp.Backward(weigh(y))
		one := edges * heads * out * int(reflect.TypeFor[tensor.Float]().Size())
		if peak := tp.Stats().Peak; peak >= one {
			t.Errorf("%T: %d bytes at most at a time; a row for each edge is %d", l, peak, one)
		}
	}
}

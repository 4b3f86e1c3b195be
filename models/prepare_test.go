package models_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A split that a program makes decides what is learnt from the columns, as one in the files does: a word and a number that only a row that
// tests has leave no trace in the model.
func TestPrepareFitsOnSplit(t *testing.T) {
	s := newShop(5, 40)
	for i := range s.customers {
		s.customers[i].part = ""
	}
	s.customers[7].region, s.customers[7].age = "moon", 1e6
	d, err := datasets.From(s.raw(true), nil)
	if err != nil {
		t.Fatal(err)
	}
	for v := range int32(40) {
		if v == 7 {
			d.Split.Test = append(d.Split.Test, v)
		} else {
			d.Split.Train = append(d.Split.Train, v)
		}
	}
	p := models.Preparation{Features: columns.Scaling{Form: columns.Standard}}
	data, err := models.Prepare(d, &p)
	if err != nil {
		t.Fatal(err)
	}
	if names := data.FeatureNames; len(names) < 4 || slices.ContainsFunc(names, func(n string) bool { return n == "region=moon" }) {
		t.Errorf("the features are %q", names)
	}
	for _, c := range data.Schema.Nodes[0].Columns {
		if slices.Contains(c.Words, "moon") {
			t.Errorf("the column %s knows the words %q", c.Name, c.Words)
		}
	}
	if slices.ContainsFunc(p.Features.Mean, func(m float64) bool { return m > 100 }) {
		t.Errorf("the means are %v", p.Features.Mean)
	}
}

// Rows of which nothing is to be learnt give the scale beside those that train: a column that tells them from the others keeps its values.
func TestPrepareScalesUnlabelled(t *testing.T) {
	s := newShop(6, 40)
	for i := range s.customers {
		c := &s.customers[i]
		if c.region, c.part = "north", "train"; i%2 == 0 {
			c.region, c.churned, c.part = "south", "", ""
		}
	}
	schema, err := columns.Choose(s.raw(true), columns.Roles{Label: []string{"churned"}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.From(s.raw(true), schema)
	if err != nil {
		t.Fatal(err)
	}
	p := models.Preparation{Features: columns.Scaling{Form: columns.Standard}}
	if _, err := models.Prepare(d, &p); err != nil {
		t.Fatal(err)
	}
	for j, name := range d.FeatureNames {
		if p.Features.Dev[j] == 0 {
			t.Errorf("the deviation of %s is 0", name)
		}
	}
}

// Attributes of nodes are standardised by the graphs that train; labels, codes, and what is 0 or 1 there stay as they are. A model that has
// been fitted makes the same numbers of a graph in other company, and one of labels alone reads no attributes.
func TestPrepareGraphsScales(t *testing.T) {
	x := tensor.Of([]tensor.Float{
		1, 0, 5, 1, 0,
		3, 1, 2, 0, 1,
		900, 1, 4, 0, 1, // of a graph that tests
		1, 1, 0, 1, 0,
		3, 0, 5, 1, 0,
	}, 5, 5)
	g := graph.Must(graph.WithMembers(graph.Must(graph.New(5, []int32{0, 1, 3, 4}, []int32{1, 0, 4, 3})), []int{0, 2, 3, 5}))
	d := &datasets.Graphs{Name: "three", Graph: g, Features: x, Attributes: 3, Codes: []columns.Code{{At: 2, Words: 5}}, Labels: []int32{0, 1, 0}, Classes: 2}
	d.Split = datasets.Split{Train: []int32{0, 2}, Test: []int32{1}}
	p := &models.Preparation{}
	k, err := models.PrepareGraphs(d, models.GIN{}, p)
	if err != nil {
		t.Fatal(err)
	}
	want := []tensor.Float{-1, 0, 5, 1, 0, 1, 1, 2, 0, 1, 898, 1, 4, 0, 1, -1, 1, 0, 1, 0, 1, 0, 5, 1, 0}
	if !slices.Equal(k.Features.Data, want) || d.Features.Data[0] != 1 || p.Check() != nil {
		t.Errorf("the features are %v, want %v; error %v", k.Features.Data, want, p.Check())
	}
	one := *d
	one.Graph, one.Features = graph.Must(graph.WithMembers(graph.Must(graph.New(1, nil, nil)), []int{0, 1})), tensor.Of([]tensor.Float{3, 0, 1, 1, 0}, 1, 5)
	one.Labels, one.Split = nil, datasets.Split{}
	if k, err = models.PrepareGraphs(&one, models.GIN{}, p); err != nil || !slices.Equal(k.Features.Data, []tensor.Float{1, 0, 1, 1, 0}) {
		t.Errorf("another graph is %v, error %v", k, err)
	}
	for form, want := range map[string][]tensor.Float{columns.Raw: {1, 0, 5, 1, 0}, columns.Binary: {1, 0, 5, 1, 0}} {
		p = &models.Preparation{Features: columns.Scaling{Form: form}}
		if k, err = models.PrepareGraphs(d, models.GIN{}, p); err != nil || !slices.Equal(k.Features.Row(0), want) {
			t.Errorf("%s: the first node is %v, error %v", form, k.Features.Row(0), err)
		}
	}
	p = &models.Preparation{OnlyLabels: true}
	if k, err = models.PrepareGraphs(d, models.GIN{}, p); err != nil || !slices.Equal(k.Features.Row(2), []tensor.Float{0, 1}) || k.Codes != nil || p.Features.Form != columns.Raw {
		t.Errorf("of labels alone the features are %v, the codes %v, error %v", k.Features, k.Codes, err)
	}
}

// Codes of nodes and of edges stay as they are in every form of the other features, and a network of the data reads them.
func TestPrepareKeepsCodes(t *testing.T) {
	s := newShop(8, 60)
	as := map[string]columns.Encoding{"region": columns.AsCode, "how": columns.AsCode, "age": columns.AsPlain, "amount": columns.AsPlain}
	schema, err := columns.Choose(s.raw(true), columns.Roles{Label: []string{"churned"}, As: as})
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.From(s.raw(true), schema)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Codes) != 1 || d.Codes[0].Words != 3 || len(d.EdgeCodes) != 1 || d.EdgeCodes[0].Words != 2 {
		t.Fatalf("the codes are %v and %v", d.Codes, d.EdgeCodes)
	}
	at, edgeAt := d.Codes[0].At, d.EdgeCodes[0].At
	for _, form := range columns.ScalingForms {
		k, err := models.Prepare(d, &models.Preparation{Features: columns.Scaling{Form: form}, Edges: columns.Scaling{Form: form}})
		if err != nil {
			t.Fatal(err)
		}
		for v := range d.Graph.NumNodes() {
			if got, want := k.Rows.(*tensor.Dense).Row(v)[at], d.Features.(*tensor.Dense).Row(v)[at]; got != want {
				t.Errorf("%s: the code of node %d is %v, want %v", form, v, got, want)
			}
		}
		for e := range d.Graph.NumEdges() {
			if got, want := k.Own.Row(e)[edgeAt], d.EdgeFeatures.Row(e)[edgeAt]; got != want {
				t.Errorf("%s: the code of edge %d is %v, want %v", form, e, got, want)
			}
		}
		for m, reads := range map[models.Model]bool{models.GAT{}: true, models.GCN{}: false} {
			if n, err := k.New(m, 1); err != nil || !slices.Equal(n.Shape.Codes, d.Codes) || (len(n.Shape.EdgeCodes) == 1) != reads {
				t.Errorf("%T: the network's shape is %+v, error %v", m, n.Shape, err)
			}
		}
	}
}

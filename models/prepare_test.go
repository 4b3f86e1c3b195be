package models_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/models"
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

package models_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/models"
)

// customer and payment are rows of a shop's tables.
type customer struct {
	id, region, churned, part string
	age                       float64
}

type payment struct {
	id, from, to, how string
	amount            float64
}

type shop struct {
	customers []customer
	payments  []payment
}

// newShop draws a shop whose customers churn if their age and their neighbours' say so.
func newShop(seed uint64, n int) shop {
	rng := rand.New(rand.NewPCG(seed, 1))
	var s shop
	for i := range n {
		c := customer{id: fmt.Sprintf("C%05d", i), region: []string{"north", "south", "west", ""}[rng.IntN(4)], age: float64(18 + rng.IntN(60))}
		if rng.IntN(20) == 0 {
			c.age = math.NaN()
		}
		if c.churned = "no"; c.age > 45 != (rng.IntN(10) == 0) {
			c.churned = "yes"
		}
		c.part = []string{"train", "train", "val", "test"}[rng.IntN(4)]
		s.customers = append(s.customers, c)
	}
	for i := range 3 * n {
		s.payments = append(s.payments, payment{
			id: fmt.Sprintf("P%d", i), from: s.customers[rng.IntN(n)].id, to: s.customers[rng.IntN(n)].id,
			how: []string{"card", "cash"}[rng.IntN(2)], amount: math.Round(rng.Float64()*1000) / 10,
		})
	}
	return s
}

func words(texts []string) *form.Words {
	w, code := &form.Words{}, map[string]int32{"": -1}
	for _, t := range texts {
		if _, ok := code[t]; !ok {
			code[t] = int32(len(w.Texts))
			w.Texts = append(w.Texts, t)
		}
		w.Codes = append(w.Codes, code[t])
	}
	return w
}

// raw is the shop as files say it. Ends that no customer has are rows that only edges name.
func (s shop) raw(undirected bool) *form.Raw { return s.rawOf(undirected, "how") }

// rawOf is raw whose column of how is called by a name.
func (s shop) rawOf(undirected bool, called string) *form.Raw {
	nodes := form.Nodes{Table: form.Table{IDs: &form.Words{}, Origin: form.Origin{File: "customers.csv", First: 2}}}
	at := map[string]int32{}
	var region, churned, part []string
	var age []float64
	for i, c := range s.customers {
		at[c.id] = int32(i)
		nodes.IDs.Texts = append(nodes.IDs.Texts, c.id)
		region, churned, part, age = append(region, c.region), append(churned, c.churned), append(part, c.part), append(age, c.age)
	}
	nodes.Listed = len(s.customers)
	edges := form.Edges{Table: form.Table{Origin: form.Origin{File: "payments.csv", First: 2}, IDs: &form.Words{}}, Undirected: undirected}
	var how []string
	var amount []float64
	end := func(id string) int32 {
		row, ok := at[id]
		if !ok {
			row = int32(len(nodes.IDs.Texts))
			at[id] = row
			nodes.IDs.Texts = append(nodes.IDs.Texts, id)
			region, churned, part, age = append(region, ""), append(churned, ""), append(part, ""), append(age, math.NaN())
		}
		return row
	}
	for _, p := range s.payments {
		edges.Source, edges.Target = append(edges.Source, end(p.from)), append(edges.Target, end(p.to))
		edges.IDs.Texts = append(edges.IDs.Texts, p.id)
		how, amount = append(how, p.how), append(amount, p.amount)
	}
	nodes.Rows, edges.Rows = len(nodes.IDs.Texts), len(edges.Source)
	nodes.Columns = []form.Column{
		{Name: "region", Type: form.Word, Words: words(region)}, {Name: "age", Type: form.Number, Numbers: age},
		{Name: "churned", Type: form.Word, Words: words(churned)}, {Name: "split", Type: form.Word, Words: words(part)},
	}
	edges.Columns = []form.Column{{Name: "amount", Type: form.Number, Numbers: amount}, {Name: called, Type: form.Word, Words: words(how)}}
	return &form.Raw{Name: "shop", Nodes: []form.Nodes{nodes}, Edges: []form.Edges{edges}}
}

// without returns the shop without what is learnt, as tomorrow's tables are.
func (s shop) without() shop {
	out := s
	out.customers = slices.Clone(s.customers)
	for i := range out.customers {
		out.customers[i].churned, out.customers[i].part = "", ""
	}
	return out
}

// trained trains a model on a shop for some epochs, writes its file and reads it.
func trained(t *testing.T, raw *form.Raw, m models.Model, prepare models.Preparation, roles columns.Roles) *models.Predictor {
	t.Helper()
	if roles.Label == nil {
		roles.Label = []string{"churned"}
	}
	schema, err := columns.Choose(raw, roles)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.From(raw, schema)
	if err != nil {
		t.Fatal(err)
	}
	if d.LearnsEdges() {
		for e := range int32(d.Graph.NumEdges()) {
			if e%3 == 0 {
				d.Split.Val = append(d.Split.Val, e)
			} else {
				d.Split.Train = append(d.Split.Train, e)
			}
		}
	}
	data, err := models.Prepare(d, &prepare)
	if err != nil {
		t.Fatal(err)
	}
	net, err := data.New(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	fit := net.Fit(data, d.Split)
	fit.Epochs = 3
	if _, err := fit.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	model := data.Trained(net)
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := model.Save(path); err != nil {
		t.Fatal(err)
	}
	p, err := models.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// scores returns the values of each id.
func scores(t *testing.T, p *models.Predictor, raw *form.Raw, q models.Query) map[string][]float64 {
	t.Helper()
	a, err := p.Predict(raw, q)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]float64{}
	for i, id := range a.IDs {
		for _, v := range a.Values.Row(i) {
			out[id] = append(out[id], float64(v))
		}
	}
	return out
}

func same(t *testing.T, what string, got, want map[string][]float64) {
	t.Helper()
	for id, row := range got {
		compare.Equal(t, what+": "+id, row, want[id])
	}
}

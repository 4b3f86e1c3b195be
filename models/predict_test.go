package models_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/models"
)

// shopModel is a model on a shop in some way.
type shopModel struct {
	name       string
	model      models.Model
	undirected bool
	how        string // what the column of words of edges is called
	roles      columns.Roles
	form       string
}

// shopModels are models of each kind of layers, on edges with features, weights and kinds.
func shopModels(t *testing.T) (all []shopModel) {
	t.Helper()
	for _, name := range models.Names() {
		m, err := models.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		one := shopModel{name: name, model: m, how: "how", form: columns.Standard}
		switch name {
		case "rgcn", "gatedgraph":
			one.how = "relation"
		case "gcn", "arma", "sgc", "tag":
			one.roles.Weight = "amount"
		}
		all = append(all, one)
		if slices.Contains([]string{"gat", "gcn", "pna", "edgeconv"}, name) {
			one.name, one.undirected = name+" undirected", true
			all = append(all, one)
		}
	}
	keep := shopModel{name: "gat keep", model: models.GAT{}, how: "how", form: columns.Raw, roles: columns.Roles{Repeated: columns.Keep}}
	sum := shopModel{name: "gat sum", model: models.GAT{}, how: "how", form: columns.Raw, roles: columns.Roles{Repeated: columns.Sum}}
	keepBoth := keep
	keepBoth.name, keepBoth.undirected = "gat keep undirected", true
	coded := map[string]columns.Encoding{"region": columns.AsCode, "how": columns.AsCode}
	for name, m := range map[string]models.Model{"gat codes": models.GAT{}, "gin codes": models.GIN{}, "pna codes": models.PNA{}, "mlp codes": models.MLP{}} {
		all = append(all, shopModel{name: name, model: m, how: "how", form: columns.Standard, roles: columns.Roles{As: coded}})
	}
	keepBoth.roles.As = coded
	return append(all, keep, sum, keepBoth, shopModel{name: "gat raw", model: models.GAT{}, how: "how", form: columns.Raw})
}

func (m shopModel) trained(t *testing.T, s shop) *models.Predictor {
	return trained(t, s.rawOf(m.undirected, m.how), m.model, models.Preparation{Features: columns.Scaling{Form: m.form}, Edges: columns.Scaling{Form: m.form}}, m.roles)
}

// shuffled returns a shop with its rows in another order.
func (s shop) shuffled(rng *rand.Rand) shop {
	out := shop{slices.Clone(s.customers), slices.Clone(s.payments)}
	rng.Shuffle(len(out.customers), func(i, j int) { out.customers[i], out.customers[j] = out.customers[j], out.customers[i] })
	rng.Shuffle(len(out.payments), func(i, j int) { out.payments[i], out.payments[j] = out.payments[j], out.payments[i] })
	return out
}

// The same row gets the same answer, to the bit, whatever else is there.
func TestAnyCompany(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, m := range shopModels(t) {
		s := newShop(1, 90)
		if m.undirected && m.roles.Repeated == "" {
			s = s.once()
		}
		p := m.trained(t, s)
		raw := func(s shop) *form.Raw { return s.rawOf(m.undirected, m.how) }
		want := scores(t, p, raw(s), models.Query{Plan: models.Whole})
		if len(want) != len(s.customers) {
			t.Fatalf("%s: %d answers", m.name, len(want))
		}
		check := func(what string, got map[string][]float64, least int) {
			t.Helper()
			if len(got) < least {
				t.Errorf("%s, %s: %d answers, want %d", m.name, what, len(got), least)
			}
			for id, row := range got {
				if own, old := want[id]; old && !slices.Equal(row, own) {
					t.Errorf("%s, %s: %s has %v, want %v", m.name, what, id, row, own)
					return
				}
			}
		}
		all := len(s.customers)
		check("as chosen", scores(t, p, raw(s), models.Query{}), all)
		check("what is learnt is not there", scores(t, p, raw(s.without()), models.Query{}), all)
		check("rows in another order", scores(t, p, raw(s.shuffled(rng)), models.Query{}), all)
		turned := raw(s)
		slices.Reverse(turned.Nodes[0].Columns)
		slices.Reverse(turned.Edges[0].Columns)
		check("columns in another order", scores(t, p, turned, models.Query{}), all)
		if m.name != "gps" { // it attends to all
			check("others beside them", scores(t, p, raw(s.beside(rng)), models.Query{}), all)
		}
		if m.undirected && m.roles.Repeated == "" {
			flipped := shop{s.customers, slices.Clone(s.payments)}
			for i := range flipped.payments {
				if e := &flipped.payments[i]; i%2 == 0 {
					e.from, e.to = e.to, e.from
				}
			}
			check("edges turned round", scores(t, p, raw(flipped), models.Query{}), all)
		}
		switch m.name {
		case "sgc", "appnp", "tag", "cheb", "gcn2", "h2gcn", "gatedgraph", "gps":
			if _, err := p.Predict(raw(s), models.Query{Plan: models.Layers}); err == nil || !strings.Contains(err.Error(), "leave it out, or write whole") {
				t.Errorf("%s, layer by layer: error %v", m.name, err)
			}
		default:
			check("layer by layer", scores(t, p, raw(s.shuffled(rng)), models.Query{Plan: models.Layers, Batch: 7}), all)
		}
		if net := p.Net.(*models.Network); net.Traits().Whole != "" {
			continue
		}
		check("neighbourhoods", scores(t, p, raw(s), models.Query{Plan: models.Neighbourhoods}), all)
		check("small batches", scores(t, p, raw(s), models.Query{Plan: models.Neighbourhoods, Batch: 7}), all)
		for range 5 {
			some := rng.Perm(all)[:2]
			ids := []string{s.customers[some[0]].id, s.customers[some[1]].id}
			check("few", scores(t, p, raw(s.shuffled(rng)), models.Query{IDs: ids}), 1)
		}
	}
}

// once returns a shop without payments whose ends another payment has, either way.
func (s shop) once() shop {
	seen := map[[2]string]bool{}
	return shop{s.customers, slices.DeleteFunc(slices.Clone(s.payments), func(p payment) bool {
		again := seen[[2]string{p.from, p.to}]
		seen[[2]string{p.from, p.to}], seen[[2]string{p.to, p.from}] = true, true
		return again
	})}
}

// beside returns a shop with other rows among its own, which nothing leads to from the new ones.
func (s shop) beside(rng *rand.Rand) shop {
	out := shop{slices.Clone(s.customers), slices.Clone(s.payments)}
	for i := range 40 {
		c := customer{id: fmt.Sprintf("B%d", i), region: []string{"north", "moon", ""}[i%3], age: float64(i*i*i) - 1000}
		if i%7 == 0 {
			c.age = math.NaN()
		}
		if i%5 == 0 {
			c.id = fmt.Sprint(i) // a whole number stands before all others
		}
		out.customers = append(out.customers, c)
		out.payments = append(out.payments, payment{id: fmt.Sprintf("X%d", i), from: c.id, to: c.id, how: "cash", amount: 1e6})
		if i > 0 {
			out.payments = append(out.payments, payment{id: fmt.Sprintf("Y%d", i), from: c.id, to: out.customers[len(out.customers)-2].id, how: "card", amount: float64(i)})
		}
	}
	return out.shuffled(rng)
}

// New rows get the same answer beside the old ones in one table as from a table of their own, with the old ones as a base.
func TestNewRows(t *testing.T) {
	s, rng := newShop(1, 90), rand.New(rand.NewPCG(5, 6))
	next := shop{customers: []customer{
		{id: "C90001", region: "north", age: 30}, {id: "C90002", region: "moon", age: 51}, {id: "C90003", age: math.NaN()},
		{id: "C00011", region: "south", age: 99}, // who has moved
	}}
	for i, to := range []string{"C90001", "C90001", "C90002", "C00011"} {
		next.payments = append(next.payments, payment{id: fmt.Sprintf("N%d", i), from: s.customers[20+i].id, to: to, how: "card", amount: float64(i)})
	}
	next.payments = append(next.payments, payment{id: "N9", from: "C90002", to: "C90001", how: "cash", amount: 3})
	both := shop{slices.Concat(next.customers, slices.DeleteFunc(slices.Clone(s.customers), func(c customer) bool { return c.id == "C00011" })), slices.Concat(s.payments, next.payments)}
	for _, m := range shopModels(t) {
		if m.name == "gps" {
			continue
		}
		p := m.trained(t, s)
		want := scores(t, p, both.without().shuffled(rng).rawOf(m.undirected, m.how), models.Query{})
		got := scores(t, p, next.rawOf(m.undirected, m.how), models.Query{Base: s.rawOf(m.undirected, m.how)})
		if len(got) != len(next.customers) {
			t.Errorf("%s: %d answers, want %d", m.name, len(got), len(next.customers))
		}
		same(t, m.name, got, want)
	}
	p := trained(t, s.raw(false), models.SAGE{}, models.Preparation{}, columns.Roles{})
	alone := shop{customers: next.customers[:3]}
	if got := scores(t, p, alone.raw(false), models.Query{}); len(got) != 3 {
		t.Errorf("%d answers without edges", len(got))
	}
	a, err := p.Predict(next.raw(false), models.Query{Base: s.raw(false), IDs: []string{"C90002", "C00005"}})
	if err != nil || !slices.Equal(a.IDs, []string{"C90002", "C00005"}) {
		t.Errorf("%v, error %v", a, err)
	}
}

// A model of edges answers for each row of the table of edges, by their ids.
func TestPredictEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, undirected := range []bool{false, true} {
		s := newShop(3, 60)
		if undirected {
			s = s.once()
		}
		p := trained(t, s.raw(undirected), models.GAT{}, models.Preparation{Features: columns.Scaling{Form: columns.Standard}}, columns.Roles{Label: []string{"how"}, As: map[string]columns.Encoding{"churned": columns.Left}})
		if p.Task != models.Edges || p.Net.(*models.Network).Head.Mirrored != undirected {
			t.Fatalf("a model of %s, %+v", p.Task, p.Net)
		}
		want := scores(t, p, s.raw(undirected), models.Query{Plan: models.Whole})
		loops := 0
		for _, e := range s.payments {
			if e.from == e.to {
				loops++
			}
		}
		if len(want) != len(s.payments)-loops {
			t.Fatalf("%d answers for %d payments, %d of which are loops", len(want), len(s.payments), loops)
		}
		same(t, "rows in another order", scores(t, p, s.shuffled(rng).raw(undirected), models.Query{}), want)
		same(t, "layer by layer", scores(t, p, s.raw(undirected), models.Query{Plan: models.Layers, Batch: 11}), want)
		same(t, "neighbourhoods", scores(t, p, s.raw(undirected), models.Query{Plan: models.Neighbourhoods, Batch: 11}), want)
		a, err := p.Predict(s.raw(undirected), models.Query{IDs: []string{s.customers[5].id}})
		if err != nil || len(a.IDs) == 0 {
			t.Fatalf("%v, error %v", a, err)
		}
		for i, id := range a.IDs {
			if got := []float64{float64(a.Values.Row(i)[0]), float64(a.Values.Row(i)[1])}; !slices.Equal(got, want[id]) {
				t.Errorf("%s has %v, want %v", id, got, want[id])
			}
			if a.Sources[i] != s.customers[5].id && a.Targets[i] != s.customers[5].id {
				t.Errorf("%s leads from %s to %s", id, a.Sources[i], a.Targets[i])
			}
		}
	}
}

// Embeddings are the same by each plan; explanations name columns.
func TestEmbedAndExplain(t *testing.T) {
	s := newShop(1, 80)
	p := trained(t, s.raw(false), models.GAT{}, models.Preparation{Features: columns.Scaling{Form: columns.Standard}}, columns.Roles{})
	whole, err := p.Embed(s.raw(false), models.Query{Plan: models.Whole})
	if err != nil || whole.Rows.Dim(0) != 80 || whole.Rows.Dim(1) != 64 {
		t.Fatalf("%v, error %v", whole, err)
	}
	few, err := p.Embed(s.raw(false), models.Query{IDs: []string{"C00017", "C00003"}})
	if err != nil || !slices.Equal(few.IDs, []string{"C00017", "C00003"}) || !slices.Equal(few.Rows.Row(0), whole.Rows.Row(17)) || !slices.Equal(few.Rows.Row(1), whole.Rows.Row(3)) {
		t.Errorf("%v, error %v", few, err)
	}
	coded := columns.Roles{As: map[string]columns.Encoding{"region": columns.AsCode}}
	deep := trained(t, s.raw(false), models.GAT{Hidden: 2, Heads: 2, Layers: 2, Norm: models.NormBatch, Input: 4, ResidualLinear: true, Output: true}, models.Preparation{}, coded)
	for _, method := range []string{"attention", "saliency", "integrated", "gnnexplainer", "pg"} {
		for _, p := range []*models.Predictor{p, deep} {
			var told []int
			by := models.Method{Name: method, Epochs: 2, Progress: func(done, total int) { told = append(told, done, total) }}
			x, err := p.Explain(s.raw(false), "C00017", by, models.Query{})
			if err != nil {
				t.Fatal(err)
			}
			learns := map[string]int{"gnnexplainer": 100, "pg": 2}
			if n := learns[method]; len(told) != 2*n || n > 0 && !slices.Equal(told[:2], []int{1, n}) || n > 0 && !slices.Equal(told[2*n-2:], []int{n, n}) {
				t.Errorf("%s tells its progress %d times: %v", method, len(told)/2, told)
			}
			if x.IDs[x.Node] != "C00017" || len(x.Edges()) == 0 || !slices.Contains(x.Features, "age") || !slices.Contains(x.Features, "age=empty") {
				t.Errorf("%s: node %s, %d edges, features %q", method, x.IDs[x.Node], len(x.Edges()), x.Features)
			}
			a, err := p.Predict(s.raw(false), models.Query{IDs: []string{"C00017"}})
			if err != nil || int(a.Classes[0]) != x.Class || math.Abs(float64(a.Values.Row(0)[x.Class])-x.Probability()) > 1e-5 {
				t.Errorf("%s: class %d with probability %v, want %v, error %v", method, x.Class, x.Probability(), a, err)
			}
		}
	}
	for _, bad := range []struct {
		query models.Query
		says  string
	}{
		{models.Query{IDs: []string{"C00O17"}}, `there is no node with the id "C00O17"; is it "C00017"?`},
		{models.Query{Rows: []int32{80}}, "there is no row 80"},
		{models.Query{Plan: "half"}, `there is no plan "half"`},
		{models.Query{IDs: []string{"C00001"}, Rows: []int32{1}}, "leave one of the two out"},
	} {
		if _, err := p.Predict(s.raw(false), bad.query); err == nil || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("error %v, want one with %q", err, bad.says)
		}
	}
	raw := s.raw(false)
	raw.Nodes[0].Columns[1].Name = "years"
	if _, err := p.Predict(raw, models.Query{}); err == nil || !strings.Contains(err.Error(), `there is no column "age"`) || strings.Contains(err.Error(), "place") {
		t.Errorf("a renamed column: error %v", err)
	}
	if _, err := p.Predict(raw, models.Query{Base: s.raw(false)}); err == nil || !strings.Contains(err.Error(), `there is no column "age"`) {
		t.Errorf("a renamed column beside old rows: error %v", err)
	}
}

// The neighbourhood says of a node what the whole graph does, for every model, and a model that hears its neighbours depends on
// the weights of its edges.
func TestExplainedModels(t *testing.T) {
	s := newShop(1, 60)
	for _, m := range shopModels(t) {
		net, err := models.Named(strings.Fields(m.name)[0])
		if err != nil {
			t.Fatal(err)
		}
		p, raw := m.trained(t, s), s.rawOf(m.undirected, m.how)
		x, err := p.Explain(raw, "C00011", models.Method{Name: "saliency"}, models.Query{})
		if traits := models.TraitsOf(net); traits.Unmasked {
			if err == nil || !strings.Contains(err.Error(), "no edge can be left out alone") {
				t.Errorf("%s: error %v", m.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		a, err := p.Predict(raw, models.Query{IDs: []string{"C00011"}})
		if err != nil || int(a.Classes[0]) != x.Class || math.Abs(float64(a.Values.Row(0)[x.Class])-x.Probability()) > 1e-5 {
			t.Errorf("%s: class %d with probability %v, want %v, error %v", m.name, x.Class, x.Probability(), a, err)
		}
		hears := false
		for _, edge := range x.Edges() {
			hears = hears || x.Scores.Edges[edge] != 0
		}
		if hears == strings.HasPrefix(m.name, "mlp") {
			t.Errorf("%s: scores of edges: %v", m.name, hears)
		}
	}
}

// The predictor gives the rows that trained what the network gave them in training, but for rounding.
func TestServedAsTrained(t *testing.T) {
	s := newShop(1, 90)
	for _, m := range shopModels(t) {
		raw := s.rawOf(m.undirected, m.how)
		p := m.trained(t, s)
		d, err := datasets.From(raw, p.Schema)
		if err != nil {
			t.Fatal(err)
		}
		data, err := models.Prepare(d, &p.Preparation)
		if err != nil {
			t.Fatal(err)
		}
		net := p.Net.(*models.Network)
		want := net.Run(grad.NewEval(), data.All(net)).Value()
		a, err := p.Predict(raw, models.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range a.IDs {
			row := want.Row(slices.Index(d.NodeIDs, id))
			compare.Near(t, m.name+": "+id, a.Outputs.Row(i), row, compare.Off(1e-4, 1e-4))
		}
	}
}

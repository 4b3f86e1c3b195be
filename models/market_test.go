package models_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/models"
)

// market is members who buy at stalls and know each other, each a row of a table.
type market struct {
	members []customer
	stalls  []customer // of which the region and the age count
	buys    []payment  // from members to stalls
	knows   []payment  // among members
}

func newMarket(seed uint64, n int) market {
	rng := rand.New(rand.NewPCG(seed, 2))
	m := market{members: newShop(seed, n).customers}
	for i := range n / 4 {
		m.stalls = append(m.stalls, customer{id: fmt.Sprint("S", i), region: []string{"fish", "fruit"}[rng.IntN(2)], age: float64(rng.IntN(9))})
	}
	for i := range 2 * n {
		m.buys = append(m.buys, payment{fmt.Sprint("B", i), m.members[rng.IntN(n)].id, m.stalls[rng.IntN(n/4)].id, []string{"card", "cash"}[rng.IntN(2)], math.Round(rng.Float64()*100) / 10})
		m.knows = append(m.knows, payment{fmt.Sprint("K", i), m.members[rng.IntN(n)].id, m.members[rng.IntN(n)].id, []string{"kin", "friend", ""}[rng.IntN(3)], math.Round(rng.Float64()*100) / 10})
	}
	return m
}

func (m market) shuffled(rng *rand.Rand) market {
	a, b := shop{m.members, m.buys}.shuffled(rng), shop{m.stalls, m.knows}.shuffled(rng)
	return market{a.customers, b.customers, a.payments, b.payments}
}

// raw has two types of nodes and two kinds of edges, with weights if they are asked for.
func (m market) raw(weights bool) *form.Raw {
	raw := &form.Raw{Name: "market"}
	at := map[string]map[string]int32{}
	for _, of := range []struct {
		kind string
		list []customer
	}{{"member", m.members}, {"stall", m.stalls}} {
		n := form.Nodes{Type: of.kind, Listed: len(of.list)}
		n.IDs, n.Origin, n.Rows = &form.Words{}, form.Origin{File: of.kind + "s.csv", First: 2}, len(of.list)
		var region, churned, part []string
		var age []float64
		at[of.kind] = map[string]int32{}
		for i, c := range of.list {
			at[of.kind][c.id] = int32(i)
			n.IDs.Texts = append(n.IDs.Texts, c.id)
			region, churned, part, age = append(region, c.region), append(churned, c.churned), append(part, c.part), append(age, c.age)
		}
		n.Columns = []form.Column{{Name: "region", Type: form.Word, Words: words(region)}, {Name: "age", Type: form.Number, Numbers: age}}
		if of.kind == "member" {
			n.Columns = append(n.Columns, form.Column{Name: "churned", Type: form.Word, Words: words(churned)}, form.Column{Name: "split", Type: form.Word, Words: words(part)})
		}
		raw.Nodes = append(raw.Nodes, n)
	}
	for _, of := range []struct {
		kind, to string
		list     []payment
	}{{"buys", "stall", m.buys}, {"knows", "member", m.knows}} {
		e := form.Edges{Kind: of.kind, From: "member", To: of.to}
		e.IDs, e.Origin, e.Rows = &form.Words{}, form.Origin{File: of.kind + ".csv", First: 2}, len(of.list)
		var how []string
		var amount []float64
		for _, p := range of.list {
			e.IDs.Texts = append(e.IDs.Texts, p.id)
			e.Source, e.Target = append(e.Source, at["member"][p.from]), append(e.Target, at[of.to][p.to])
			how, amount = append(how, p.how), append(amount, p.amount)
		}
		name := "amount"
		if weights {
			name = "weight"
		}
		e.Columns = []form.Column{{Name: "how", Type: form.Word, Words: words(how)}, {Name: name, Type: form.Number, Numbers: amount}}
		raw.Edges = append(raw.Edges, e)
	}
	return raw
}

// Rows of several types, on edges of several kinds, with weights, in both directions and repeated in each way, get the same answers in any
// order, alone, by either plan and as rows that are new.
func TestMarketInAnyCompany(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	all := []columns.Repeated{columns.First, columns.Keep, columns.Sum, columns.Count}
	for i, name := range models.Names() {
		for k := range marketWays {
			model, err := models.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			weights, undirected := (i+k)%2 == 0, k >= 1
			roles := columns.Roles{Label: []string{"churned"}, Repeated: all[(i+k)%4], Undirected: undirected}
			name := fmt.Sprintf("%s, weights %v, undirected %v, repeated %s", name, weights, undirected, roles.Repeated)
			m := newMarket(uint64(i+1), 48)
			p := trained(t, m.raw(weights), model, models.Preparation{Features: columns.Scaling{Form: columns.Standard}, Edges: columns.Scaling{Form: columns.Standard}}, roles)
			want := scores(t, p, m.raw(weights), models.Query{Plan: models.Whole})
			check := func(what string, got map[string][]float64) {
				t.Helper()
				for id, row := range got {
					if !slices.Equal(row, want[id]) {
						t.Errorf("%s, %s: %s has %v, want %v", name, what, id, row, want[id])
						return
					}
				}
			}
			check("in another order", scores(t, p, m.shuffled(rng).raw(weights), models.Query{}))
			if models.TraitsOf(model).Whole == "" {
				check("few", scores(t, p, m.shuffled(rng).raw(weights), models.Query{IDs: []string{m.members[rng.IntN(48)].id, m.stalls[rng.IntN(12)].id}}))
				check("neighbourhoods", scores(t, p, m.raw(weights), models.Query{Plan: models.Neighbourhoods, Batch: 5}))
			}
			// the last member is new, with the edges that have it as an end
			last, old, next := m.members[47], m, market{members: m.members[47:]}
			old.members = m.members[:47]
			mine := func(p payment) bool { return p.from == last.id || p.to == last.id }
			old.buys, old.knows = slices.DeleteFunc(slices.Clone(m.buys), mine), slices.DeleteFunc(slices.Clone(m.knows), mine)
			next.members = slices.Clone(next.members)
			next.buys = slices.DeleteFunc(slices.Clone(m.buys), func(p payment) bool { return !mine(p) })
			next.knows = slices.DeleteFunc(slices.Clone(m.knows), func(p payment) bool { return !mine(p) })
			raw := next.withEnds(m).raw(weights)
			raw.Nodes[0].Listed, raw.Nodes[1].Listed = 1, 0
			got := scores(t, p, raw, models.Query{Base: old.raw(weights)})
			if len(got) != 1 {
				t.Errorf("%s: %d new rows are answered", name, len(got))
			}
			if models.TraitsOf(model).Title != "GPS" {
				check("as a new row", got)
			}
		}
	}
}

// marketWays is in how many ways each model is tried.
const marketWays = 2

// withEnds returns a market with the rows of all to which its edges lead, without what they say.
func (m market) withEnds(all market) market {
	has := map[string]bool{}
	for _, c := range m.members {
		has[c.id] = true
	}
	for _, p := range slices.Concat(m.buys, m.knows) {
		for _, id := range []string{p.from, p.to} {
			if is := func(c customer) bool { return c.id == id }; !has[id] {
				has[id] = true
				if slices.ContainsFunc(all.members, is) {
					m.members = append(m.members, customer{id: id, age: math.NaN()})
				} else {
					m.stalls = append(m.stalls, customer{id: id, age: math.NaN()})
				}
			}
		}
	}
	return m
}

// What is known of the answers does not matter, beside old rows or not; data without edges are a warning.
func TestWarnings(t *testing.T) {
	s := newShop(2, 60)
	p := trained(t, s.raw(false), models.SAGE{}, models.Preparation{}, columns.Roles{})
	next := shop{customers: []customer{{id: "N1", region: "north", age: 30, churned: "perhaps", part: "some day"}, {id: "N2", region: "south", age: 40}}}
	alone := next.raw(false)
	next.payments = []payment{{"P", "N1", s.customers[3].id, "card", 4}}
	for _, q := range []models.Query{{}, {Base: s.raw(false)}} {
		for _, raw := range []*form.Raw{alone, next.raw(false)} {
			if q.Base == nil && raw != alone { // its edge leads nowhere
				continue
			}
			a, err := p.Predict(raw, q)
			if err != nil {
				t.Fatal(err)
			}
			if text := fmt.Sprint(a.Warnings); !strings.Contains(text, `no class of the model's 2, such as "perhaps"`) {
				t.Errorf("beside old rows %v: warnings %s", q.Base != nil, text)
			}
			lonely := slices.Contains(a.Warnings, "shop has no edges, and the model was trained with them: 2 rows are seen each by itself")
			if lonely != (raw == alone) {
				t.Errorf("%d edges, warnings %q", len(raw.Edges[0].Source), a.Warnings)
			}
		}
	}
	p = trained(t, s.raw(false), models.MLP{}, models.Preparation{}, columns.Roles{})
	if a, err := p.Predict(shop{customers: s.customers}.raw(false), models.Query{}); err != nil || strings.Contains(fmt.Sprint(a.Warnings), "no edges") {
		t.Errorf("a model that reads no edges warns, or error %v", err)
	}
}

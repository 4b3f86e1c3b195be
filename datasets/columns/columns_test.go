package columns

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

var nan = math.NaN()

func numbered(name string, x ...float64) form.Column {
	return form.Column{Name: name, Type: form.Number, Numbers: x}
}

func worded(name string, cells ...string) form.Column {
	c := form.Column{Name: name, Type: form.Word, Words: &form.Words{Codes: make([]int32, len(cells))}}
	of := map[string]int32{}
	for i, text := range cells {
		if c.Words.Codes[i] = -1; text == "" {
			continue
		}
		if _, known := of[text]; !known {
			of[text] = int32(len(of))
			c.Words.Texts = append(c.Words.Texts, text)
		}
		c.Words.Codes[i] = of[text]
	}
	return c
}

func dated(name string, days ...int64) form.Column {
	c := form.Column{Name: name, Type: form.Time, Dated: true}
	for _, d := range days {
		if d != form.NoTime {
			d *= day
		}
		c.Times = append(c.Times, d)
	}
	return c
}

// tableOf is a table of a file whose first row is in line 2.
func tableOf(file string, rows int, columns ...form.Column) form.Table {
	return form.Table{Rows: rows, Columns: columns, Origin: form.Origin{File: "shop/" + file, First: 2}}
}

// shop is a table of nodes with edges between them.
func shop(rows int, columns ...form.Column) *form.Raw {
	return &form.Raw{
		Name: "shop", Nodes: []form.Nodes{{Table: tableOf("shop_nodes.csv", rows, columns...), Listed: rows}},
		Edges: []form.Edges{{Table: tableOf("shop_edges.csv", 1, numbered("orders", 3)), Source: []int32{0}, Target: []int32{1}}},
	}
}

func fitted(t *testing.T, raw *form.Raw, r Roles, train Rows) *Schema {
	t.Helper()
	s, err := Choose(raw, r)
	if err == nil {
		err = s.Fit(raw, train)
	}
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func dense(x tensor.Array) []tensor.Float {
	if a, ok := x.(*sparse.CSR); ok {
		return a.Dense().Data
	}
	return x.(*tensor.Dense).Data
}

// customers are five rows, of which the first three train.
func customers() *form.Raw {
	return shop(5,
		numbered("age", 41, nan, 20, 90, nan),
		worded("town", "Turku", "Oulu", "007", "Rome", ""),
		dated("joined", 10, 12, 11, 9, form.NoTime),
		numbered("seen_at", 1<<25, 1<<25+1, 1<<25+3, 1<<25-1, nan),
		worded("email", "a", "b", "c", "d", "e"),
		worded("churned", "yes", "no", "", "perhaps", "no"),
		worded("split", "train", "train", "train", "val", "test"))
}

// What is learnt comes from the rows that train, but for the classes, and survives JSON to the bit.
func TestFit(t *testing.T) {
	raw := customers()
	s := fitted(t, raw, Roles{Label: []string{"churned"}, As: map[string]Encoding{"email": Left}}, Rows{Nodes: []int32{0, 1, 2}})
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	again := new(Schema)
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatal(err)
	}
	if twice, err := json.Marshal(again); err != nil || string(twice) != string(text) {
		t.Fatalf("%s\nis read as %s, %v", text, twice, err)
	}
	a, err := again.Apply(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(a.Names), "[age age=empty town=7 town=Oulu town=Turku joined seen_at]"; got != want {
		t.Errorf("features %s, want %s", got, want)
	}
	// The median of 41 and 20 is 30.5, as is their mean; of the days 10, 12 and 11 it is 11; seen_at is beyond what float32 tells apart.
	day, at := math.Sqrt(2./3), func(v float64) tensor.Float { return tensor.Float((v - 4./3) / math.Sqrt(14./9)) }
	second, third, early := tensor.Float(1/day), tensor.Float(-1/day), tensor.Float(-2/day)
	want := []tensor.Float{
		1, 0, 0, 0, 1, third, at(0),
		0, 1, 0, 1, 0, second, at(1),
		-1, 0, 1, 0, 0, 0, at(3),
		tensor.Float(59.5 / 10.5), 0, 0, 0, 0, early, at(-1),
		0, 1, 0, 0, 0, 0, at(1),
	}
	got := dense(a.Features)
	for i, v := range got { // the mean of numbers so large is known to 1e-8 of itself
		if i%7 == 6 && math.Abs(float64(v-want[i])) < 1e-6 {
			got[i] = want[i]
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("features\n%v, want\n%v", got, want)
	}
	if got := fmt.Sprint(a.Answers.Labels, a.Answers.Names, a.EdgeFeatures.Data, a.EdgeNames); got != "[2 0 -1 1 0] [no perhaps yes] [0] [orders]" {
		t.Errorf("answers %s", got)
	}
	if got := fmt.Sprint(*a.Split); got != "{ node [0 1 2] [3] [4]}" {
		t.Errorf("split %s", got)
	}
	if got, want := strings.Join(a.Warnings, "\n"), `1 cell of column "town" (shop_nodes.csv) has a word that the model has not seen, such as "Rome" in line 5: it counts as none of its 3 words
1 cell of column "joined" (shop_nodes.csv) is empty, the first in line 6: it counts as 1970-01-12, the median of the rows that train
1 cell of column "seen_at" (shop_nodes.csv) is empty, the first in line 6: it counts as 33554433, the median of the rows that train`; got != want {
		t.Errorf("warnings\n%s, want\n%s", got, want)
	}
}

// A row becomes the same features in any company, with its columns in any order and others beside them.
func TestAnyCompany(t *testing.T) {
	raw := customers()
	s := fitted(t, raw, Roles{Label: []string{"churned"}, As: map[string]Encoding{"email": Left}}, Rows{Nodes: []int32{0, 1, 2}})
	a, err := s.Apply(raw)
	if err != nil {
		t.Fatal(err)
	}
	for row := range int32(5) {
		table := raw.Nodes[0].Gather([]int32{row})
		table.Columns = append([]form.Column{worded("colour", "red")}, table.Columns...)
		for i := len(table.Columns)/2 - 1; i >= 0; i-- {
			k := len(table.Columns) - 1 - i
			table.Columns[i], table.Columns[k] = table.Columns[k], table.Columns[i]
		}
		if row == 2 { // alone, 007 is a number
			*table.Column("town") = numbered("town", 7)
		}
		one := &form.Raw{Nodes: []form.Nodes{{Table: table, Listed: 1}}}
		b, err := s.Apply(one)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := dense(b.Features), dense(a.Features)[7*row:7*row+7]; !reflect.DeepEqual(got, want) {
			t.Errorf("row %d alone is %v, want %v", row, got, want)
		}
		if !strings.Contains(strings.Join(b.Warnings, "\n"), `column "colour" (shop_nodes.csv) is not read: the model does not know it`) {
			t.Errorf("warnings %q", b.Warnings)
		}
		if b.Answers.Labels[0] != a.Answers.Labels[row] {
			t.Errorf("row %d alone has the label %d, want %d", row, b.Answers.Labels[0], a.Answers.Labels[row])
		}
	}
}

// Data of another kind than the model's are an error that names both.
func TestOtherData(t *testing.T) {
	s := fitted(t, customers(), Roles{Label: []string{"churned"}, As: map[string]Encoding{"email": Left}}, Rows{})
	of := func(c ...form.Column) *form.Raw {
		raw := customers()
		columns := raw.Nodes[0].Columns
		for _, c := range c {
			*raw.Nodes[0].Column(c.Name) = c
		}
		raw.Nodes[0].Columns = columns
		return raw
	}
	renamed := customers()
	renamed.Nodes[0].Columns[1].Name = "Towns"
	alike := customers()
	alike.Nodes[0].Columns[0].Name = "Age"
	alike.Nodes[0].Columns = append(alike.Nodes[0].Columns, numbered("AGE", 1, 2, 3, 4, 5))
	many := shop(12, worded("town", strings.Split("abcdefghijkl", "")...), numbered("age", make([]float64, 12)...), dated("joined", make([]int64, 12)...), numbered("seen_at", make([]float64, 12)...))
	foreign := customers()
	foreign.Nodes = append(foreign.Nodes, form.Nodes{Type: "shop", Table: tableOf("shops.csv", 1)})
	edges := customers()
	edges.Edges = append(edges.Edges, form.Edges{Kind: "owes", Table: tableOf("owes.csv", 0)})
	for want, raw := range map[string]*form.Raw{
		`shop/shop_nodes.csv: there is no column "town", which the model reads as a category of 4 words (is "Towns" meant?); there are "age", "Towns", "joined"`:                                    renamed,
		`shop/shop_nodes.csv: line 2, column "age": "old" stands there, and the column has words; the model reads it as a number: write digits and a dot alone, as 1041.5, or leave the cell empty`: of(worded("age", "old", "2", "3", "4", "5")),
		`shop/shop_nodes.csv: line 2, column "age": "1970-01-02" stands there, and the column has times; the model reads it as a number`:                                                            of(dated("age", 1, 2, 3, 4, 5)),
		`shop/shop_nodes.csv: line 2, column "joined": "5" stands there, and the column has numbers; the model reads it as a time`:                                                                  of(numbered("joined", 5, 6, 7, 8, 9)),
		`shop/shop_nodes.csv: line 4, column "joined": "03.05.2024" stands there, and the column has words; the model reads it as a time: write times like`:                                         of(worded("joined", "2024-05-01", "2024-05-02T10:00:00+02:00", "03.05.2024", "2024-05-04", "")),
		`shop/shop_nodes.csv: line 3, column "joined": "1716076800" stands there, and the column has words`:                                                                                         of(worded("joined", "2024-05-01", "1716076800", "20240503", "2024-05-04", "")),
		`shop/shop_nodes.csv: the columns "Age" and "AGE" may both be the column "age", which the model reads as a number: give one another name`:                                                   alike,
		`shop/shop_nodes.csv: the column "age" has 2 numbers a row; the model reads it as a number`:                                                                                                 of(form.Column{Name: "age", Type: form.Many, Matrix: &form.Matrix{Rows: 5, Cols: 2, Values: make([]tensor.Float, 10)}}),
		`shop/shop_nodes.csv: line 2, column "town": "a" and all other 11 words of the column are new to the model, which knows "7", "Oulu", "Rome", "Turku"`:                                       many,
		`shop/shops.csv: nodes of type "shop" are not known: the model knows ""`:                                                                                                                    foreign,
		`shop/owes.csv: edges of kind "owes" are not known: the model knows ""`:                                                                                                                     edges,
		`shop/shop_nodes.csv: line 4, column "age": +Inf is no finite number, as features are`:                                                                                                      of(numbered("age", 1, 2, math.Inf(1), 4, 5)),
	} {
		if _, err := s.Apply(raw); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// What cannot be chosen is an error that lists the columns there are, or says which flag mends it.
func TestNotChosen(t *testing.T) {
	mixed := customers()
	mixed.Nodes[0].Columns[1].Mixed = errors.New(`shop_nodes.csv: line 4, column "town": "50%" is a number written for people: write digits and a dot alone, as 1041.5, or leave the column out`)
	twice := customers()
	twice.Nodes[0].Columns[1].Name = "age"
	for want, c := range map[string]struct {
		raw *form.Raw
		r   Roles
	}{
		`shop/shop_nodes.csv: there is no column "churn" (is "churned" meant?); there are "age", "town"`:                                                                    {customers(), Roles{Label: []string{"churn"}}},
		`shop/shop_nodes.csv: the column "id" says which row is which; it is neither learnt nor a feature`:                                                                  {customers(), Roles{Label: []string{"id"}}},
		`shop/shop_nodes.csv: the columns "age", "orders" are of nodes and of edges: one of these is learnt`:                                                                {customers(), Roles{Label: []string{"age", "orders"}}},
		`shop/shop_nodes.csv: line 2, column "town": "Turku" is no number: leave the column out, --column town=none, or choose another form, as --column town=category`:     {customers(), Roles{As: map[string]Encoding{"town": AsNumber}}},
		`column "age": "logs" is nothing that a column may become: want number, plain, log, category, code, time, text or none`:                                             {customers(), Roles{As: map[string]Encoding{"age": "logs"}}},
		`shop_nodes.csv: line 4, column "town": "50%" is a number written for people: write digits and a dot alone, as 1041.5, or leave the column out, --column town=none`: {mixed, Roles{}},
		`shop/shop_nodes.csv: the column "age" stands there twice: give one another name`:                                                                                   {twice, Roles{}},
		`"once" says nothing of repeated edges: want first, keep, sum or count`:                                                                                             {customers(), Roles{Repeated: "once"}},
	} {
		if _, err := Choose(c.raw, c.r); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Features of several types of nodes are columns of their own, and the types are the kinds.
func TestSeveralTypes(t *testing.T) {
	raw := &form.Raw{
		Nodes: []form.Nodes{
			{Type: "customer", Table: tableOf("customers.csv", 2, numbered("age", 30, 40))},
			{Type: "product", Table: tableOf("products.csv", 1, numbered("age", 7), worded("colour", "red"))},
			{Type: "shop", Table: tableOf("shops.csv", 1)},
		},
		Edges: []form.Edges{
			{Kind: "buys", From: "customer", To: "product", Table: tableOf("buys.csv", 1, numbered("weight", 2)), Source: []int32{0}, Target: []int32{0}},
			{Kind: "in", From: "product", To: "shop", Table: tableOf("in.csv", 1, worded("floor", "first")), Source: []int32{0}, Target: []int32{0}},
		},
	}
	s := fitted(t, raw, Roles{}, Rows{})
	for range 2 {
		a, err := s.Apply(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(a.Names, *a.NodeKinds, *a.EdgeKinds, a.Weights, a.EdgeNames, a.EdgeFeatures.Data); got != "[customer.age product.age product.colour=red shop] {[customer product shop] [0 0 1 2]} {[buys in] [0 1]} [2 1] [in.floor=first] [0 1]" {
			t.Error(got)
		}
		if got := dense(a.Features); !reflect.DeepEqual(got, []tensor.Float{-1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}) {
			t.Errorf("features %v", got)
		}
	}
	raw.Edges = raw.Edges[1:]
	raw.Nodes[0], raw.Nodes[1] = raw.Nodes[1], raw.Nodes[0]
	a, err := s.Apply(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(dense(a.Features), *a.NodeKinds, *a.EdgeKinds); got != "[0 0 1 0 -1 0 0 0 1 0 0 0 0 0 0 1] {[customer product shop] [1 0 0 2]} {[buys in] [1]}" {
		t.Errorf("in another order %s", got)
	}
}

// Nodes without columns are known by themselves, and others are an error.
func TestNodesWithoutColumns(t *testing.T) {
	raw := shop(3)
	raw.Nodes[0].IDs = worded("", "a", "b", "c").Words
	s := fitted(t, raw, Roles{}, Rows{})
	if a, err := s.Apply(raw); err != nil || !reflect.DeepEqual(dense(a.Features), []tensor.Float{1, 0, 0, 0, 1, 0, 0, 0, 1}) {
		t.Errorf("%v", err)
	}
	for _, ids := range [][]string{{"a", "b", "d"}, {"a", "c", "b"}, {"a", "b"}} {
		other := shop(len(ids))
		other.Nodes[0].IDs = worded("", ids...).Words
		if _, err := s.Apply(other); err == nil || !strings.Contains(err.Error(), "each of the 3 nodes that the model was fitted on has a feature of its own") {
			t.Errorf("%q: %v", ids, err)
		}
	}
}

// What is learnt follows from the cells.
func TestAnswers(t *testing.T) {
	truth := numbered("y", 1, 0, nan, 1)
	truth.Truth = true
	ordered := worded("y", "b", "a", "", "b")
	ordered.Words.Ordered = true
	role := func(c form.Column, r form.Role) form.Column { c.Role = r; return c }
	for want, c := range map[string]form.Column{
		"class [1 0 -1 1] 2 []":           numbered("y", 1, 0, nan, 1),
		"class [1 0 -1 -1] 2 [3 7]":       numbered("y", 7, 3, nan, -1),
		"class [1 0 -1 1] 2 [false true]": truth,
		"class [0 1 -1 0] 2 [b a]":        ordered,
		"class [1 0 -1 1] 2 [a b]":        worded("y", "b", "a", "", "b"),
		"class [1 0 -1 1] 2 [NA yes]":     worded("y", "yes", "NA", "", "yes"),
		"class [1 0 -1 -1] 2 []":          worded("y", "1", "0", "", "NA"),
		"class [2 0 -1 2] 3 []":           func() form.Column { c := role(numbered("y", 2, 0, -1, 2), form.AsLabel); c.Classes = 3; return c }(),
		"class [-1 -1 -1 -1] 0 []":        {Name: "y", Type: form.Empty},
		"numbers [0.5 -1 NaN 3]":          numbered("y", 0.5, -1, nan, 3),
		"numbers [1 2 NaN 0]":             role(numbered("y", 1, 2, nan, 0), form.AsTarget),
	} {
		raw := shop(4, c)
		s := fitted(t, raw, Roles{}, Rows{Nodes: []int32{1}})
		a, err := s.Apply(raw)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		got := fmt.Sprint(s.Label.Kind, " ", a.Answers.Labels, " ", a.Answers.Classes, " ", a.Answers.Names)
		if a.Answers.Targets != nil {
			got = fmt.Sprint(s.Label.Kind, " ", a.Answers.Targets.Data)
		}
		if got != want || len(a.Warnings) > 0 {
			t.Errorf("%s, want %s; warnings %q", got, want, a.Warnings)
		}
	}
	s := fitted(t, shop(3, worded("y", "b", "a", "c"), numbered("x", 1, 2, 3)), Roles{}, Rows{})
	a, err := s.Apply(shop(2, worded("y", "c", "d"), numbered("x", 1, 2)))
	if err != nil || fmt.Sprint(a.Answers.Labels) != "[2 -1]" || fmt.Sprint(a.Warnings) != `[1 cell of column "y" (shop_nodes.csv) is no class of the model's 3, such as "d" in line 3: it counts as not known]` {
		t.Errorf("%v, %q, %v", a.Answers, a.Warnings, err)
	}
	if a, err = s.Apply(shop(2, numbered("x", 1, 2))); err != nil || a.Answers != nil {
		t.Errorf("without labels: %v, %v", a, err)
	}
	s = fitted(t, shop(2, numbered("p", 1, nan), numbered("q", 0, 1)), Roles{Label: []string{"p", "q"}}, Rows{})
	if a, err = s.Apply(shop(2, numbered("p", 1, nan), numbered("q", 0, 1))); err != nil || a.Answers == nil || fmt.Sprint(a.Answers.Several.Dense().Data, a.Answers.Names) != "[1 0 NaN 1] [p q]" {
		t.Errorf("several: %v, %v", a, err)
	}
}

// A Schema that cannot have been fitted is refused.
func TestSchemaThatLies(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	for want, lie := range map[string]func(s *Schema){
		`0 types of nodes`:                                 func(s *Schema) { s.Nodes = nil },
		`the column "age" stands there twice`:              func(s *Schema) { s.Nodes[0].Columns[1].Name = "age" },
		`an empty cell is NaN`:                             func(s *Schema) { s.Nodes[0].Columns[0].Fill = number(nan) },
		`nothing says what an empty cell is`:               func(s *Schema) { s.Nodes[0].Columns[0].Fill = nil },
		`word 1, "Oulu", is empty, too long, or not after`: func(s *Schema) { s.Nodes[0].Columns[1].Words = []string{"Oulu", "Oulu"} },
		`it is a number, and has words`:                    func(s *Schema) { s.Nodes[0].Columns[0].Words = []string{"a"} },
		`-1 numbers a row`:                                 func(s *Schema) { s.Nodes[0].Columns[0] = Column{Name: "x", Type: form.Many, As: AsMatrix, Width: -1} },
		`more than 268435456 features`: func(s *Schema) {
			s.Nodes[0].Columns[0] = Column{Name: "x", Type: form.Many, As: AsMatrix, Width: 1 << 28}
		},
		`"lots" is no type of cells`:                   func(s *Schema) { s.Nodes[0].Columns[0].Type = "lots" },
		`"logs" is nothing that a column becomes`:      func(s *Schema) { s.Nodes[0].Columns[0] = Column{Name: "x", Type: form.Number, As: "logs"} },
		`the mean is NaN and the standard deviation 1`: func(s *Schema) { s.Nodes[0].Columns[0].Scale = &Scale{nan, 1} },
		`the mean is 1 and the standard deviation -1`:  func(s *Schema) { s.Nodes[0].Columns[0].Scale = &Scale{1, -1} },
		`it is a category, and has a scale`:            func(s *Schema) { s.Nodes[0].Columns[1].Scale = &Scale{1, 1} },
		`it is a number, and has cycles`:               func(s *Schema) { s.Nodes[0].Columns[0].Cycles = []Cycle{Day} },
		`"month" is no cycle`:                          func(s *Schema) { s.Nodes[0].Columns[2].Cycles = []Cycle{"month"} },
		`"day" is no cycle, or stands there twice`:     func(s *Schema) { s.Nodes[0].Columns[2].Cycles = []Cycle{Day, Day} },
		`words have 1073741824 hashes`: func(s *Schema) {
			s.Nodes[0].Columns[0] = Column{Name: "x", Type: form.Word, As: AsText, Width: 1 << 30}
		},
		`words have 0 hashes`: func(s *Schema) { s.Nodes[0].Columns[0] = Column{Name: "x", Type: form.Word, As: AsText} },
		`hash 1 is 3 of 4, or not after the one before`: func(s *Schema) {
			s.Nodes[0].Columns[0] = Column{Name: "x", Type: form.Word, As: AsText, Width: 4, Hashes: []int32{3, 3}, Names: []string{"a", "b"}, Weights: []float64{1, 1}}
		},
		`the weight of hash 0 is -1`: func(s *Schema) {
			s.Nodes[0].Columns[0] = Column{Name: "x", Type: form.Word, As: AsText, Width: 4, Hashes: []int32{3}, Names: []string{"a"}, Weights: []float64{-1}}
		},
		`1 weights and 2 names of 1 hashes`: func(s *Schema) {
			s.Nodes[0].Columns[0] = Column{Name: "x", Type: form.Word, As: AsText, Width: 4, Hashes: []int32{3}, Names: []string{"a", "b"}, Weights: []float64{1}}
		},
		`edges of kind "" from "a" to "": there is no type`: func(s *Schema) { s.Edges[0].From = "a" },
		`2 names of 3 classes`:                              func(s *Schema) { s.Label.Classes = s.Label.Classes[:2] },
		`-3 classes`:                                        func(s *Schema) { s.Label.Count, s.Label.Classes = -3, nil },
		`"planet" is nothing to learn from`:                 func(s *Schema) { s.Label.Of = "planet" },
		`"yes" is nothing to learn`:                         func(s *Schema) { s.Label.Kind = "yes" },
		`name 1 of the classes, "no", stands there twice`:   func(s *Schema) { s.Label.Classes = []string{"no", "no", "yes"} },
		`-5 nodes with a feature of their own`:              func(s *Schema) { s.Nodes[0].Count = -5 },
		`"twice" says nothing of repeated edges`:            func(s *Schema) { s.Repeated = "twice" },
		`2 kinds, and no column says which a row is of`:     func(s *Schema) { s.Nodes[0].Kinds = []string{"a", "b"} },
	} {
		s := fitted(t, customers(), Roles{Label: []string{"churned"}, As: map[string]Encoding{"email": Left}}, Rows{})
		lie(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// A Schema that could have been fitted, on other data, takes no room for what it says alone.
func TestSchemaOfOtherData(t *testing.T) {
	for want, lie := range map[string]func(s *Schema){
		"the column \"churned\" has one value a row, and the model learnt 268435456 of each": func(s *Schema) {
			s.Label.Kind, s.Label.Classes, s.Label.Count = Numbers, nil, 1<<28
		},
		"the column \"age\" has one value a row, and the model learnt 2 of each": func(s *Schema) {
			s.Label = &Label{Of: form.OfNodes, Columns: []string{"age"}, Kind: Labels, Count: 2}
		},
		"there is no column \"x\", which the model reads as 268435455 numbers a row": func(s *Schema) {
			s.Edges[0].Columns = []Column{{Name: "x", Type: form.Many, As: AsMatrix, Width: 1<<28 - 1}}
		},
	} {
		s := fitted(t, customers(), Roles{Label: []string{"churned"}, As: map[string]Encoding{"email": Left}}, Rows{})
		lie(s)
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		if _, err := s.Apply(customers()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	s, err := Choose(customers(), Roles{})
	if err != nil {
		t.Fatal(err)
	}
	raw := customers()
	*raw.Nodes[0].Column("age") = worded("age", "a", "b", "c", "d", "e")
	if err := s.Fit(raw, Rows{}); err == nil || !strings.Contains(err.Error(), `"a" stands there, and the column has words; the model reads it as a number`) {
		t.Errorf("fitted on other data: %v", err)
	}
}

package models_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/models"
)

// What is wrong with the rows to score is a sentence that names file, row, column and value; what may be meant is answered, and warned of
// with its number of cells.
func TestBadRows(t *testing.T) {
	old, next := sheetsOf(t, "../datasets/testdata"), sheetsOf(t, "../datasets/testdata/tomorrow")
	base := old.raw(t, ".csv", commas)
	p := trained(t, base, models.GAT{Hidden: 2, Heads: 1}, models.Preparation{}, columns.Roles{Label: []string{"churned"}, As: map[string]columns.Encoding{"email": columns.Left}, Undirected: true})
	answer := func(s sheets, change func(text string) string) (*models.Answers, error) {
		raw, err := form.ReadFS(fstest.MapFS{"shop_nodes.csv": {Data: []byte(change(commas(s.nodes)))}, "shop_edges.csv": {Data: []byte(commas(s.edges))}}, ".", form.Options{})
		if err != nil {
			return nil, err
		}
		return p.Predict(raw, models.Query{Base: base})
	}
	asIs := func(text string) string { return text }
	each := func(column string, texts ...string) func(s *sheets) {
		return func(s *sheets) {
			for i, text := range texts {
				s.cell(s.nodes[1+i][0], column, text)
			}
		}
	}
	all := func(column, text string) func(s *sheets) {
		return each(column, text, text, text, text, text, text)
	}
	long := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		do     func(s *sheets)
		change func(text string) string
		fails  string // what the error says; empty: there is none
		warns  string
	}{
		"a column twice":         {change: strings.NewReplacer("age", "town").Replace, fails: `shop_nodes.csv: line 1: the columns 2 and 3 are both called "town": rename one of them`},
		"a column renamed":       {change: strings.NewReplacer(",age,", ",Ages,").Replace, fails: `shop_nodes.csv: there is no column "age", which the model reads as a number (is "Ages" meant?); there are "town", "Ages"`},
		"a column of words":      {do: all("age", "old"), fails: `shop_nodes.csv: line 2, column "age": "old" stands there, and the column has words; the model reads it as a number: write digits`},
		"a word among numbers":   {do: each("age", "3", "7", "3,5"), fails: `shop_nodes.csv: line 4, column "age": "3,5" stands there`},
		"a number too large":     {do: each("age", "3", "1e400"), fails: `shop_nodes.csv: line 3, column "age": +Inf is no finite number`},
		"an empty number":        {do: each("age", ""), warns: `1 cell of column "age" (shop_nodes.csv) is empty, the first in line 2: it counts as`},
		"words of another table": {do: all("town", "Nuuk"), warns: `6 cells of column "town" (shop_nodes.csv) have words that the model has not seen, such as "Nuuk" in line 2`},
		"five forms of dates":    {do: each("joined", "2024-11-02", "2024-11-02T09:12:00Z", "02.11.2024", "1730541120", "20241102"), fails: `shop_nodes.csv: line 4, column "joined": "02.11.2024" stands there, and the column has words; the model reads it as a time: write times like 2024-03-01T12:30:00Z`},
		"time zones":             {do: each("joined", "2024-11-02T11:12:00+02:00", "2024-11-02T05:40:00-05:00")},
		"a zone by name":         {do: each("joined", "2024-11-02T09:12:00 CET"), fails: `shop_nodes.csv: line 2, column "joined": "2024-11-02T09:12:00 CET" stands there`},
		"a word of 1 MB":         {do: each("town", long), warns: `such as "` + strings.Repeat("x", 40) + `" in line 2`},
		"a number of 1 MB":       {do: each("age", strings.Repeat("9", 1<<20)), fails: `shop_nodes.csv: line 2, column "age": +Inf is no finite number`},
		"an id of 1 MB":          {do: func(s *sheets) { s.nodes[6][0] = long }, fails: `shop_edges.csv: line 7: node "c245" is not in shop_nodes.csv: add it there`},
		"Latin-1":                {change: strings.NewReplacer("Bergen", "Malm\xf6").Replace, fails: `shop_nodes.csv: line 3: byte 10, 0xf6 after "c241,Malm", is not UTF-8 but Latin-1 or Windows-1252 perhaps: save it as UTF-8`},
		"an id twice":            {do: func(s *sheets) { s.nodes[2][0] = "c240" }, fails: `shop_nodes.csv: line 3, column "id": node "c240" stands in line 2 already`},
		"an unknown end":         {do: func(s *sheets) { s.edges[3][0] = "c999" }, fails: `shop_edges.csv: line 4: node "c999" is not in shop_nodes.csv`},
	} {
		s := next.clone()
		if c.do != nil {
			c.do(&s)
		}
		if c.change == nil {
			c.change = asIs
		}
		a, err := answer(s, c.change)
		switch {
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails) || len(err.Error()) > 500):
			t.Errorf("%s: error %.600v, want %s", name, err, c.fails)
		case c.fails == "" && (err != nil || a.Len() != 6):
			t.Errorf("%s: %v, error %.600v", name, a, err)
		case c.warns != "" && !strings.Contains(strings.Join(a.Warnings, "\n"), c.warns):
			t.Errorf("%s: warnings %.600q, want %s", name, a.Warnings, c.warns)
		}
	}

	s := next.clone() // 12 rows and more that are all new are another column
	for i := range 6 {
		s.nodes = append(s.nodes, append([]string{fmt.Sprint("d", i)}, s.nodes[1][1:]...))
	}
	for i, row := range s.nodes[1:] {
		row[1] = fmt.Sprint("w", i)
	}
	s.edges = [][]string{s.edges[0], s.edges[4]} // of new rows alone
	raw := s.raw(t, ".csv", commas)
	const want = `shop_nodes.csv: line 2, column "town": "w0" and all other 11 words of the column are new to the model`
	if _, err := p.Predict(raw, models.Query{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	raw.Nodes[0].Type, raw.Edges[0].From, raw.Edges[0].To, raw.Edges[0].Kind = "guest", "guest", "guest", "knows"
	raw.Nodes = append(raw.Nodes, form.Nodes{Type: "room"})
	if _, err := p.Predict(raw, models.Query{}); err == nil || !strings.Contains(err.Error(), `nodes of type "guest" are not known`) {
		t.Errorf("types that the model does not know: error %v", err)
	}
}

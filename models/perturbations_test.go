package models_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/datasets/form/parquet"
	"github.com/edgewise-ml/edgewise/models"
)

// sheets are the two tables of a shop as their files have them. The first row of each has the names of the columns.
type sheets struct{ nodes, edges [][]string }

func sheetsOf(t *testing.T, folder string) (s sheets) {
	t.Helper()
	for name, rows := range map[string]*[][]string{"shop_nodes.csv": &s.nodes, "shop_edges.csv": &s.edges} {
		b, err := os.ReadFile(folder + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if *rows, err = csv.NewReader(bytes.NewReader(b)).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// and returns a shop that has the rows of another, too. A column that the other lacks is empty there.
func (s sheets) and(o sheets) sheets {
	out := s.clone()
	for _, row := range o.nodes[1:] {
		out.nodes = append(out.nodes, append(slices.Clone(row), make([]string, len(s.nodes[0])-len(row))...))
	}
	out.edges = append(out.edges, o.clone().edges[1:]...)
	return out
}

func (s sheets) clone() (out sheets) {
	for _, row := range s.nodes {
		out.nodes = append(out.nodes, slices.Clone(row))
	}
	for _, row := range s.edges {
		out.edges = append(out.edges, slices.Clone(row))
	}
	return out
}

// commas returns rows as CSV.
func commas(rows [][]string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.WriteAll(rows)
	return b.String()
}

// raw reads the tables from files of that ending, which hold what write makes of the rows.
func (s sheets) raw(t *testing.T, ending string, write func(rows [][]string) string) *form.Raw {
	t.Helper()
	raw, err := form.ReadFS(fstest.MapFS{"shop_nodes" + ending: {Data: []byte(write(s.nodes))}, "shop_edges" + ending: {Data: []byte(write(s.edges))}}, ".", form.Options{Others: []form.Form{parquet.Form}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// cell changes the cell of a customer.
func (s sheets) cell(id, column, text string) {
	row := slices.IndexFunc(s.nodes, func(r []string) bool { return r[0] == id })
	s.nodes[row][slices.Index(s.nodes[0], column)] = text
}

// add adds rows to a table so that the first of them stands at a place.
func add(rows *[][]string, at int, texts ...string) {
	for i, text := range texts {
		*rows = slices.Insert(*rows, at+i, strings.Split(text, ","))
	}
}

// beyond returns the customers who are farther than so many edges from those who are not the same in both shops: whose cells
// differ, whose edges differ, or who are in one alone.
func beyond(a, b sheets, hops int) map[string]bool {
	texts := func(s sheets) map[string]string {
		out, id := map[string]string{}, slices.Index(s.nodes[0], "id")
		for _, row := range s.nodes[1:] {
			for _, name := range a.nodes[0] {
				if name != "churned" && name != "split" {
					out[row[id]] += row[slices.Index(s.nodes[0], name)] + ","
				}
			}
		}
		var edges []string
		for _, row := range s.edges[1:] {
			from, to := row[slices.Index(s.edges[0], "source")], row[slices.Index(s.edges[0], "target")]
			edge := min(from, to) + "," + max(from, to)
			for _, name := range a.edges[0] {
				if name != "source" && name != "target" {
					edge += "," + row[slices.Index(s.edges[0], name)]
				}
			}
			edges = append(edges, edge)
		}
		slices.Sort(edges)
		for _, e := range edges {
			ends := strings.SplitN(e, ",", 3)
			out[ends[0]] += e + ";"
			out[ends[1]] += e + ";"
		}
		return out
	}
	was, is := texts(a), texts(b)
	near := map[string]bool{}
	for id := range is {
		near[id] = was[id] != is[id]
	}
	for id := range was {
		near[id] = was[id] != is[id]
	}
	for range hops {
		next := map[string]bool{}
		for _, s := range []sheets{a, b} {
			for _, row := range s.edges[1:] {
				from, to := row[slices.Index(s.edges[0], "source")], row[slices.Index(s.edges[0], "target")]
				next[from], next[to] = next[from] || near[to], next[to] || near[from]
			}
		}
		for id, yes := range next {
			near[id] = near[id] || yes
		}
	}
	far := map[string]bool{}
	for id := range was {
		far[id] = !near[id]
	}
	return far
}

// asParquet writes rows as a Parquet file: numbers as numbers, times as times.
func asParquet(t *testing.T) func(rows [][]string) string {
	return func(rows [][]string) string {
		table := form.Table{Rows: len(rows) - 1}
		for k, name := range rows[0] {
			c := form.Column{Name: name, Type: form.Word, Words: &form.Words{}}
			for _, row := range rows[1:] {
				var v float64
				at, dated := form.TimeOf(row[k])
				switch n, err := fmt.Sscan(row[k], &v); {
				case name == "newsletter":
					c.Type, c.Truth, c.Numbers = form.Number, true, append(c.Numbers, map[string]float64{"true": 1}[row[k]])
				case name == "at" && n == 1:
					c.Type, c.Dated, c.Times = form.Time, true, append(c.Times, int64(v)*1e6)
				case name == "joined" && dated:
					c.Type, c.Dated, c.Times = form.Time, true, append(c.Times, at)
				case name != "split" && n == 1 && err == nil:
					c.Type, c.Numbers = form.Number, append(c.Numbers, v)
				}
				c.Words.Texts = append(c.Words.Texts, row[k])
			}
			table.Columns = append(table.Columns, c)
		}
		var b bytes.Buffer
		if err := parquet.Write(&b, &table); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
}

func gzipped(rows [][]string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(commas(rows)))
	z.Close()
	return b.String()
}

// perturbation is something that is done to the tables, or to the way in which they are read and asked about.
type perturbation struct {
	name   string
	do     func(s *sheets)
	ending string
	write  func(rows [][]string) string
	query  models.Query
}

func perturbations(t *testing.T, rng *rand.Rand) []perturbation {
	const stranger = "z900,Oslo,33,true,2024-12-01T10:00:00Z,z900@example.org,,"
	column := func(rows *[][]string, at int, name string, cell func(i int) string) {
		for i, row := range *rows {
			text := name
			if i > 0 {
				text = cell(i)
			}
			(*rows)[i] = slices.Insert(row, at, text)
		}
	}
	mix := func(rows [][]string) {
		rng.Shuffle(len(rows)-1, func(i, j int) { rows[1+i], rows[1+j] = rows[1+j], rows[1+i] })
	}
	turn := func(rows [][]string) {
		for _, row := range rows {
			slices.Reverse(row)
		}
	}
	replaced := func(rows [][]string, name string, new func(old string) string) {
		k := slices.Index(rows[0], name)
		for _, row := range rows[1:] {
			row[k] = new(row[k])
		}
	}
	return []perturbation{
		{name: "as it is, asked again"},
		{name: "other new rows before", do: func(s *sheets) { add(&s.nodes, 1, stranger, strings.Replace(stranger, "z900", "7", 1)) }},
		{name: "other new rows between", do: func(s *sheets) {
			add(&s.nodes, 100, stranger, strings.Replace(stranger, "z900", "c0991", 1), strings.Replace(stranger, "z900", "a1", 1))
		}},
		{name: "other new rows after", do: func(s *sheets) { add(&s.nodes, len(s.nodes), stranger) }},
		{name: "a new row with edges to old ones", do: func(s *sheets) {
			add(&s.nodes, 50, stranger)
			add(&s.edges, 9, "z900,c000,web,3,1730541120", "c001,z900,mail,1,1730541121")
		}},
		{name: "new rows with edges among themselves", do: func(s *sheets) {
			add(&s.nodes, 1, stranger, strings.Replace(stranger, "z900", "a1", 1))
			add(&s.edges, 1, "z900,a1,web,900,1730541120")
		}},
		{name: "rows of customers shuffled", do: func(s *sheets) { mix(s.nodes) }},
		{name: "edges shuffled", do: func(s *sheets) { mix(s.edges) }},
		{name: "ends of edges exchanged", do: func(s *sheets) {
			for _, row := range s.edges[1:] {
				if rng.IntN(2) == 0 {
					row[0], row[1] = row[1], row[0]
				}
			}
		}},
		{name: "columns in another order", do: func(s *sheets) { turn(s.nodes); turn(s.edges) }},
		{name: "more columns", do: func(s *sheets) {
			column(&s.nodes, 2, "shoes", func(i int) string { return fmt.Sprint(36 + i%9) })
			column(&s.edges, 3, "mood", func(i int) string { return []string{"good", "", "bad"}[i%3] })
		}},
		{name: "more edges elsewhere", do: func(s *sheets) { add(&s.edges, 300, "c003,c004,web,3,1730541120") }},
		{name: "fewer edges elsewhere", do: func(s *sheets) { s.edges = slices.Delete(s.edges, 40, 42) }},
		{name: "an edge elsewhere twice", do: func(s *sheets) { s.edges = append(s.edges, s.edges[20]) }},
		{name: "an unseen word in another row", do: func(s *sheets) { s.cell("c240", "town", "Nuuk") }},
		{name: "an empty cell in another row", do: func(s *sheets) { s.cell("c003", "age", "") }},
		{name: "another row's number huge", do: func(s *sheets) { s.cell("c003", "age", "1e30") }},
		{name: "another row's time in 1931", do: func(s *sheets) { s.cell("c003", "joined", "1931-01-01T00:00:00Z") }},
		{name: "another row's id sorts first", do: func(s *sheets) {
			for _, rows := range [][][]string{s.nodes, s.edges} {
				for _, row := range rows {
					for k := range row {
						if row[k] == "c003" {
							row[k] = "0"
						}
					}
				}
			}
		}},
		{name: "labels removed", do: func(s *sheets) { replaced(s.nodes, "churned", func(string) string { return "" }) }},
		{name: "labels exchanged", do: func(s *sheets) {
			replaced(s.nodes, "churned", func(old string) string { return map[string]string{"yes": "no", "no": "yes"}[old] })
		}},
		{name: "another split", do: func(s *sheets) {
			replaced(s.nodes, "split", func(string) string { return []string{"train", "test"}[rng.IntN(2)] })
		}},
		{name: "numbers as 41.0", do: func(s *sheets) {
			replaced(s.nodes, "age", func(old string) string { return old + ".0" })
			replaced(s.edges, "orders", func(old string) string { return "+" + old + "e0" })
		}},
		{name: "times in another zone", do: func(s *sheets) {
			replaced(s.nodes, "joined", func(old string) string { return strings.Replace(old, "Z", "+00:00", 1) })
		}},
		{name: "TSV", ending: ".tsv", write: func(rows [][]string) string { return strings.ReplaceAll(commas(rows), ",", "\t") }},
		{name: "semicolons, CRLF and a BOM", write: func(rows [][]string) string {
			return "\ufeff" + strings.NewReplacer(",", ";", "\n", "\r\n").Replace(commas(rows))
		}},
		{name: "gzip", ending: ".csv.gz", write: gzipped},
		{name: "Parquet", ending: ".parquet", write: asParquet(t)},
		{name: "the plan whole", query: models.Query{Plan: models.Whole}},
		{name: "the plan neighbourhoods", query: models.Query{Plan: models.Neighbourhoods}},
		{name: "seven at a time", query: models.Query{Plan: models.Neighbourhoods, Batch: 7}},
		{name: "four are asked about", query: models.Query{IDs: []string{"c245", "c000", "c240", "c123"}}},
	}
}

// Whatever is done to other rows and to the files, the scores of a row stay the same to the bit, as long as its own cells
// and its neighbourhood do. With -v it prints by how much they change.
func TestPerturbations(t *testing.T) {
	old, next := sheetsOf(t, "../datasets/testdata"), sheetsOf(t, "../datasets/testdata/tomorrow")
	both := old.and(next)
	all := perturbations(t, rand.New(rand.NewPCG(9, 9)))
	largest, fewest := make([]float64, len(all)+2), make([]int, len(all)+2)
	note := func(k int, name string, got, want map[string][]float64, same func(id string) bool) {
		compared := 0
		for id, row := range got {
			if want[id] == nil || !same(id) {
				continue
			}
			compared++
			for i, v := range row {
				if v != want[id][i] || math.Signbit(v) != math.Signbit(want[id][i]) {
					largest[k] = max(largest[k], math.Abs(v-want[id][i]), math.SmallestNonzeroFloat64)
				}
			}
		}
		if fewest[k] == 0 || compared < fewest[k] {
			fewest[k] = compared
		}
		if compared < 4 || largest[k] != 0 {
			t.Errorf("%s: of %d rows a probability changes by %g", name, compared, largest[k])
		}
	}
	for _, m := range []models.Model{models.GAT{Hidden: 4, Heads: 2}, models.PNA{Hidden: 4}} {
		p := trained(t, old.raw(t, ".csv", commas), m, models.Preparation{Features: columns.Scaling{Form: columns.Standard}},
			columns.Roles{Label: []string{"churned"}, As: map[string]columns.Encoding{"email": columns.Left}, Undirected: true})
		want := scores(t, p, both.raw(t, ".csv", commas), models.Query{})
		hops := len(p.Net.(*models.Network).Layers)
		for k, c := range all {
			s, ending, write := both.clone(), ".csv", commas
			if c.do != nil {
				c.do(&s)
			}
			if c.ending != "" {
				ending = c.ending
			}
			if c.write != nil {
				write = c.write
			}
			var far map[string]bool
			switch c.name {
			case "numbers as 41.0", "times in another zone": // another spelling of the same cells
				far = beyond(both, both, hops)
			default:
				far = beyond(both, s, hops)
			}
			note(k, c.name, scores(t, p, s.raw(t, ending, write), c.query), want, func(id string) bool { return far[id] })
		}
		any := func(string) bool { return true }
		note(len(all), "the new rows alone, beside the old as a base", scores(t, p, next.raw(t, ".csv", commas), models.Query{Base: old.raw(t, ".csv", commas)}), want, any)
		procs := runtime.GOMAXPROCS(7)
		note(len(all)+1, "seven threads", scores(t, p, both.raw(t, ".csv", commas), models.Query{}), want, any)
		runtime.GOMAXPROCS(procs)

		s := both.clone() // the scores do depend on a row's own cells and on its neighbours'
		s.cell("c240", "age", "19")
		got, far := scores(t, p, s.raw(t, ".csv", commas), models.Query{}), beyond(both, s, hops)
		moved := 0
		for id, row := range got {
			if !slices.Equal(row, want[id]) {
				moved++
				if far[id] {
					t.Errorf("%s is far from c240 and moves", id)
				}
			}
		}
		if slices.Equal(got["c240"], want["c240"]) || moved < 3 {
			t.Errorf("%T: c240 has another age, %v for %v, and %d scores move", m, got["c240"], want["c240"], moved)
		}
	}
	for k := range largest {
		name := []string{"the new rows alone, beside the old as a base", "seven threads"}
		if k < len(all) {
			name = []string{all[k].name}
		} else {
			name = name[k-len(all):]
		}
		t.Logf("%-46s %3d rows or more, largest change %g", name[0], fewest[k], largest[k])
	}
}

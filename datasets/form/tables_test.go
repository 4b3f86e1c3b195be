package form

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// folder returns files of names and texts in turn.
func folder(t testing.TB, texts ...string) *Files {
	t.Helper()
	fsys := fstest.MapFS{}
	for i := 0; i < len(texts); i += 2 {
		fsys[texts[i]] = &fstest.MapFile{Data: []byte(texts[i+1])}
	}
	f, _, err := OpenFS(fsys, ".")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// gz returns a text in gzip.
func gz(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// shownTables returns what a Raw says of its nodes and edges.
func shownTables(r *Raw) string {
	var out []string
	table := func(t *Table) {
		for _, c := range t.Columns {
			cells := fmt.Sprint(c.Numbers)
			switch {
			case c.Words != nil:
				var all []string
				for row := range t.Rows {
					all = append(all, c.Words.At(row))
				}
				cells = fmt.Sprintf("%q", all)
			case c.Times != nil:
				cells = fmt.Sprint(c.Times)
			case c.Matrix != nil:
				cells = fmt.Sprint(c.Matrix.Values)
			case c.Type == Empty:
				cells = "-"
			}
			out = append(out, fmt.Sprintf("%s%s %s", c.Name, strings.Repeat("!", min(1, len(c.Role))), cells))
		}
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		out = append(out, fmt.Sprintf("%s%q of %d", n.Type, n.IDs.Texts, n.Listed))
		table(&n.Table)
	}
	for i := range r.Edges {
		e := &r.Edges[i]
		ends := e.From + e.Kind + e.To
		for k := range e.Source {
			ends += fmt.Sprintf(" %d→%d", e.Source[k], e.Target[k])
		}
		if out = append(out, ends); e.IDs != nil {
			out = append(out, fmt.Sprintf("ids %q", e.IDs.Texts))
		}
		table(&e.Table)
	}
	return strings.Join(out, "; ")
}

func TestTables(t *testing.T) {
	for name, c := range map[string]struct {
		files   []string
		main    string // "": as it is found
		options Options
		want    string
	}{
		"words": {[]string{"e.csv", "source,target,weight\nann,bob,0.5\nbob,\"cy, d\",2\n"}, "e.csv", Options{},
			`e: ["ann" "bob" "cy, d"] of 0;  0→1 1→2; weight [0.5 2]`},
		"numbers": {[]string{"e.tsv", "src\tdst\n10\t9\n9.0\t2\n"}, "e.tsv", Options{}, `e: ["2" "9" "10"] of 0;  2→1 1→0`},
		"chosen":  {[]string{"e.csv", "no,payer,payee,source\na1,x,y,1\na2,y,x,007\n"}, "e.csv", Options{Source: "payer", Target: "Payee", EdgeID: "no"}, `e: ["x" "y"] of 0;  0→1 1→0; ids ["a1" "a2"]; source [1 7]`},
		"beside": {[]string{"p_edges.csv", "u,v\nb,a\n", "p_nodes.csv", "id,town,joined,name,n\nb,Rome,2024-05-19,7,\na,,,07,3\n"}, "", Options{},
			`p: ["b" "a"] of 2; town ["Rome" ""]; joined [1716076800000000 -9223372036854775808]; name ["7" "07"]; n [NaN 3];  0→1`},
		"in order":      {[]string{"p-edges.csv.gz", gz("u,v\n1,10\n"), "p-nodes.tsv", "id\ttown\n10\tRome\n2.0\tOslo\n1\tRome\n"}, "p-nodes.tsv", Options{}, `p: ["1" "2" "10"] of 3; town ["Rome" "Oslo" "Rome"];  0→2`},
		"a list":        {[]string{"g_edges.txt", "1 0\n", "g_labels.csv", "node,y\n0,1\n1,0\n"}, "", Options{}, `g: ["0" "1"] of 2; y [1 0];  1→0`},
		"two of nodes":  {[]string{"g_edges.csv", "u,v\n1,0\n", "g_nodes.csv", "id,a,y,at\n0,1,2,3\n1,4,5,6\n", "g_features.csv", "id,f\n1,7\n0,8\n"}, "", Options{}, `g: ["0" "1"] of 2; a! [1 4]; y [2 5]; at! [3 6]; f [8 7];  1→0`},
		"nodes alone":   {[]string{"nodes.csv", "id,a\nx,1\ny,2\n"}, "", Options{}, `nodes: ["x" "y"] of 2; a [1 2]`},
		"a table":       {[]string{"t.csv", "customer,a\nx,1\ny,2\n"}, "t.csv", Options{ID: "customer"}, `t: ["x" "y"] of 2; a [1 2]`},
		"not listed":    {[]string{"nodes.csv", "id,a,w,s\nx,1,u,2024\ny,2,v,2025\n", "edges.csv", "u,v\nx,z\nq,y\nx,z\n"}, "", Options{}, `.: ["x" "y" "z" "q"] of 2; a [1 2 NaN NaN]; w ["u" "v" "" ""]; s [2024 2025 NaN NaN];  0→2 3→1 0→2`},
		"without edges": {[]string{"nodes.csv", "id,a\nx,1\n", "edges.csv", "u,v\n"}, "", Options{}, `.: ["x"] of 1; a [1]; `},
		"types": {[]string{"s_nodes_customer.csv", "id,age\nc2,30\nc1,40\n", "s_nodes_big_shop.csv", "id,town\n7,Rome\n", "s_edges_customer_bought_at_big_shop.csv", "u,v,sum\nc1,7,5\n", "s_edges_customer_customer.csv", "u,v\nc1,c2\n", "s_edges_customer_has_tag.csv", "u,v\nc2,c2\n"}, "", Options{},
			`s: big_shop["7"] of 1; town ["Rome"]; customer["c2" "c1"] of 2; age [30 40]; tag["c2"] of 0; customerbought_atbig_shop 1→0; sum [5]; customercustomer 1→0; customerhastag 0→0`},
	} {
		t.Run(name, func(t *testing.T) {
			f := folder(t, c.files...)
			main := c.main
			if main == "" {
				var err error
				if main, err = tablesForm.Opens(f.Names()); err != nil || main == "" {
					t.Fatalf("%q is found, error %v", main, err)
				}
			}
			if got := tablesForm.Belongs(f.Names(), main); len(got) != len(c.files)/2 {
				t.Errorf("belong: %q", got)
			}
			raw, err := tablesForm.Read(f, main, c.options)
			if err != nil {
				t.Fatal(err)
			}
			if got := raw.Name + ": " + shownTables(raw); got != c.want {
				t.Errorf("read as\n%s, want\n%s", got, c.want)
			}
			if (raw.Unlisted != nil) != (name == "not listed") {
				t.Errorf("not listed: %v", raw.Unlisted)
			} else if want := `edges.csv: line 2: node "z" is not in nodes.csv: add it there, or leave its edges out`; raw.Unlisted != nil && raw.Unlisted.Error() != want {
				t.Errorf("not listed: %v, want %s", raw.Unlisted, want)
			}
		})
	}
}

func TestBadTables(t *testing.T) {
	const edges = "u,v\na,b\n"
	for _, c := range []struct {
		files   []string
		options Options
		want    string
	}{
		{[]string{"e.csv", "a,b\n1,2\n"}, Options{}, `e.csv: line 1: of the columns "a", "b" no two are the ends of an edge: call them source and target`},
		{[]string{"e.csv", "user,item\n1,2\n"}, Options{}, "users and items are read by the form interactions, with --task link"},
		{[]string{"e.csv", "a,b\n1,2\n"}, Options{ID: "c"}, `no two are the ends of an edge`},
		{[]string{"e.csv", "a,b\n1,2\n"}, Options{Source: "a", Target: "c"}, `e.csv: line 1: there is no column "c"; there are "a", "b"`},
		{[]string{"e.csv", "a,b\n1,2\n"}, Options{Source: "a", Target: "a"}, `the column "a" is chosen twice`},
		{[]string{"e.csv", "\n#\nu,v,u\n1,2,3\n"}, Options{}, `e.csv: line 3: the columns 1 and 3 are both called "u": rename one of them`},
		{[]string{"e.csv", "u,v\n"}, Options{}, `e.csv: there are no edges in it`},
		{[]string{"e.csv", "u,v\n1,2\n,3\n"}, Options{}, `e.csv: line 3: an end of the edge is empty`},
		{[]string{"e.csv", "u,v,no\n1,2,a\n\n2,3,b\n3,4,a\n"}, Options{EdgeID: "no"}, `e.csv: line 5, column "no": edge "a" stands in line 2 already`},
		{[]string{"e.csv", "u,v,no\n1,2,\n"}, Options{EdgeID: "no"}, `e.csv: line 2, column "no": it is empty`},
		{[]string{"edges.csv", edges, "nodes.csv", "a,b\n1,2\n"}, Options{}, `nodes.csv: line 1: of the columns "a", "b" none names the nodes: call one id, or choose it with --id, as --id a`},
		{[]string{"edges.csv", edges, "nodes.csv", "a,Person ID\n1,2\n"}, Options{}, `call one id, or choose it with --id, as --id 'Person ID'`},
		{[]string{"edges.csv", edges, "nodes.csv", "id,b\n1,2\n"}, Options{ID: "key"}, `nodes.csv: line 1: there is no column "key"; there are "id", "b"`},
		{[]string{"edges.csv", edges, "nodes.csv", "id,b\n"}, Options{}, `nodes.csv: there is no line below its names: write one for each node`},
		{[]string{"edges.csv", edges, "nodes.csv", "id,b\na,\"x\ny\"\nb,2\na,2\n"}, Options{}, `nodes.csv: line 5, column "id": node "a" stands in line 2 already`},
		{[]string{"edges.csv", edges, "nodes.csv", "id\na\nb\n", "features.csv", "id,f\na,1\nc,2\n"}, Options{}, `features.csv: line 3: node "c" is not in the table that lists the nodes, nodes.csv`},
		{[]string{"edges.csv", edges, "nodes.csv", "id\na\nb\n", "features.csv", "id,f\na,1\n"}, Options{}, `features.csv: it says nothing of node "b", which is in nodes.csv`},
		{[]string{"edges.csv", edges, "nodes.csv", "id,f\na,1\nb,1\n", "features.csv", "id,f\na,1\nb,1\n"}, Options{}, `features.csv: the column "f" stands in nodes.csv, too: leave one of them out`},
	} {
		f := folder(t, c.files...)
		raw, err := tablesForm.Read(f, c.files[0], c.options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, error %v, want %s", c.files, raw, err, c.want)
		}
	}
	if _, err := tablesForm.Opens([]string{"a_edges.csv", "a_nodes.csv", "b_edges.csv", "b_nodes.csv"}); err == nil || !strings.Contains(err.Error(), "there are several datasets in it: name one of a_edges.csv, b_edges.csv") {
		t.Errorf("error %v", err)
	}
	for _, names := range [][]string{{"e.csv"}, {"nodes.csv", "g.txt"}, {"a_nodes.csv", "b_nodes.csv"}, {"edges_a_b.csv"}} {
		if main, err := tablesForm.Opens(names); err != nil || main != "" {
			t.Errorf("%q: %q, error %v", names, main, err)
		}
	}
}

func TestInteractions(t *testing.T) {
	for _, text := range []string{"user,item\n1,1\n1,2\n7,1\n1,1\n", "rating\tmovieId\tuserId\n5\t1\t1\n3\t2\t1\n1\t1\t7\n5\t1\t1\n"} {
		raw, err := interactionsForm.Read(folder(t, "shop.csv", text), "shop.csv", Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := `user["1" "7"] of 0; item["1" "2"] of 0; useritem 0→0 0→1 1→0 0→0`
		if strings.HasPrefix(text, "rating") {
			want += "; rating [5 3 1 5]"
		}
		if got := shownTables(raw); got != want || raw.Name != "shop" {
			t.Errorf("%q: read as %s %s", text, raw.Name, got)
		}
	}
	for text, want := range map[string]string{
		"":                     "no line",
		"user,item\n":          "no line follows",
		"user,item\na\n":       "line 2: 1 fields",
		"user,item\na,b\n,b\n": "line 3: the user or the item is empty",
		"source,target\n1,2\n": "call them user and item",
	} {
		if _, err := interactionsForm.Read(folder(t, "shop.csv", text), "shop.csv", Options{}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "shop.csv: ") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestTriples(t *testing.T) {
	f := folder(t, "train.txt", "b\tr\ta\nb\ts\tc\n", "dev.csv", "head,relation,tail\na,s,7.0\n", "test.tsv.gz", gz("7.0\tr\tb\n"), "other.txt", "")
	main, err := triplesForm.Opens(f.Names())
	if err != nil || main != "train.txt" || !slices.Equal(triplesForm.Belongs(f.Names(), main), []string{"train.txt", "dev.csv", "test.tsv.gz"}) {
		t.Fatalf("%q, error %v", main, err)
	}
	raw, err := triplesForm.Read(f, main, Options{})
	if want := `["b" "a" "c" "7.0"] of 0;  0→1 0→2 1→3 3→0; relation! ["r" "s" "s" "r"]; part! ["train" "train" "val" "test"]`; err != nil || shownTables(raw) != want {
		t.Errorf("read as %v, want %s, error %v", raw, want, err)
	}
	for text, want := range map[string]string{
		"a,b\n":             "line 1: 2 fields, want 3: head, relation and tail",
		"a,r,b\n\na,,b\n":   "line 3: the relation is empty",
		"a,r,b\na,r\n":      "line 2: 2 fields, want 3",
		"head,rel,object\n": "there are no facts to train on",
	} {
		if _, err := triplesForm.Read(folder(t, "k.csv", text), "k.csv", Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Whatever tables hold, reading them does not panic, and what is read fits together.
func FuzzTables(f *testing.F) {
	f.Add("u,v,kind,at\n0,1,road,2024-01-03\n1,0,rail,2024-01-02\n", "id,town,seen_at,label\n0,Rome,1700000000,x\n1,,1700000001,y\n", "user,item,n\na,b,1\n")
	f.Add("1 0\n", "node,y,train_mask\n0,1,1\n1,0.5,0\n", "a,r,b\n")
	f.Fuzz(func(t *testing.T, edges, nodes, other string) {
		files := folder(t, "edges.csv", edges, "nodes.csv", nodes, "o.csv", other)
		for main, form := range map[string]*Form{"edges.csv": &tablesForm, "o.csv": &interactionsForm, "nodes.csv": &triplesForm} {
			raw, err := form.Read(files, main, Options{})
			if err != nil {
				continue
			}
			for _, e := range raw.Edges {
				for k := range e.Source {
					from := slices.IndexFunc(raw.Nodes, func(n Nodes) bool { return n.Type == e.From })
					to := slices.IndexFunc(raw.Nodes, func(n Nodes) bool { return n.Type == e.To })
					if int(e.Source[k]) >= raw.Nodes[from].Rows || int(e.Target[k]) >= raw.Nodes[to].Rows {
						t.Fatalf("edge %d leads to no node", k)
					}
				}
			}
			_ = shownTables(raw)
		}
	})
}

// BenchmarkEdges reads a million edges between two hundred thousand nodes that a table lists.
func BenchmarkEdges(b *testing.B) {
	rng := rand.New(rand.NewPCG(2, 46))
	var edges, nodes strings.Builder
	edges.WriteString("source,target,amount,at\n")
	for k := range 1_000_000 {
		fmt.Fprintf(&edges, "C%06d,C%06d,%d.50,%d\n", rng.IntN(200_000), rng.IntN(200_000), rng.IntN(1000), 1_700_000_000+k)
	}
	nodes.WriteString("id,age\n")
	for k := range 200_000 {
		fmt.Fprintf(&nodes, "C%06d,%d\n", k, rng.IntN(100))
	}
	f := folder(b, "edges.csv", edges.String(), "nodes.csv", nodes.String())
	b.SetBytes(int64(edges.Len() + nodes.Len()))
	for b.Loop() {
		if raw, err := tablesForm.Read(f, "edges.csv", Options{}); err != nil || raw.Edges[0].Rows != 1_000_000 || raw.Unlisted != nil {
			b.Fatal(raw, err)
		}
	}
}

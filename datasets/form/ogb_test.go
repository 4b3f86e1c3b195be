package form

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// arxiv is a small graph whose nodes have labels, as OGB publishes it.
func arxiv() map[string]string {
	return map[string]string{
		"raw/edge.csv": "0,1\n2,1\n1,3\n0,1\n3,3\n", "raw/num-node-list.csv": "4\n", "raw/num-edge-list.csv": "5\n",
		"raw/node-feat.csv": "0.5,1\n-1,2\n3,3\n4,4\n", "raw/edge-feat.csv": "10\n20\n30\n99\n99\n", "raw/node-label.csv": "2\n0\n1\n0\n",
		"raw/node_year.csv": "2017\n2018\n2019\n2019\n", "split/time/train.csv": "2\n0\n", "split/time/valid.csv": "1\n", "split/time/test.csv": "3\n",
	}
}

// hiv is three graphs: a path of three nodes, one of one node, and a pair.
func hiv() map[string]string {
	return map[string]string{
		"raw/edge.csv": "0,1\n1,2\n1,0\n", "raw/num-node-list.csv": "3\n1\n2\n", "raw/num-edge-list.csv": "2\n0\n1\n",
		"raw/node-feat.csv": "6,0\n7,1\n8,0\n6,0\n6,1\n8,1\n", "raw/edge-feat.csv": "1,0\n2,0\n3,1\n", "raw/graph-label.csv": "0\n1\n0\n",
		"split/scaffold/train.csv": "0\n", "split/scaffold/valid.csv": "2\n", "split/scaffold/test.csv": "1\n",
	}
}

// changed returns parts with others in their place, names and texts in turn; without a text
// the part is left out.
func changed(parts map[string]string, with ...string) map[string]string {
	parts = maps.Clone(parts)
	for i := 0; i < len(with); i += 2 {
		if parts[with[i]] = with[i+1]; with[i+1] == "" {
			delete(parts, with[i])
		}
	}
	return parts
}

func readOGB(t testing.TB, name string, parts map[string]string) (*Raw, error) {
	files := map[string]string{}
	for part, text := range parts {
		files[name+"/"+part+".gz"] = string(zipped(text))
	}
	return readForm(&ogbForm, openZip(t, name+".zip", files))
}

const (
	arxivShown = `4 nodes, 4 listed; node-label number (label) [2 0 1 0]; node-feat matrix (feature) 4×2[0.5 1 -1 2 3 3 4 4]; node_year time (time) [2017 2018 2019 2019]
5 edges 0→1 2→1 1→3 0→1 3→3; edge-feat matrix (feature) 5×1[10 20 30 99 99]
split "time" of nodes [0 2] [1] [3]
`
	hivShown = `6 nodes, 6 listed; node-feat matrix (feature) 6×2[6 0 7 1 8 0 6 0 6 1 8 1]
3 edges 0→1 1→2 5→4, undirected; edge-feat matrix (feature) 3×2[1 0 2 0 3 1]
3 graphs at [0 3 4 6]; graph-label number (label) [0 1 0]
split "scaffold" of graphs [0] [2] [1]
`
)

func TestOGB(t *testing.T) {
	shown := func(text string, parts ...string) string { return strings.NewReplacer(parts...).Replace(text) }
	for what, c := range map[string]struct {
		parts map[string]string
		want  string
	}{
		"one":         {arxiv(), arxivShown},
		"no edges":    {changed(arxiv(), "raw/edge.csv", "\n", "raw/edge-feat.csv", "", "raw/num-edge-list.csv", "0\n"), shown(arxivShown, "5 edges 0→1 2→1 1→3 0→1 3→3; edge-feat matrix (feature) 5×1[10 20 30 99 99]", "0 edges")},
		"numbers":     {changed(arxiv(), "raw/node-label.csv", "0.5\nnan\n-1\n\"\"\n"), shown(arxivShown, "[2 0 1 0]", "[0.5 NaN -1 NaN]")},
		"words":       {changed(arxiv(), "raw/node-label.csv", "cs.LG\ncs.AI\ncs.LG\nnan\n"), shown(arxivShown, "number (label) [2 0 1 0]", `word (label) ["cs.LG" "cs.AI"][0 1 0 -1]`)},
		"several":     {changed(arxiv(), "raw/node-label.csv", "0,1\n1,\nnan,0\n,1\n"), shown(arxivShown, "number (label) [2 0 1 0]", "matrix (label) 4×2[0 1 1 NaN NaN 0 NaN 1]")},
		"targets":     {changed(arxiv(), "raw/node-label.csv", "0,1\n1,\nnan,0.5\n,1\n"), shown(arxivShown, "number (label) [2 0 1 0]", "matrix (target) 4×2[0 1 1 NaN NaN 0.5 NaN 1]")},
		"no features": {changed(arxiv(), "raw/node-feat.csv", ""), shown(arxivShown, "node-feat matrix (feature) 4×2[0.5 1 -1 2 3 3 4 4]; ", "")},
		"two splits":  {changed(arxiv(), "split/age/train.csv", "0\n1\n", "split/age/valid.csv", "2\n", "split/age/test.csv", "3\n"), arxivShown + "split \"age\" of nodes [0 1] [2] [3]\n"},
		"more columns": {changed(arxiv(), "raw/node_place.csv", "1,2\n3,4.5\nnan,6\n7,8\n", "raw/node_time.csv", "1716076800000\n\nnan\n1716076800001\n1716076800002\n"),
			shown(arxivShown, "; node_year", "; node_place_0 time (time) [1 3 NoTime 7]; node_place_1 number (time) [2 4.5 6 8]; node_time time (time) [1716076800000000 NoTime 1716076800001000 1716076800002000] dated; node_year")},
		"many":          {hiv(), hivShown},
		"many, targets": {changed(hiv(), "raw/graph-label.csv", "0.5\n\"\"\nnan\n"), shown(hivShown, "[0 1 0]\n", "[0.5 NaN NaN]\n")},
		"many, several": {changed(hiv(), "raw/graph-label.csv", "1,0,\n0,,1\nnan,1,0\n", "raw/edge.csv", "\n", "raw/edge-feat.csv", "\n", "raw/num-edge-list.csv", "0\n0\n0\n"),
			shown(hivShown, "number (label) [0 1 0]\n", "matrix (label) 3×3[1 0 NaN 0 NaN 1 NaN 1 0]\n", "3 edges 0→1 1→2 5→4, undirected; edge-feat matrix (feature) 3×2[1 0 2 0 3 1]", "0 edges, undirected")},
		"one is empty": {changed(hiv(), "raw/num-node-list.csv", "3\n0\n2\n", "raw/node-feat.csv", ""), shown(hivShown, "6 nodes, 6 listed; node-feat matrix (feature) 6×2[6 0 7 1 8 0 6 0 6 1 8 1]", "5 nodes, 5 listed", "5→4", "4→3", "[0 3 4 6]", "[0 3 3 5]")},
	} {
		r, err := readOGB(t, "x", c.parts)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if got := shownRaw(r); got != c.want || r.Name != "x" {
			t.Errorf("%s: %s read as\n%s, want\n%s", what, r.Name, got, c.want)
		}
		if err := checkRaw(r); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	r, err := readOGB(t, "x", changed(arxiv(), "raw/node_time.csv", "2024-01-01\n5\n6\n7\n"))
	if err != nil {
		t.Fatal(err)
	}
	const mixed = `x.zip/x/raw/node_time.csv: row 1, column "node_time": "2024-01-01" is a time that is written out, and row 2 has "5", a number: write all times of a column in one form, such as 2024-03-01T12:30:00Z, or leave the column out (--column node_time=none)`
	if c := r.Nodes[0].Column("node_time"); c.Mixed == nil || c.Mixed.Error() != mixed {
		t.Errorf("two forms of times: %v", c.Mixed)
	}
	names := []string{"x/README.md", "x/mapping/mol.csv.gz", "x/raw/edge.csv.gz", "x/raw/node_year.csv.gz", "x/raw/num-node-list.csv.gz", "x/split/s/train.csv.gz"}
	if got := ogbForm.Belongs(names, names[4]); !slices.Equal(got, names[2:]) {
		t.Errorf("%v belong", got)
	}
}

func TestBadOGB(t *testing.T) {
	const nodes, graphs = "raw/node-label.csv", "raw/graph-label.csv"
	only := changed(hiv(), graphs, "", nodes, "0\n") // of the three graphs
	for _, c := range []struct {
		what  string
		parts map[string]string
		want  string
	}{
		{"no edges file", changed(arxiv(), "raw/edge.csv", ""), `x.zip: there is no "x/raw/edge.csv" in it`},
		{"no counts of edges", changed(arxiv(), "raw/num-edge-list.csv", ""), `x.zip: there is no "x/raw/num-edge-list.csv" in it`},
		{"no labels", changed(arxiv(), nodes, ""), `x.zip: there is no "x/raw/node-label.csv" in it`},
		{"no validation", changed(arxiv(), "split/time/valid.csv", ""), `x.zip: there is no "x/split/time/valid.csv" in it`},
		{"numbered from 1", changed(arxiv(), "raw/edge.csv", "1,2\n3,2\n2,4\n1,2\n4,4\n"), "x.zip/x/raw/edge.csv: line 3: the edge leads from node 2 to node 4 of graph 0, which has 4 nodes, numbered from 0"},
		{"edge of another graph", changed(hiv(), "raw/edge.csv", "0,1\n1,2\n1,2\n"), "x.zip/x/raw/edge.csv: line 3: the edge leads from node 1 to node 2 of graph 2, which has 2 nodes, numbered from 0"},
		{"end is a word", changed(arxiv(), "raw/edge.csv", "0,a\n"), `x.zip/x/raw/edge.csv: line 1: "a" is no number from 0 to 2147483639`},
		{"end below zero", changed(arxiv(), "raw/edge.csv", "0,-1\n"), `x.zip/x/raw/edge.csv: line 1: "-1" is no number from 0 to 2147483639`},
		{"three ends", changed(arxiv(), "raw/edge.csv", "0,1,2\n"), "x.zip/x/raw/edge.csv: line 1: 3 fields, want the two nodes of an edge"},
		{"one edge more", changed(arxiv(), "raw/num-edge-list.csv", "4\n", "raw/edge-feat.csv", ""), "x.zip/x/raw/edge.csv: line 5: it is one more edge than the 4 that num-edge-list.csv counts"},
		{"one edge less", changed(arxiv(), "raw/num-edge-list.csv", "6\n", "raw/edge-feat.csv", ""), "x.zip: x/raw/edge.csv: 5 edges, and num-edge-list.csv counts 6"},
		{"two counts of one", changed(arxiv(), "raw/num-edge-list.csv", "5\n1\n"), "x.zip: x/raw/num-node-list.csv has 1 lines, and num-edge-list.csv 2; want a line a graph in both"},
		{"counts beyond 2^31", changed(hiv(), "raw/num-node-list.csv", "2147483639\n2147483639\n1\n"), "x.zip/x/raw/num-node-list.csv: line 2: with this there are 4294967278, more than 2³¹"},
		{"nodes that are not there", changed(arxiv(), "raw/num-node-list.csv", "5\n"), "x.zip: x/raw/node-label.csv: 4 lines for 5 nodes"},
		{"no nodes", changed(arxiv(), "raw/num-node-list.csv", "0\n"), "x.zip: x/raw/num-node-list.csv: there are no nodes in it"},
		{"features of fewer", changed(arxiv(), "raw/node-feat.csv", "1,2\n"), "x.zip: x/raw/node-feat.csv: 1 lines for 4 nodes"},
		{"features of two widths", changed(arxiv(), "raw/node-feat.csv", "1,2\n1\n"), "x.zip/x/raw/node-feat.csv: line 2: 1 numbers, want 2 as in the first line"},
		{"feature is NaN", changed(arxiv(), "raw/node-feat.csv", "nan,2\n"), `x.zip/x/raw/node-feat.csv: line 1: "nan" is no finite number`},
		{"features of fewer edges", changed(arxiv(), "raw/edge-feat.csv", "1\n"), "x.zip: x/raw/edge-feat.csv: 1 lines for 5 edges"},
		{"label among several is a word", changed(arxiv(), nodes, "1,0\n1,b\n"), `x.zip/x/raw/node-label.csv: line 2: "b" is no number: of several labels each is one, or nothing`},
		{"labels of two widths", changed(arxiv(), nodes, "1,0\n1\n"), "x.zip/x/raw/node-label.csv: line 2: 1 labels, want 2 as in the first line"},
		{"nothing known", changed(arxiv(), nodes, ",\n,\n,\n,\n"), "x.zip: x/raw/node-label.csv: nothing is known of what is to be learnt: all numbers are missing"},
		{"graphs with labels of nodes", changed(only), "x.zip: x/raw/num-node-list.csv: 3 lines, want one: the number of nodes of the one graph whose nodes have labels"},
		{"part of a word", changed(hiv(), "split/scaffold/test.csv", "x\n"), `x.zip/x/split/scaffold/test.csv: line 1: "x" is no number from 0 to 2147483639`},
		{"two datasets", changed(arxiv(), "other/num-node-list.csv", "1\n"), "there are several datasets in it, x/other/num-node-list.csv.gz and x/raw/num-node-list.csv.gz among them: unpack it, and name the folder of one"},
		{"years of fewer", changed(arxiv(), "raw/node_year.csv", "2017\n2018\n"), "x.zip/x/raw/node_year.csv: 2 lines for 4 nodes"},
		{"year is a word", changed(arxiv(), "raw/node_year.csv", "2017\nold\n1\n1\n"), `x.zip/x/raw/node_year.csv: line 2: "old" is no number and no time`},
	} {
		if _, err := readOGB(t, "x", c.parts); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.what, err, c.want)
		}
	}
}

func FuzzOGB(f *testing.F) {
	a, h := arxiv(), hiv()
	f.Add(a["raw/edge.csv"], "4\n", "5\n", a["raw/node-feat.csv"], a["raw/edge-feat.csv"], a["raw/node_year.csv"], a["raw/node-label.csv"], "2\n0\n")
	f.Add(h["raw/edge.csv"], h["raw/num-node-list.csv"], h["raw/num-edge-list.csv"], h["raw/node-feat.csv"], h["raw/edge-feat.csv"], "", "0,\n1,1\nnan,0\n", "1\n")
	f.Fuzz(func(t *testing.T, edges, nodes, counts, features, ofEdges, years, labels, train string) {
		parts := map[string]string{"raw/edge.csv": edges, "raw/num-node-list.csv": nodes, "raw/num-edge-list.csv": counts,
			"raw/node-label.csv": labels, "raw/graph-label.csv": labels, "split/s/train.csv": train, "split/s/valid.csv": "\n", "split/s/test.csv": "\n"}
		parts = changed(parts, "raw/node-feat.csv", features, "raw/edge-feat.csv", ofEdges, "raw/node_year.csv", years)
		for _, without := range []string{"raw/graph-label.csv", "raw/node-label.csv"} {
			r, err := readOGB(t, "x", changed(parts, without, ""))
			if err == nil {
				err = checkRaw(r)
			} else if strings.HasPrefix(err.Error(), "x.zip") {
				err = nil
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

package datasets

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/columns"
)

// arxiv is a small graph whose nodes have labels, as OGB publishes it.
func arxiv() map[string]string {
	return map[string]string{
		"raw/edge.csv": "0,1\n2,1\n1,3\n0,1\n3,3\n", "raw/num-node-list.csv": "4\n", "raw/num-edge-list.csv": "5\n",
		"raw/node-feat.csv": "0.5,1\n-1,2\n3,3\n4,4\n", "raw/edge-feat.csv": "10\n20\n30\n99\n99\n", "raw/node-label.csv": "2\n0\n1\n0\n",
		"raw/node_year.csv": "2017\n2018\n2019\n2019\n", "split/time/train.csv": "2\n0\n", "split/time/valid.csv": "1\n", "split/time/test.csv": "3\n",
	}
}

const arxivShown = `arxiv []: 0→1 1→3 2→1; labels [2 0 1 0] of 3 []; features of edges [3 1] [10 20 30]; split {[0 2] [1] [3]}; features [4 2] [0.5 1 -1 2 3 3 4 4]`

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

// packed writes parts into an archive NAME.zip, each in gzip.
func packed(t testing.TB, name string, parts map[string]string) string {
	t.Helper()
	var list []string
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		list = append(list, name+"/"+part+".gz", string(gz(parts[part])))
	}
	return put(t, name+".zip", zipOf(list...))
}

func TestOGB(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "arxiv")
	for name, text := range arxiv() {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".gz"), gz(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(Files(dir)); n != 10 {
		t.Errorf("%d files", n)
	}
	both := strings.NewReplacer("0→1 1→3 2→1", "0→1 1→0 1→2 1→3 2→1 3→1", "[3 1] [10 20 30]", "[6 1] [10 10 20 30 20 30]").Replace(arxivShown)
	for what, c := range map[string]struct{ path, want string }{
		"folder":             {dir, strings.Replace(arxivShown, "arxiv", filepath.Base(dir), 1)},
		"zip":                {packed(t, "arxiv", arxiv()), arxivShown},
		"both directions":    {packed(t, "arxiv", arxiv()) + "#undirected", both},
		"no edges":           {packed(t, "arxiv", changed(arxiv(), "raw/edge.csv", "\n", "raw/edge-feat.csv", "", "raw/num-edge-list.csv", "0\n")), strings.NewReplacer("0→1 1→3 2→1", "", "features of edges [3 1] [10 20 30]; ", "").Replace(arxivShown)},
		"numbers":            {packed(t, "arxiv", changed(arxiv(), "raw/node-label.csv", "0.5\nnan\n-1\n2\n")), strings.Replace(arxivShown, "labels [2 0 1 0] of 3 []", "targets [0.5 NaN -1 2]", 1)},
		"words":              {packed(t, "arxiv", changed(arxiv(), "raw/node-label.csv", "cs.LG\ncs.AI\ncs.LG\nnan\n")), strings.Replace(arxivShown, "labels [2 0 1 0] of 3 []", `labels [1 0 1 -1] of 2 ["cs.AI" "cs.LG"]`, 1)},
		"several classes":    {packed(t, "arxiv", changed(arxiv(), "raw/node-label.csv", "0,1\n1,\nnan,0\n,1\n")), strings.Replace(arxivShown, "labels [2 0 1 0] of 3 []", `several of [] [0 1 1 NaN NaN 0 NaN 1]`, 1)},
		"without features":   {packed(t, "arxiv", changed(arxiv(), "raw/node-feat.csv", "", "raw/edge-feat.csv", "", "split/time/train.csv", "", "split/time/valid.csv", "", "split/time/test.csv", "")), `arxiv []: 0→1 1→3 2→1; labels [2 0 1 0] of 3 []`},
		"a class of testing": {packed(t, "arxiv", changed(arxiv(), "raw/node-label.csv", "0\n0\n0\n1\n")), strings.Replace(arxivShown, "[2 0 1 0] of 3", "[0 0 0 1] of 2", 1)},
	} {
		d, err := readWith(c.path)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if got := shown(d); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", what, got, c.want)
		}
	}
	d, err := readWith(packed(t, "a", changed(arxiv(), "split/age/train.csv", "0\n1\n", "split/age/valid.csv", "2\n", "split/age/test.csv", "3\n")))
	if err != nil || fmt.Sprint(d.Split, d.Splits) != "{[0 2] [1] [3]} [{[0 2] [1] [3]} {[0 1] [2] [3]}]" {
		t.Errorf("two splits: %v, error %v", d, err)
	}
}

// Files of nodes that are neither features nor labels are columns, which follow their nodes.
func TestOGBNodeColumns(t *testing.T) {
	d, err := readWith(packed(t, "arxiv", changed(arxiv(), "raw/node_place.csv", "1,2\n3,4.5\nnan,6\n7,8\n", "raw/node_time.csv", "1716076800000\n\n"+"nan\n1716076800001\n1716076800002\n")))
	if err != nil {
		t.Fatal(err)
	}
	shown := func(d *Dataset) (text string) {
		for _, c := range d.NodeColumns {
			text += fmt.Sprint(c.Name, c.Times, c.Numbers, " ")
		}
		return text
	}
	if got, want := shown(d), "node_place_0[1 3 -9223372036854775808 7] [] node_place_1[] [2 4.5 6 8] node_time[1716076800000000 -9223372036854775808 1716076800001000 1716076800002000] [] node_year[2017 2018 2019 2019] [] "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := shown(d.Subgraph([]int32{1, 3})), "node_place_0[3 7] [] node_place_1[] [4.5 8] node_time[-9223372036854775808 1716076800002000] [] node_year[2018 2019] [] "; got != want {
		t.Errorf("of two nodes %s, want %s", got, want)
	}
	var b strings.Builder
	if err := d.Describe(&b); err != nil || !strings.Contains(b.String(), "node_year: one a node to split by, 2017 to 2019") {
		t.Errorf("%s, %v", b.String(), err)
	}
	if _, err := readWith(packed(t, "arxiv", changed(arxiv(), "raw/node_year.csv", "2017\n2018\n"))); err == nil || !strings.Contains(err.Error(), "raw/node_year.csv: 2 lines for 4 nodes") {
		t.Errorf("error %v", err)
	}
	if _, err := readWith(packed(t, "arxiv", changed(arxiv(), "raw/node_year.csv", "2017\nold\n1\n1\n"))); err == nil || !strings.Contains(err.Error(), `node_year.csv: line 2: "old" is no number and no time`) {
		t.Errorf("error %v", err)
	}
}

func TestOGBGraphs(t *testing.T) {
	d, err := LoadGraphs(packed(t, "hiv", hiv()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(d.Name, d.Graph.NodeOffsets(), d.Graph.In().Cols, d.Labels, d.Split, d.EdgeFeatures.Data, d.Features.Row(2), d.Attributes), "hiv[0 3 4 6] [1 0 2 1 5 4] [0 1 0] {[0] [2] [1]} [1 0 1 0 2 0 2 0 3 1 3 1] [8 0] 2"; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	path := packed(t, "hiv", hiv())
	if d, err = LoadGraphsAs(path, columns.Roles{Directed: true}); err != nil || fmt.Sprint(d.Graph.In().Cols, d.EdgeFeatures.Data) != "[0 1 5] [1 0 2 0 3 1]" {
		t.Errorf("one direction: %v of %v, error %v", d.Graph.In(), d.EdgeFeatures, err)
	}
	if found := FindGraphs(filepath.Dir(path), "hiv"); found != path {
		t.Errorf("found %q", found)
	}
	if d, err = LoadGraphs(packed(t, "gaps", changed(hiv(), "raw/graph-label.csv", "0.5\n\"\"\nnan\n"))); err != nil || fmt.Sprint(d.Targets.Data) != "[0.5 NaN NaN]" {
		t.Errorf("gaps: %v, error %v", d, err)
	}
	d, err = LoadGraphs(packed(t, "pcba", changed(hiv(), "raw/graph-label.csv", "1,0,\n0,,1\nnan,1,0\n", "raw/edge.csv", "\n", "raw/edge-feat.csv", "\n", "raw/num-edge-list.csv", "0\n0\n0\n")))
	if err != nil || fmt.Sprint(d.MultiLabels.Dense().Data, d.Classes, d.Graph.NumEdges(), d.EdgeFeatures == nil) != "[1 0 NaN 0 NaN 1 NaN 1 0] 3 0 true" {
		t.Errorf("several labels: %v, error %v", d, err)
	}
	if d, err = LoadGraphs(packed(t, "sol", changed(hiv(), "raw/graph-label.csv", "0.5\n-1\n2\n"))); err != nil || fmt.Sprint(d.Targets.Data) != "[0.5 -1 2]" {
		t.Errorf("numbers: %v, error %v", d, err)
	}
	if d, err = LoadGraphs(packed(t, "bare", changed(hiv(), "raw/num-node-list.csv", "3\n0\n2\n", "raw/node-feat.csv", ""))); err != nil || d.Len() != 3 || d.Graph.NumNodes() != 5 {
		t.Errorf("a graph without nodes: %v, error %v", d, err)
	}
}

func badOGB() []bad {
	of := func(parts map[string]string, with ...string) func(*testing.T, string) error {
		return func(t *testing.T, dir string) error {
			parts, list := changed(parts, with...), []string(nil)
			for _, part := range slices.Sorted(maps.Keys(parts)) {
				list = append(list, "x/"+part+".gz", string(gz(parts[part])))
			}
			path := saved(t, dir, "x.zip", string(zipOf(list...))) + "/x.zip"
			if _, err := readWith(path); err != nil && !strings.Contains(err.Error(), "LoadGraphs") {
				return err
			}
			_, err := LoadGraphs(path)
			return err
		}
	}
	const nodes, graphs = "raw/node-label.csv", "raw/graph-label.csv"
	only := changed(hiv(), graphs, "", nodes, "0\n") // of the three graphs
	return []bad{
		{"no edges file", of(arxiv(), "raw/edge.csv", ""), `DIR/x.zip: there is no "x/raw/edge.csv" in it`},
		{"no counts of edges", of(arxiv(), "raw/num-edge-list.csv", ""), `DIR/x.zip: there is no "x/raw/num-edge-list.csv" in it`},
		{"no labels", of(arxiv(), nodes, ""), `DIR/x.zip: there is no "x/raw/node-label.csv" in it`},
		{"no validation", of(arxiv(), "split/time/valid.csv", ""), `DIR/x.zip: there is no "x/split/time/valid.csv" in it`},
		{"numbered from 1", of(arxiv(), "raw/edge.csv", "1,2\n3,2\n2,4\n1,2\n4,4\n"), "DIR/x.zip/x/raw/edge.csv: line 3: the edge leads from node 2 to node 4 of graph 0, which has 4 nodes, numbered from 0"},
		{"edge of another graph", of(hiv(), "raw/edge.csv", "0,1\n1,2\n1,2\n"), "DIR/x.zip/x/raw/edge.csv: line 3: the edge leads from node 1 to node 2 of graph 2, which has 2 nodes, numbered from 0"},
		{"end is a word", of(arxiv(), "raw/edge.csv", "0,a\n"), `DIR/x.zip/x/raw/edge.csv: line 1: "a" is no number from 0 to 2147483639`},
		{"end below zero", of(arxiv(), "raw/edge.csv", "0,-1\n"), `DIR/x.zip/x/raw/edge.csv: line 1: "-1" is no number from 0 to 2147483639`},
		{"three ends", of(arxiv(), "raw/edge.csv", "0,1,2\n"), "DIR/x.zip/x/raw/edge.csv: line 1: 3 fields, want the two nodes of an edge"},
		{"one edge more", of(arxiv(), "raw/num-edge-list.csv", "4\n", "raw/edge-feat.csv", ""), "DIR/x.zip/x/raw/edge.csv: line 5: it is one more edge than the 4 that num-edge-list.csv counts"},
		{"one edge less", of(arxiv(), "raw/num-edge-list.csv", "6\n", "raw/edge-feat.csv", ""), "DIR/x.zip: x/raw/edge.csv: 5 edges, and num-edge-list.csv counts 6"},
		{"two counts of one", of(arxiv(), "raw/num-edge-list.csv", "5\n1\n"), "DIR/x.zip: x/raw/num-node-list.csv has 1 lines, and num-edge-list.csv 2; want a line a graph in both"},
		{"counts beyond 2^31", of(hiv(), "raw/num-node-list.csv", "2147483639\n2147483639\n1\n"), "DIR/x.zip/x/raw/num-node-list.csv: line 2: with this there are 4294967278, more than 2³¹"},
		{"nodes that are not there", of(arxiv(), "raw/num-node-list.csv", "5\n"), "DIR/x.zip: x/raw/node-label.csv: 4 lines for 5 nodes"},
		{"no nodes", of(arxiv(), "raw/num-node-list.csv", "0\n"), "DIR/x.zip: x/raw/num-node-list.csv: there are no nodes in it"},
		{"features of fewer", of(arxiv(), "raw/node-feat.csv", "1,2\n"), "DIR/x.zip: x/raw/node-feat.csv: 1 lines for 4 nodes"},
		{"features of two widths", of(arxiv(), "raw/node-feat.csv", "1,2\n1\n"), "DIR/x.zip/x/raw/node-feat.csv: line 2: 1 numbers, want 2 as in the first line"},
		{"feature is NaN", of(arxiv(), "raw/node-feat.csv", "nan,2\n"), `DIR/x.zip/x/raw/node-feat.csv: line 1: "nan" is no finite number`},
		{"features of fewer edges", of(arxiv(), "raw/edge-feat.csv", "1\n"), "DIR/x.zip: x/raw/edge-feat.csv: 1 lines for 5 edges"},
		{"label among several is a word", of(arxiv(), nodes, "1,0\n1,b\n"), `DIR/x.zip/x/raw/node-label.csv: line 2: "b" is no number: of several labels each is one, or nothing`},
		{"labels of two widths", of(arxiv(), nodes, "1,0\n1\n"), "DIR/x.zip/x/raw/node-label.csv: line 2: 1 labels, want 2 as in the first line"},
		{"nothing known", of(arxiv(), nodes, ",\n,\n,\n,\n"), "DIR/x.zip: x/raw/node-label.csv: nothing is known of what is to be learnt: all numbers are missing"},
		{"graphs with labels of nodes", of(only), "DIR/x.zip: x/raw/num-node-list.csv: 3 lines, want one: the number of nodes of the one graph whose nodes have labels"},
		{"split of a node that is not there", of(arxiv(), "split/time/test.csv", "4\n"), "DIR/x.zip/x/raw/node-label.csv: split 0: test node 0 is 4; the nodes are 0 to 3"},
		{"node in two parts", of(arxiv(), "split/time/test.csv", "0\n"), "DIR/x.zip/x/raw/node-label.csv: split 0: node 0 is in two parts of the split, train and test"},
		{"graph twice", of(hiv(), "split/scaffold/test.csv", "1\n1\n"), "DIR/x.zip/x/raw/graph-label.csv: split 0: test graph 1 is 1, after 1; want ascending graphs"},
		{"part of a word", of(hiv(), "split/scaffold/test.csv", "x\n"), `DIR/x.zip/x/split/scaffold/test.csv: line 1: "x" is no number from 0 to 2147483639`},
		{"two datasets", of(arxiv(), "other/num-node-list.csv", "1\n"), "DIR/x.zip: there are several datasets in it, x/other/num-node-list.csv.gz and x/raw/num-node-list.csv.gz among them: unpack it, and name the folder of one"},
		{"columns of OGB", func(t *testing.T, dir string) error {
			_, err := readWith(packed(t, "x", arxiv()) + "#year")
			return fmt.Errorf("DIR/%s", err.Error()[strings.Index(err.Error(), "x.zip"):])
		}, `DIR/x.zip/x/raw/node-label.csv: there is no column "year"; there are "node-label", "node-feat", "node_year", "edge-feat"`},
		{"cut archive", func(t *testing.T, dir string) error {
			b, err := os.ReadFile(packed(t, "x", arxiv()))
			if err != nil {
				return err
			}
			_, err = readWith(saved(t, dir, "x.zip", string(b[:len(b)-30])) + "/x.zip")
			return err
		}, "DIR/x.zip: the zip archive is cut or damaged: download or copy it again"},
	}
}

func FuzzOGB(f *testing.F) {
	a, h := arxiv(), hiv()
	f.Add(a["raw/edge.csv"], "4\n", "5\n", a["raw/node-feat.csv"], a["raw/edge-feat.csv"], a["raw/node_year.csv"], a["raw/node-label.csv"], "2\n0\n")
	f.Add(h["raw/edge.csv"], h["raw/num-node-list.csv"], h["raw/num-edge-list.csv"], h["raw/node-feat.csv"], h["raw/edge-feat.csv"], "", "0,\n1,1\nnan,0\n", "1\n")
	f.Fuzz(func(t *testing.T, edges, nodes, counts, features, ofEdges, years, labels, train string) {
		parts := map[string]string{"raw/edge.csv": edges, "raw/num-node-list.csv": nodes, "raw/num-edge-list.csv": counts,
			"raw/node-label.csv": labels, "raw/graph-label.csv": labels, "split/s/train.csv": train, "split/s/valid.csv": "\n", "split/s/test.csv": "\n"}
		path := packed(t, "x", changed(parts, "raw/node-feat.csv", features, "raw/edge-feat.csv", ofEdges, "raw/node_year.csv", years))
		d, err := readWith(path)
		if err == nil {
			err = d.Check()
		} else if strings.Contains(err.Error(), path) {
			err = nil
		}
		g, bad := LoadGraphs(path)
		if bad == nil {
			bad = g.Check()
			g.Batch(ids(g.Len()))
		} else if strings.Contains(bad.Error(), path) {
			bad = nil
		}
		if err != nil || bad != nil {
			t.Fatal(err, bad)
		}
	})
}

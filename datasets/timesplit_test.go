package datasets

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// dated is a table of papers with their years and of when who cited whom.
func dated(t *testing.T, chosen string) *Dataset {
	t.Helper()
	dir := saved(t, t.TempDir(), "p_nodes.csv", "id,year,topic\na,2015,x\nb,2017,y\nc,2018,x\nd,2019,y\ne,2020,x\nf,2021,\n",
		"p_edges.csv", "source,target,cited_at,kind\nb,a,2017-12-31T23:00:00Z,in\nc,a,2018-01-01,in\nd,b,2018-06-30,out\ne,d,2019-03-01,in\nf,e,2020-01-01,in\nd,a,2016-02-02,in\n")
	d, err := readWith(dir + "/p_edges.csv#topic" + chosen)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The rule of OGB's arXiv: papers up to a year train, those of the next validate, later ones
// test; of links by their times.
func TestSplitByTime(t *testing.T) {
	for _, chosen := range []string{"", ",-year,-cited_at", ",undirected"} {
		d := dated(t, chosen)
		s, err := d.NodesByTime("", Until{"2017", "2018"})
		if err != nil || fmt.Sprint(s) != "{[0 1] [2] [3 4]}" { // f has no topic
			t.Errorf("%s: nodes %v, error %v", chosen, s, err)
		}
		edges, err := d.EdgesByTime("cited at", Until{"2017", "2018-06"})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, p := range edges.parts() {
			for _, e := range p.ids {
				u, v := d.Graph.In().Cols[e], d.Graph.Destinations()[e]
				got[d.NodeNames[u]+d.NodeNames[v]] = p.name
			}
		}
		want := map[string]string{"ba": "train", "da": "train", "ca": "val", "db": "val", "ed": "test", "fe": "test"}
		if chosen == ",undirected" {
			for k, part := range want {
				got[k[1:]+k[:1]] += ""
				if got[k[1:]+k[:1]] != part {
					t.Errorf("the reverse of %s is in %s", k, got[k[1:]+k[:1]])
				}
				delete(got, k[1:]+k[:1])
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: edges %v, want %v", chosen, got, want)
		}
	}
	if d := dated(t, ",-year"); d.Features.Shape()[1] != 6 { // the identity: nothing is left
		t.Errorf("features %v", d.Features)
	}
	d := dated(t, "")
	d.Labels = nil // of all nodes; the earliest eight tenths
	if s, err := d.NodesByTime("year", Until{}); err != nil || fmt.Sprint(s) != "{[0 1 2 3] [4] [5]}" {
		t.Errorf("nodes %v, error %v", s, err)
	}
}

func TestBadSplitByTime(t *testing.T) {
	d := dated(t, "")
	for _, c := range []struct {
		column     string
		train, val string
		want       string
	}{
		{"month", "1", "2", `no column "month" says when its nodes came; there are "year"`},
		{"", "2018", "2017", "2018 is not before 2017: training ends first, then validation"},
		{"", "soon", "2017", `"soon" is no number, as column "year" has them`},
		{"", "2030", "2031", `column "year" goes from 2015 to 2021, and of its nodes none is left to validate`},
		{"", "2000", "2001", "none is left to train: choose where training and validation end"},
		{"", "NaN", "2001", "is no number"},
	} {
		if s, err := d.NodesByTime(c.column, Until{c.train, c.val}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, error %v, want %s", c, s, err, c.want)
		}
	}
	for u, want := range map[Until]string{
		{"soon", "2019"}: `"soon" is no time, as column "cited_at" has them: write 2017, 2017-06-30 or`,
		{"2030", "2031"}: `column "cited_at" goes from 2016-02-02 to 2020-01-01`,
	} {
		if s, err := d.EdgesByTime("", u); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, error %v, want %s", u, s, err, want)
		}
	}
	k := Karate()
	if _, err := k.NodesByTime("", Until{}); err == nil || !strings.Contains(err.Error(), "nothing says when its nodes came: a column of a table is called year") {
		t.Errorf("error %v", err)
	}
	d.NodeColumns = append(d.NodeColumns, d.NodeColumns[0])
	if _, err := d.NodesByTime("", Until{}); err == nil || !strings.Contains(err.Error(), `which column says when its nodes came? There are "year", "year"`) {
		t.Errorf("error %v", err)
	}
}

// The compact form keeps the columns, also what is not known, and files without them are read.
func TestColumnsInNPZ(t *testing.T) {
	d := dated(t, ",undirected")
	d.NodeColumns[0].Times[3] = NoTime
	d.NodeColumns = append(d.NodeColumns, Column{Name: "part", Numbers: []float64{0.1, math.NaN(), 1e-300, -0.5, 7, 8}})
	path := filepath.Join(t.TempDir(), "p.npz")
	if err := d.SaveNPZ(path); err != nil {
		t.Fatal(err)
	}
	e, err := readWith(path)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprint(d.NodeColumns, d.EdgeColumns), fmt.Sprint(e.NodeColumns, e.EdgeColumns); a != b || len(e.NodeColumns) != 2 || !e.EdgeColumns[0].Dated {
		t.Errorf("%s is read as %s", a, b)
	}
	d.NodeColumns, d.EdgeColumns = nil, nil
	if err := d.SaveNPZ(path); err != nil {
		t.Fatal(err)
	}
	if e, err = readWith(path); err != nil || e.NodeColumns != nil || e.EdgeColumns != nil {
		t.Errorf("%v, %v, error %v", e.NodeColumns, e.EdgeColumns, err)
	}
	d.NodeColumns = []Column{{Name: "year", Times: make([]int64, 5)}}
	if err := d.SaveNPZ(path); err != nil {
		t.Fatal(err)
	}
	if _, err = readWith(path); err == nil || !strings.Contains(err.Error(), `p.npz: array "node_column_0": its shape is [5], want a number for each of 6`) {
		t.Errorf("error %v", err)
	}
	d.NodeColumns, d.EdgeColumns = nil, []Column{{Name: "at", Times: make([]int64, 1)}}
	if err := d.Check(); err == nil || !strings.Contains(err.Error(), `column "at"`) {
		t.Errorf("error %v", err)
	}
}

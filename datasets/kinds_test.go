package datasets_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph/hetero"
)

// kindTables writes two tables and reads them.
func kindTables(t *testing.T, nodes, edges string) *datasets.Dataset {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"k_nodes.csv": nodes, "k_edges.csv": edges} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d, err := datasets.Load(filepath.Join(dir, "k_edges.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const (
	kindNodes = "id,age,kind\nz,1,shop\nb,2,person\na,3,shop\nc,4,person\n"
	kindEdges = "source,target,n,relation\nb,z,1,visits\nc,b,2,knows\nb,a,3,owns\nc,a,4,visits\n"
)

// A column of words says which kinds nodes and edges are of, beside what else is known of them; the
// graph by types has each edge where it belongs.
func TestKindsOfTables(t *testing.T) {
	d := kindTables(t, kindNodes, kindEdges)
	if k := d.NodeKinds; !slices.Equal(k.Names, []string{"person", "shop"}) || !slices.Equal(k.Of, []int32{1, 0, 1, 0}) {
		t.Errorf("kinds of nodes %v %v", k.Names, k.Of)
	}
	if !slices.Equal(d.EdgeKinds.Names, []string{"knows", "owns", "visits"}) || d.EdgeFeatures.Dim(1) != 4 {
		t.Errorf("kinds of edges %v, %d features", d.EdgeKinds.Names, d.EdgeFeatures.Dim(1))
	}
	h, nodes, err := d.Heterogeneous()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range h.Rels() {
		g := h.Graph(r)
		for e, u := range g.In().Cols {
			got = append(got, d.NodeNames[nodes[r.Src][u]]+" "+r.Name+" "+d.NodeNames[nodes[r.Dst][g.Destinations()[e]]])
		}
	}
	slices.Sort(got)
	if want := []string{"b owns a", "b visits z", "c knows b", "c visits a"}; !slices.Equal(got, want) {
		t.Errorf("edges %q, want %q", got, want)
	}
	both := d.Undirected()
	if h, _, err = both.Heterogeneous(); err != nil || h.Graph(hetero.Rel{Src: "shop", Name: "visits", Dst: "person"}).NumEdges() != 2 {
		t.Errorf("in both directions: %v", err)
	}
	if one := d.LargestComponent(); !slices.Equal(one.NodeKinds.Of, d.NodeKinds.Of) || !one.EdgeKinds.Known() {
		t.Errorf("the largest component has the kinds %v", one.NodeKinds)
	}
}

// Where kinds are not known the error says what would say them.
func TestKindsMissing(t *testing.T) {
	d := kindTables(t, kindNodes, kindEdges)
	for want, d := range map[string]*datasets.Dataset{
		"a column of words that is called kind": kindTables(t, strings.Replace(kindNodes, "a,3,shop", "a,3,", 1), kindEdges),
		"some of the edges have no kind":        d.WithSelfLoops(),
	} {
		if _, _, err := d.Heterogeneous(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	d.EdgeKinds = &datasets.Kinds{Names: []string{"one"}, Of: []int32{0, 0, 1, 0}}
	if err := d.Check(); err == nil || !strings.Contains(err.Error(), "the kind of edge 2 is 1, and there are names for 1") {
		t.Errorf("error %v", err)
	}
	if numbers := kindTables(t, strings.NewReplacer("shop", "1", "person", "2").Replace(kindNodes), kindEdges); numbers.NodeKinds != nil {
		t.Errorf("numbers are kinds: %v", numbers.NodeKinds)
	}
}

// An npz keeps kinds, both ways; one without has none.
func TestNPZKeepsKinds(t *testing.T) {
	d := kindTables(t, kindNodes, kindEdges)
	path := filepath.Join(t.TempDir(), "k.npz")
	for _, d := range []*datasets.Dataset{d, d.Undirected(), d.WithSelfLoops()} {
		if err := d.SaveNPZ(path); err != nil {
			t.Fatal(err)
		}
		e, err := datasets.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(d.NodeKinds, e.NodeKinds) || !reflect.DeepEqual(d.EdgeKinds, e.EdgeKinds) {
			t.Errorf("written %v %v, read %v %v", d.NodeKinds, d.EdgeKinds, e.NodeKinds, e.EdgeKinds)
		}
	}
	bare := *d
	bare.NodeKinds, bare.EdgeKinds = nil, nil
	if err := bare.SaveNPZ(path); err != nil {
		t.Fatal(err)
	}
	if e, err := datasets.Load(path); err != nil || e.NodeKinds != nil || e.EdgeKinds != nil {
		t.Errorf("kinds %v %v, error %v", e.NodeKinds, e.EdgeKinds, err)
	}
}

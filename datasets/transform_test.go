package datasets

import (
	"fmt"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// ofEdges is a path 0→1→2 and a pair 3↔4 whose edges have a class and a number.
func ofEdges() *Dataset {
	d := &Dataset{Name: "edges", Graph: graph.Must(graph.New(5, []int32{0, 1, 3, 4}, []int32{1, 2, 4, 3})), Features: identity(5), Classes: 3}
	d.EdgeLabels = make([]int32, 4)
	d.EdgeFeatures = tensor.New(4, 2)
	for e, u := range d.Graph.In().Cols { // 0→1: class 1, 1→2: 2, 3→4: −1, 4→3: 0
		d.EdgeLabels[e] = []int32{1, 2, 0, -1, 0}[u]
		copy(d.EdgeFeatures.Row(e), []tensor.Float{tensor.Float(u) + 1, 7})
		if u < 2 {
			d.Split.Train = append(d.Split.Train, int32(e))
		} else {
			d.Split.Test = append(d.Split.Test, int32(e))
		}
	}
	return d
}

// told says of each edge what is known of it.
func told(d *Dataset) string {
	out := ""
	for e, u := range d.Graph.In().Cols {
		part := "none"
		for _, p := range d.Split.parts() {
			if slices.Contains(p.ids, int32(e)) {
				part = p.name
			}
		}
		out += fmt.Sprintf("%d→%d:%d%v%s ", u, d.Graph.Destinations()[e], d.EdgeLabels[e], d.EdgeFeatures.Row(e), part)
	}
	return out
}

func TestWhatIsKnownOfEdgesIsCarried(t *testing.T) {
	d := ofEdges()
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		got  *Dataset
		want string
	}{
		{"both directions", d.Undirected(), "1→0:1[1 7]train 0→1:1[1 7]train 2→1:2[2 7]train 1→2:2[2 7]train 4→3:0[5 7]test 3→4:-1[4 7]test "},
		{"self-loops", d.LargestComponent().WithSelfLoops(), "0→0:-1[0 0]none 0→1:1[1 7]train 1→1:-1[0 0]none 1→2:2[2 7]train 2→2:-1[0 0]none "},
		{"one component", d.LargestComponent(), "0→1:1[1 7]train 1→2:2[2 7]train "},
	} {
		if err := c.got.Check(); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if got := told(c.got); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.what, got, c.want)
		}
	}
	if got := told(d); got != told(ofEdges()) {
		t.Errorf("the dataset itself is another: %s", got)
	}
}

func TestCheckOfEdges(t *testing.T) {
	for want, change := range map[string]func(d *Dataset){
		"": func(*Dataset) {},
		"features of edges of shape [3 2] for 4 edges":                 func(d *Dataset) { d.EdgeFeatures = tensor.New(3, 2) },
		"targets of shape [3 1] for 4 edges":                           func(d *Dataset) { d.EdgeLabels, d.Classes, d.EdgeTargets = nil, 0, tensor.New(3, 1) },
		"feature 1 of edge 2 is NaN":                                   func(d *Dataset) { d.EdgeFeatures.Row(2)[1] = tensor.Float(nan()) },
		"3 labels for 4 edges":                                         func(d *Dataset) { d.EdgeLabels = d.EdgeLabels[:3] },
		"the label of edge 1 is 3; classes are 0 to 2, and -1 is none": func(d *Dataset) { d.EdgeLabels[1] = 3 },
		"of labels, multiple labels, targets, labels of edges and targets of edges there are 2, want one": func(d *Dataset) {
			d.Labels = make([]int32, 5)
		},
		"train edge 2 is 4; the edges are 0 to 3": func(d *Dataset) { d.Split.Train = []int32{0, 1, 4} },
	} {
		d := ofEdges()
		change(d)
		if err := d.Check(); fmt.Sprint(err) != want && (want != "" || err != nil) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	unknown := &Dataset{Graph: ofEdges().Graph, Features: identity(5), Targets: tensor.Of([]tensor.Float{1, tensor.Float(nan()), 0, tensor.Float(nan()), 2}, 5, 1)}
	if err := unknown.Check(); err != nil {
		t.Errorf("targets that are not known: %v", err)
	}
	several := &Dataset{Graph: unknown.Graph, Features: identity(5), Classes: 1, MultiLabels: sparse.FromDense(unknown.Targets)}
	if err := several.Check(); fmt.Sprint(err) != "element 3 of the labels is 2; want 1 for a class that a node has, and NaN where that is not known" {
		t.Errorf("several labels: %v", err)
	}
	several.MultiLabels.Values[3] = 1
	if err := several.Check(); err != nil || several.classSizes()[0] != 2 {
		t.Errorf("several labels: %v, %d nodes of the class", err, several.classSizes()[0])
	}
}

// TestWithFeatures: columns come after those that are there, of sparse features and dense.
func TestWithFeatures(t *testing.T) {
	g := graph.Must(graph.New(3, []int32{0}, []int32{1}))
	more := tensor.Of([]tensor.Float{1, 0, 0, 0, 5, 6}, 3, 2)
	matrix := func(values []tensor.Float) *sparse.CSR {
		a, err := sparse.New(3, 2, []int64{0, 1, 1, 3}, []int32{1, 0, 1}, values)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	csr, ones := matrix([]tensor.Float{7, 8, 9}), matrix(nil)
	for _, c := range []struct {
		x    tensor.Array
		want []tensor.Float
	}{
		{csr, []tensor.Float{0, 7, 1, 0, 0, 0, 0, 0, 8, 9, 5, 6}},
		{ones, []tensor.Float{0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 5, 6}},
		{csr.Dense(), []tensor.Float{0, 7, 1, 0, 0, 0, 0, 0, 8, 9, 5, 6}},
	} {
		d := &Dataset{Graph: g, Features: c.x}
		y := d.WithFeatures(more).Features
		if a, ok := y.(*sparse.CSR); ok {
			if a.NNZ() != 6 {
				t.Errorf("%d elements are stored, want 6", a.NNZ())
			}
			y = a.Dense()
		}
		if got := y.(*tensor.Dense); !slices.Equal(got.Data, c.want) || d.Features != c.x {
			t.Errorf("%v, want %v", got.Data, c.want)
		}
	}
	defer func() {
		if err, ok := recover().(*tensor.ShapeError); !ok {
			t.Errorf("rows of other nodes panic with %v", err)
		}
	}()
	(&Dataset{Graph: g, Features: csr}).WithFeatures(tensor.New(2, 2))
}

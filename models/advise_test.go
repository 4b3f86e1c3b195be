package models_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// planted draws nodes of two classes, of which the first train. As many of a hundred of their edges lead to nodes of the same class.
func planted(nodes, train, alike int, scale float64) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(3, uint64(alike)))
	d := &datasets.Dataset{Name: "planted", Classes: 2, Labels: make(datasets.Labels, nodes)}
	x := tensor.New(nodes, 3)
	x.Normal(rng, 0, scale)
	var src, dst []int32
	for v := range int32(nodes) {
		d.Labels[v] = v % 2
		x.Row(int(v))[0] += tensor.Float(scale * float64(v%2))
		for range 4 {
			u := 2*int32(rng.IntN(nodes/2)) + v%2
			if rng.IntN(100) >= alike {
				u ^= 1
			}
			src, dst = append(src, u), append(dst, v)
		}
	}
	d.Features, d.Graph = x, graph.Must(graph.New(nodes, src, dst))
	for v := range int32(nodes) {
		switch {
		case int(v) < train:
			d.Split.Train = append(d.Split.Train, v)
		case v%3 == 0:
			d.Split.Val = append(d.Split.Val, v)
		default:
			d.Split.Test = append(d.Split.Test, v)
		}
	}
	return d
}

func advised(t *testing.T, d *datasets.Dataset, m models.Model) models.Advice {
	t.Helper()
	data, err := models.Prepare(d, &models.Preparation{})
	if err != nil {
		t.Fatal(err)
	}
	return models.Advise(data, d.Split, m)
}

// What is advised follows from how many labels train and from how neighbours differ in them.
func TestAdvise(t *testing.T) {
	for _, tt := range []struct {
		name               string
		train, alike       int
		scale              float64
		deep, many         bool
		layers             int
		norm               models.Norm
		form, because, not string
	}{
		{"few labels", 198, 90, 1, false, false, 2, "", columns.Raw, "few labels: 99 training nodes per class", ""},
		{"many labels", 200, 90, 1, true, true, 2, models.NormLayer, columns.Raw, "many labels: 100 training nodes per class", ""},
		{"most labels", 2000, 90, 1, true, true, 3, models.NormLayer, columns.Raw, "many labels: 1000 training nodes per class", ""},
		{"few labels, neighbours differ", 198, 50, 1, true, false, 2, models.NormLayer, columns.Raw, "neighbours differ: the adjusted homophily of the training labels is", "labels:"},
		{"most labels, neighbours differ", 2000, 10, 1, true, true, 6, models.NormBatch, columns.Raw, "neighbours differ: the adjusted homophily of the training labels is -0.", ""},
		{"large scale", 200, 90, 100, true, true, 2, models.NormLayer, columns.Standard, "many labels", ""},
	} {
		d := planted(2400, tt.train, tt.alike, tt.scale)
		a := advised(t, d, nil)
		s := models.SettingsOf(a.Model)
		if a.Deep != tt.deep || a.Many != tt.many || s.Layers != tt.layers || s.Norm != tt.norm || s.ResidualLinear != tt.deep || a.Form != tt.form || !strings.HasPrefix(a.Because, tt.because) {
			t.Errorf("%s: %+v because %s", tt.name, s, a.Because)
		}
		if a.Deep != (a.Patience > 0) {
			t.Errorf("%s: a patience of %d", tt.name, a.Patience)
		}
		// What is not among the labels that train changes nothing.
		for v := tt.train; v < 2400; v++ {
			d.Labels[v] = int32(v/2) % 2
		}
		if b := advised(t, d, nil); !reflect.DeepEqual(models.SettingsOf(b.Model), s) || b.Because != a.Because {
			t.Errorf("%s: the labels of the test are looked at: %s", tt.name, b.Because)
		}
	}
}

// Of a table of which few rows of a rare class train the network has one layer, whose messages hold the columns of edges if there are any.
func TestAdviseRare(t *testing.T) {
	tables, err := datasets.Bank{Customers: 400, Payments: 2000}.Draw()
	if err != nil {
		t.Fatal(err)
	}
	read := func(edges [][]string) *datasets.Dataset {
		dir := t.TempDir()
		for name, rows := range map[string][][]string{"bank_nodes.csv": tables.Customers, "bank_edges.csv": edges} {
			var b bytes.Buffer
			if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d, err := datasets.LoadAs(dir, columns.Roles{Label: []string{"defaulted"}})
		if err != nil {
			t.Fatal(err)
		}
		for v, c := range d.Labels {
			switch {
			case c < 0:
			case v%2 == 0:
				d.Split.Train = append(d.Split.Train, int32(v))
			default:
				d.Split.Val = append(d.Split.Val, int32(v))
			}
		}
		return d
	}
	var ends [][]string
	for _, row := range tables.Payments {
		ends = append(ends, row[:2])
	}
	for _, tt := range []struct {
		edges [][]string
		m     models.Model
		name  string
	}{{tables.Payments, nil, "transformer"}, {ends, nil, "gat"}, {tables.Payments, models.SAGE{}, "sage"}} {
		a := advised(t, read(tt.edges), tt.m)
		if s := models.SettingsOf(a.Model); models.TraitsOf(a.Model).Name != tt.name || s.Layers != 1 || a.Decay != 1e-2 || a.Metric != "ap" || !strings.HasPrefix(a.Because, "few of the rarer class: ") {
			t.Errorf("%s is advised as %s, %+v, because %s", tt.name, models.TraitsOf(a.Model).Name, s, a.Because)
		}
		if strings.Contains(a.Because, "columns of edges") != (tt.name == "transformer") {
			t.Errorf("%s is advised because %s", tt.name, a.Because)
		}
	}
}

// Few labels get what the model's paper says, what a model says of itself stays, and one without norms is that of its paper.
func TestAdviceKeepsSettings(t *testing.T) {
	few, many := planted(600, 100, 90, 1), planted(600, 400, 90, 1)
	for _, name := range models.Names() {
		m, err := models.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		paper := models.SettingsOf(m)
		if got := models.SettingsOf(advised(t, few, m).Model); !reflect.DeepEqual(got, paper) {
			t.Errorf("%s with few labels: %+v, want %+v", name, got, paper)
		}
		a := advised(t, many, m)
		got, traits := models.SettingsOf(a.Model), models.TraitsOf(m)
		if a.Deep != traits.Has("Norm") || !a.Deep && !reflect.DeepEqual(got, paper) || a.Deep && (got.Norm == "" || !got.Output) {
			t.Errorf("%s with many labels: %+v", name, got)
		}
		if edges := traits.Edges; edges != models.WantsNumbers && edges != models.WantsKinds {
			data, err := models.Prepare(many, &models.Preparation{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := data.New(a.Model, 1); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if a := advised(t, planted(600, 100, 10, 1), models.H2GCN{}); a.Deep || !strings.HasSuffix(a.Because, ", and H2GCN has settings of its own") {
		t.Errorf("H2GCN is advised because %s", a.Because)
	}
	own := models.GAT{Hidden: 5, Layers: 4, Dropout: grad.Zero, Norm: models.NormBatch}
	got := models.SettingsOf(advised(t, many, own).Model)
	if got.Hidden != 5 || got.Layers != 4 || got.Dropout != grad.Zero || got.Norm != models.NormBatch || !got.ResidualLinear || got.Heads != 4 {
		t.Errorf("of what a model says of itself is left %+v", got)
	}
	numbers := planted(600, 400, 90, 1)
	numbers.Labels, numbers.Classes, numbers.Targets = nil, 0, tensor.New(600, 1)
	for v := range 600 {
		numbers.Targets.Data[v] = tensor.Float(10*(v%2)) + tensor.Float(v%7)
	}
	if a := advised(t, numbers, models.GCN{}); !a.Deep || a.Homophily < 0.3 || !strings.Contains(a.Because, "400 training nodes") || strings.Contains(a.Because, "class") {
		t.Errorf("of numbers: %s", a.Because)
	}
}

// The training that is advised has its rate and length, and learns what a node's own row says where neighbours say nothing.
func TestAdviceFit(t *testing.T) {
	d := planted(600, 400, 50, 1)
	x := d.Features.(*tensor.Dense)
	for v := range 600 {
		x.Row(v)[0] += tensor.Float(4 * float64(v%2))
	}
	data, err := models.Prepare(d, &models.Preparation{})
	if err != nil {
		t.Fatal(err)
	}
	a := models.Advise(data, d.Split, nil)
	if !a.Deep || math.IsNaN(a.Homophily) || math.Abs(a.Homophily) > 0.1 {
		t.Fatalf("%s, homophily %v", a.Because, a.Homophily)
	}
	net, err := data.New(a.Model, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := a.Fit(net, data, d.Split)
	if adam := f.Optimiser.(*train.Adam); adam.LR != a.Rate || adam.WeightDecay != a.Decay || f.Epochs != a.Epochs || f.Patience != a.Patience {
		t.Errorf("the training is %+v", f)
	}
	f.Epochs = 30
	if _, err := f.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := data.Goal.Score(net.Run(grad.NewEval(), data.All(net)).Value(), d.Split.Test); s.Accuracy < 0.95 {
		t.Errorf("test accuracy %v", s.Accuracy)
	}
}

package datasets

import (
	"math"
	"os"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/tensor"
)

// readWith is LoadAs of a path that says after a # which columns are to be learnt, which after a hyphen are left out,
// and whether edges are undirected.
func readWith(path string) (*Dataset, error) {
	file, r := rolesOf(path)
	raw, err := form.Load(file, r.Options())
	if err != nil {
		return nil, err
	}
	return asTheyStand(raw, r)
}

// asTheyStand is From of columns whose numbers stay as they are, and whose times are days alone: what is read of files, before anything is
// standardised.
func asTheyStand(raw *form.Raw, r columns.Roles) (*Dataset, error) {
	s, err := columns.Choose(raw, r)
	if err != nil {
		return nil, err
	}
	for _, tables := range [][]columns.Table{s.Nodes, s.Edges} {
		for i := range tables {
			plainly(&tables[i])
		}
	}
	d, err := From(raw, s)
	if err == nil {
		d.Features = days(d.Features, &d.FeatureNames, d.Schema.Nodes)
		if d.EdgeFeatures != nil {
			d.EdgeFeatures = days(d.EdgeFeatures, nil, d.Schema.Edges).(*tensor.Dense)
		}
	}
	return d, err
}

// plainly lets the numbers of a table stay as they are.
func plainly(t *columns.Table) {
	for i := range t.Columns {
		if c := &t.Columns[i]; c.As == columns.AsNumber {
			c.As = columns.AsPlain
		}
	}
}

// days returns features without those that say what is empty and where in a cycle a time is, and with times as days.
func days(x tensor.Array, names *[]string, tables []columns.Table) tensor.Array {
	a, dense := x.(*tensor.Dense)
	if !dense || len(tables) != 1 {
		return x
	}
	var kept []int
	at, changed := 0, false
	for _, c := range tables[0].Columns {
		width := 1
		switch c.As {
		case columns.AsCategory:
			width = len(c.Words)
		case columns.AsMatrix:
			width = c.Width
		}
		for j := range width {
			kept = append(kept, at+j)
		}
		for v := range a.Rows() {
			if c.As == columns.AsTime && c.Scale != nil {
				f := &a.Row(v)[at]
				age := float64(*f)*c.Scale.Dev + c.Scale.Mean
				if c.Scale.Dev > 0.01 {
					age = math.Round(age*1e3)/1e3 + 0 // and no −0
				}
				*f = tensor.Float(age)
			}
		}
		if at += width + 2*len(c.Cycles); c.Gaps && (c.As == columns.AsPlain || c.As == columns.AsTime) {
			at++
		}
		changed = changed || at > kept[len(kept)-1]+1
	}
	if !changed {
		return a
	}
	b := tensor.New(a.Rows(), len(kept))
	for v := range a.Rows() {
		for k, j := range kept {
			b.Row(v)[k] = a.Row(v)[j]
		}
	}
	if names != nil && *names != nil {
		own := []string{}
		for _, j := range kept {
			own = append(own, (*names)[j])
		}
		*names = own
	}
	return b
}

// rolesOf is the path and the roles of readWith.
func rolesOf(path string) (file string, r columns.Roles) {
	text := ""
	if _, err := os.Stat(path); err != nil {
		if at := strings.LastIndexByte(path, '#'); at >= 0 {
			path, text = path[:at], path[at+1:]
		}
	}
	file = path
	r.As = map[string]columns.Encoding{}
	for _, name := range strings.Split(text, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "":
		case name == "undirected":
			r.Undirected = true
		case name == "directed":
			r.Directed = true
		case name[0] == '-':
			r.As[name[1:]] = columns.Left
		default:
			r.Label = append(r.Label, name)
		}
	}
	return file, r
}

// readText is readWith of a text that a file of that name would hold.
func readText(text, path string) (*Dataset, error) {
	file, r := rolesOf(path)
	raw, err := form.Read(strings.NewReader(text), file, r.Options())
	if err != nil {
		return nil, err
	}
	return asTheyStand(raw, r)
}

const (
	mark        = "\ufeff"
	webPages    = "out1_node_feature_label.txt"
	webLinks    = "out1_graph_edges.txt"
	second, day = 1_000_000, 24 * 60 * 60 * second
	sparseLeast = 16 // columns from which on mostly zeros are sparse
)

package columns

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/tensor"
)

// weights reads the weights of edges. Those of a kind that has none are 1.
func (a *applier) weights() error {
	at, n := 0, 0
	for i := range a.raw.Edges {
		n += a.raw.Edges[i].Rows
	}
	for i := range a.raw.Edges {
		t, name := &a.raw.Edges[i].Table, a.s.Edges[a.edges[i]].Weight
		if name != "" {
			col := t.Column(name)
			if col == nil {
				return fmt.Errorf("%s: there is no column %.40q, which the model reads as the weights of edges; there are %s", where(t), name, listed(namesIn(t)))
			}
			if a.out.Weights == nil {
				a.out.Weights = make([]tensor.Float, n)
				tensor.Of(a.out.Weights, n).Fill(1)
			}
			if err := weigh(a.out.Weights[at:at+t.Rows], t, col); err != nil {
				return err
			}
		}
		at += t.Rows
	}
	return nil
}

func namesIn(t *form.Table) (names []string) {
	for i := range t.Columns {
		names = append(names, t.Columns[i].Name)
	}
	return names
}

// weigh reads a column of weights.
func weigh(w []tensor.Float, t *form.Table, col *form.Column) error {
	wrong := func(row int, says string, args ...any) error {
		return fmt.Errorf("%s, column %.40q: %w", t.At(col, row), col.Name, fmt.Errorf(says, args...))
	}
	if col.Type == form.Word || col.Type == form.Many || col.Type == form.Time && col.Dated {
		row, text := firstNot(col, AsNumber)
		return wrong(row, "the weight is %.40q, want a finite number", text)
	}
	x := numbersOf(col, t.Rows)
	for row := range t.Rows {
		v := x.of(row)
		switch {
		case v != v:
			return wrong(row, "the edge has no weight, and others have one: write it, 1 perhaps, or leave the column out with --column %s=none", col.Name)
		case !finite(v):
			return wrong(row, "the weight is %v, want a finite number", v)
		}
		w[row] = tensor.Float(v)
	}
	return nil
}

// kinds says which kinds nodes and edges are of: of several types or kinds these, and else what a column says.
func (a *applier) kinds() error {
	var err error
	if a.out.NodeKinds, err = a.kindsOf(a.s.Nodes, len(a.raw.Nodes), func(i int) (*form.Table, int) { return &a.raw.Nodes[i].Table, a.nodes[i] }); err != nil {
		return err
	}
	a.out.EdgeKinds, err = a.kindsOf(a.s.Edges, len(a.raw.Edges), func(i int) (*form.Table, int) { return &a.raw.Edges[i].Table, a.edges[i] })
	return err
}

func (a *applier) kindsOf(tables []Table, n int, table func(i int) (*form.Table, int)) (*Kinds, error) {
	if len(tables) > 1 {
		k, place := &Kinds{}, make([]int32, len(tables))
		for i, t := range tables {
			at := slices.Index(k.Names, t.Type)
			if at < 0 {
				at, k.Names = len(k.Names), append(k.Names, t.Type)
			}
			place[i] = int32(at)
		}
		for i := range n {
			t, own := table(i)
			k.Of = append(k.Of, slices.Repeat([]int32{place[own]}, t.Rows)...)
		}
		return k, nil
	}
	if n != 1 || tables[0].Kind == "" || tables[0].Kinds == nil {
		return nil, nil
	}
	t, _ := table(0)
	col := t.Column(tables[0].Kind)
	if col == nil {
		return nil, fmt.Errorf("%s: there is no column %.40q, which says of which kind a row is; there are %s", where(t), tables[0].Kind, listed(namesIn(t)))
	}
	k := &Kinds{Names: tables[0].Kinds, Of: make([]int32, t.Rows)}
	x, ordered := textsOf(col), col.Type == form.Word && col.Words.Ordered && slices.Equal(col.Words.Texts, k.Names)
	of := map[string]int32{}
	for i, name := range k.Names {
		of[name] = int32(i)
	}
	for row := range k.Of {
		if k.Of[row] = -1; ordered {
			k.Of[row] = col.Words.Codes[row]
		} else if row < x.rows {
			if text, ok := x.text(row); ok {
				if at, known := of[text]; known {
					k.Of[row] = at
				}
			}
		}
	}
	return k, nil
}

// titles reads what people call nodes and graphs.
func (a *applier) titles() error {
	n, some := 0, false
	for i := range a.raw.Nodes {
		n += a.raw.Nodes[i].Rows
	}
	titles := make([]string, 0, n)
	for i := range a.raw.Nodes {
		list := titlesOf(&a.raw.Nodes[i].Table, a.s.Nodes[a.nodes[i]].Title)
		if some = some || list != nil; list == nil {
			list = make([]string, a.raw.Nodes[i].Rows)
		}
		titles = append(titles, list...)
	}
	if some {
		a.out.Titles = titles
	}
	if a.raw.Graphs != nil && a.s.Graphs != nil {
		a.out.GraphTitles = titlesOf(&a.raw.Graphs.Table, a.s.Graphs.Title)
	}
	return nil
}

// titlesOf returns the texts of a column, nil if there is none.
func titlesOf(t *form.Table, name string) []string {
	col := t.Column(name)
	if name == "" || col == nil {
		return nil
	}
	out := make([]string, t.Rows)
	if col.Type == form.Word {
		for row := range out {
			out[row] = col.Words.At(row)
		}
		return out
	}
	x := textsOf(col)
	for row := range min(x.rows, len(out)) {
		out[row], _ = x.text(row)
	}
	return out
}

package columns

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/form"
)

// Split reads the column that says which part of the split a row of what is learnt is in; nil if there is none. The Schema need not
// be fitted.
func (s *Schema) Split(raw *form.Raw) (*form.Split, error) {
	nodes, edges, err := s.match(raw)
	if err != nil {
		return nil, err
	}
	a := &applier{s: s, raw: raw, nodes: nodes, edges: edges, out: &Applied{}}
	err = a.split()
	return a.out.Split, err
}

// split reads the column that says which part of the split a row of what is learnt is in.
func (a *applier) split() error {
	of := form.OfNodes
	if a.raw.Graphs != nil {
		of = form.OfGraphs
	} else if a.s.Label != nil {
		of = a.s.Label.Of
	}
	split, there := &form.Split{Of: of}, false
	add := func(own *Table, t *form.Table, at int) error {
		if col := t.Column(own.Part); own.Part != "" && col != nil {
			there = true
			return addParts(split, t, col, at, own.Parts, !a.s.Fitted && len(a.raw.Nodes) == 1 && len(a.raw.Edges) < 2)
		}
		masked, err := addMasks(split, t, own.Masks, at)
		there = there || masked
		return err
	}
	at := 0
	switch of {
	case form.OfNodes:
		for i := range a.raw.Nodes {
			if err := add(&a.s.Nodes[a.nodes[i]], &a.raw.Nodes[i].Table, at); err != nil {
				return err
			}
			at += a.raw.Nodes[i].Rows
		}
	case form.OfEdges:
		for i := range a.raw.Edges {
			if err := add(&a.s.Edges[a.edges[i]], &a.raw.Edges[i].Table, at); err != nil {
				return err
			}
			at += a.raw.Edges[i].Rows
		}
	case form.OfGraphs:
		if a.s.Graphs != nil {
			if err := add(a.s.Graphs, &a.raw.Graphs.Table, 0); err != nil {
				return err
			}
		}
	}
	if there {
		a.out.Split = split
	}
	return nil
}

// addMasks adds the rows of a table to the parts that columns of masks say. There may be none of these columns.
func addMasks(s *form.Split, t *form.Table, names []string, at int) (there bool, err error) {
	in := make([]bool, t.Rows)
	for _, name := range names {
		col, which := t.Column(name), slices.Index(maskNames, form.Plain(name))
		if col == nil || which < 0 {
			continue
		}
		there = true
		if col.Type == form.Word || col.Type == form.Time || col.Type == form.Many {
			row, text := firstNot(col, AsNumber)
			return there, fmt.Errorf("%s, column %.40q: %.40q is neither true nor false, nor 1 or 0", t.At(col, row), col.Name, text)
		}
		part := []*[]int32{&s.Train, &s.Val, &s.Test}[which]
		x := numbersOf(col, t.Rows)
		for row := range t.Rows {
			if v := x.of(row); v != v || v == 0 {
				continue
			}
			if in[row] {
				return there, fmt.Errorf("%s, column %.40q: the node is in two parts of the split", t.At(col, row), col.Name)
			}
			in[row] = true
			*part = append(*part, int32(at+row))
		}
	}
	return there, nil
}

// Parts reads a column that says which part of a split a row of a table is in; nil if it is not there.
func (s *Schema) Parts(t *form.Table, name string) (*form.Split, error) {
	col := t.Column(name)
	if name == "" || col == nil {
		return nil, nil
	}
	out := new(form.Split)
	return out, addParts(out, t, col, 0, nil, false)
}

// PartError is a word of a column that names no part of a split.
type PartError struct{ Where, Column, Word string }

func (e *PartError) Error() string {
	return fmt.Sprintf("%s, column %.40q: %.40q is no part of a split: want train, val or test, or nothing", e.Where, e.Column, e.Word)
}

// addParts adds the rows of a table to the parts that a column says. If words say which part they mean, the others train, or are in no part
// if some mean train. All of these words must be there if all is set.
func addParts(s *form.Split, t *form.Table, col *form.Column, at int, words map[string]string, all bool) error {
	x := textsOf(col)
	others, seen := "train", map[string]bool{}
	for _, part := range words {
		if part == "train" {
			others = ""
		}
	}
	for row := range x.rows {
		text, ok := x.text(row)
		if !ok {
			continue
		}
		if col.Type == form.Word {
			text = labelText(col, row)
		}
		v := int32(at + row)
		if len(words) > 0 && text != "" {
			seen[text] = true
			var known bool
			if text, known = words[text]; !known {
				text = others
			}
		}
		switch strings.ToLower(text) {
		case "", "none", "nan", "unused":
		case "train", "training", "tr":
			s.Train = append(s.Train, v)
		case "val", "valid", "validation", "dev":
			s.Val = append(s.Val, v)
		case "test", "testing", "te":
			s.Test = append(s.Test, v)
		default:
			return &PartError{t.At(col, row), col.Name, text}
		}
	}
	for _, word := range slices.Sorted(maps.Keys(words)) {
		if all && !seen[word] {
			return fmt.Errorf("%s, column %.40q: no row has %.40q, which is to mean %s", where(t), col.Name, word, words[word])
		}
	}
	return nil
}

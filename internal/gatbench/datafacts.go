package gatbench

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/internal/task/source"
)

// related is data of edges alone, whose ends are no nodes with features: facts, or who took what.
type related struct {
	Name      string `json:"name"`
	From      string `json:"from"`
	Entities  int    `json:"entities,omitempty"`
	Relations int    `json:"relations,omitempty"`
	Facts     []int  `json:"facts,omitempty"` // that train, validate and test
	Users     int    `json:"users,omitempty"`
	Items     int    `json:"items,omitempty"`
	Links     int    `json:"links,omitempty"`
}

// relatedIn reads a folder of facts, or a table of users and items; nil if name is that of neither.
func relatedIn(dir, name string) (*related, error) {
	if source.IsFacts(dir, name) {
		k, err := source.ReadFacts(dir, name)
		if err != nil {
			return nil, err
		}
		return &related{Name: k.Name, From: name, Entities: k.Entities, Relations: k.Relations(), Facts: []int{k.Train.NumEdges(), k.Val.NumEdges(), k.Test.NumEdges()}}, nil
	}
	path := source.InteractionsIn(dir, name)
	if path == "" {
		return nil, nil
	}
	d, err := datasets.ReadInteractions(path)
	if err != nil {
		return nil, err
	}
	return &related{Name: d.Name, From: path, Users: len(d.Users), Items: len(d.Items), Links: d.Graph.NumEdges()}, nil
}

// describe prints what there is, a line each, and what trains on it.
func (d *related) describe(p *report.Printer, json bool) error {
	if json {
		p.Encode(d)
		return p.Err()
	}
	line := func(key, format string, args ...any) { p.Printf("%-9s %s\n", key, fmt.Sprintf(format, args...)) }
	line("name", "%s", plain.Text(d.Name))
	if d.Facts != nil {
		line("entities", "%d", d.Entities)
		line("relations", "%d", d.Relations)
		line("facts", "%s", d.facts())
	} else {
		line("users", "%d", d.Users)
		line("items", "%d", d.Items)
		line("links", "%d", d.Links)
	}
	line("to train", "%s", d.learntBy())
	line("from", "%s", plain.Text(d.From))
	return p.Err()
}

// facts says how many facts are for what.
func (d *related) facts() string {
	return fmt.Sprintf("%d train, %d validation, %d test", d.Facts[0], d.Facts[1], d.Facts[2])
}

// learntBy is the command that trains on it.
func (d *related) learntBy() string {
	model := "rotate"
	if d.Facts == nil {
		model = "lightgcn"
	}
	return fmt.Sprintf("%s train --task link --model %s --dataset %s", cli.Program, model, cli.Word(d.From))
}

// String says in a line what there is.
func (d *related) String() string {
	if d.Facts == nil {
		return fmt.Sprintf("%d users, %d items, %d links", d.Users, d.Items, d.Links)
	}
	return fmt.Sprintf("%d entities, %d relations, %s", d.Entities, d.Relations, d.facts())
}

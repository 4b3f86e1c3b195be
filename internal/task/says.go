package task

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/plain"
)

// SayDoubt says, before a training, what may be a mistake in its data, if anything is.
func SayDoubt(e cli.Env, doubt string) {
	if doubt != "" {
		report.Message(e.ErrOut, doubt)
	}
}

// columnsMost is how many lines say, before a training, what becomes of columns.
const columnsMost = 30

// SayColumns says, before a training, what may be a mistake in its data, and for people what was found and what becomes of the columns of tables.
func (c *Flags) SayColumns(e cli.Env, s *columns.Schema, found string, warnings []string) {
	if s != nil && !c.JSON {
		report.NewPrinter(e.Out).Line("%s", found)
		lines := s.Says()
		if more := len(lines) - columnsMost; more > 0 {
			lines = append(lines[:columnsMost:columnsMost], fmt.Sprintf("and %d more: %s data describe shows them", more, cli.Program))
		}
		if len(lines) > 0 {
			report.NewPrinter(e.Out).Lines(append(report.Fitted(lines, report.Width(e.Out)), ""))
		}
	}
	Warn(e, warnings)
}

// Found says what the data is: the tables of nodes and edges, their ids, and what is learnt.
func (c *Flags) Found(s *columns.Schema, d *datasets.Dataset) string {
	nodes, edges := fmt.Sprintf("%d nodes", d.Graph.NumNodes()), fmt.Sprintf("%d edges", d.Graph.NumEdges())
	if s == nil {
		return "found: " + nodes + ", " + edges
	}
	if k := d.NodeKinds; k.Known() && len(k.Names) > 1 {
		nodes += " of the types " + counted(k)
	} else {
		nodes += " (column " + cmp.Or(s.Options.ID, "id") + ")"
	}
	if k := d.EdgeKinds; k.Known() {
		edges += " of the kinds " + counted(k)
	} else if len(s.Edges) > 0 {
		edges += fmt.Sprintf(" (columns %s and %s)", cmp.Or(s.Options.Source, "source"), cmp.Or(s.Options.Target, "target"))
	}
	label := "no column to predict"
	if l := s.Label; l != nil && len(l.Columns) > 0 {
		label = fmt.Sprintf("to predict: %s of the %ss", strings.Join(l.Columns, ", "), l.Of)
	}
	return fmt.Sprintf("found: %s, %s; %s", nodes, edges, label)
}

// counted names kinds, each with its number; of many the first.
func counted(k *datasets.Kinds) string {
	n := make([]int, len(k.Names))
	for _, of := range k.Of {
		if of >= 0 {
			n[of]++
		}
	}
	var names []string
	for i, name := range k.Names {
		names = append(names, fmt.Sprintf("%s (%d)", plain.Text(name), n[i]))
	}
	return someOf(names)
}

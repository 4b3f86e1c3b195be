package main

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/tensor"
)

// predictCommand is gatbench predict.
type predictCommand struct {
	savedFlags `embed:""`
	Nodes      []int32  `placeholder:"N" help:"The nodes to classify (all); with a model of links, those whose likeliest new links are wanted."`
	Pairs      string   `placeholder:"FILE" help:"With a model of links: a csv or tsv of two nodes a line, whose links are scored."`
	Query      []string `sep:"none" placeholder:"HEAD,RELATION,?" help:"With a model of facts: whose missing end is wanted, the ? in place of head or tail; without a ? the fact itself is scored. May be given several times."`
	Queries    string   `placeholder:"FILE" help:"With a model of facts: a csv or tsv of such queries, one a line."`
	Top        *int     `placeholder:"K" help:"Of links and facts: how many answers to a question (10)."`
	Known      bool     `help:"Of links and facts: answer with what the dataset says already, too."`
	Out        string   `placeholder:"FILE" help:"Write to this file instead."`
}

// predicted is the class of a node or of a graph.
type predicted struct {
	Event       string  `json:"event"` // "predict"
	Node        *int32  `json:"node,omitempty"`
	Graph       *int32  `json:"graph,omitempty"`
	Class       int     `json:"class"`
	Name        string  `json:"name,omitempty"`
	Probability float64 `json:"probability"`
	Label       int32   `json:"label"` // what the dataset says; -1: nothing
}

// Run writes the class of each node, and how sure the model is.
func (c *predictCommand) Run(e env) error {
	if err := target("out", c.Out); err != nil {
		return err
	}
	c.out = file{"--out", c.Out}
	var write func(io.Writer) error
	var err error
	switch task := savedTask(c.File); task {
	case taskLink:
		write, err = c.links(e)
	case taskFacts:
		write, err = c.facts(e)
	default:
		write, err = c.classes(e)
	}
	if err != nil {
		return err
	}
	if c.Out != "" {
		return atomicfile.Write(c.Out, write)
	}
	return write(e.out)
}

// classes returns what writes the class of each node or graph, or its labels or numbers.
func (c *predictCommand) classes(e env) (func(io.Writer) error, error) {
	links, facts := "it is for models of links: leave it out", "it is for models of facts: leave it out"
	if err := unused(unusedFlag{"pairs", c.Pairs != "", links}, unusedFlag{"query", len(c.Query) > 0, facts}, unusedFlag{"queries", c.Queries != "", facts},
		unusedFlag{"top", c.Top != nil, links}, unusedFlag{"known", c.Known, links}); err != nil {
		return nil, err
	}
	g, y, names, err := c.said(e)
	if err != nil {
		return nil, err
	}
	ids := c.Nodes
	if len(ids) == 0 {
		ids = numbersTo(g.size())
	}
	return func(w io.Writer) error {
		if g.kind != oneClass {
			return c.writeRows(w, g, y, ids, names)
		}
		return c.write(w, g, y, ids, names)
	}, nil
}

// top is how many answers to a question are written.
func (c *predictCommand) top() (int, error) {
	if k := or(c.Top, 10); k > 0 {
		return k, nil
	}
	return 0, misuse("--top %d: it must be at least 1", *c.Top)
}

// said returns what the model says of all nodes, or of all graphs, and the classes' names.
func (c *predictCommand) said(e env) (*goal, *tensor.Dense, []string, error) {
	if savedTask(c.File) == taskGraph {
		if len(c.Nodes) > 0 {
			return nil, nil, nil, misuse("--nodes: %s is a model of whole graphs: leave it out", c.File)
		}
		s, err := c.openGraphs()
		if err != nil {
			return nil, nil, nil, err
		}
		return s.task.goal, s.y, s.task.ClassNames, nil
	}
	_, k, logits, err := c.open(e)
	if err != nil {
		return nil, nil, nil, err
	}
	return k.goal, logits, k.ClassNames, k.checkNodes(c.Nodes)
}

// predictedRow is what is said of an example that has labels or numbers.
type predictedRow struct {
	Event  string          `json:"event"` // "predict"
	Node   *int32          `json:"node,omitempty"`
	Graph  *int32          `json:"graph,omitempty"`
	Values []report.Number `json:"values"` // the probability of each label, or each number
	Known  []report.Number `json:"known"`  // what the dataset says; null: nothing
}

// writeRows is write of labels or numbers, a column each and one for what is known.
func (c *predictCommand) writeRows(w io.Writer, g *goal, y *tensor.Dense, ids []int32, names []string) error {
	p, values := report.NewPrinter(w), y
	if g.kind == someReals {
		values = g.scale.undo(y)
	}
	if !c.JSON {
		p.Printf("%s", g.example)
		for j := range g.outputs {
			name := fmt.Sprint(j)
			if j < len(names) {
				name = names[j]
			}
			p.Printf(",%s,%s", strconv.Quote(name), strconv.Quote(name+" known"))
		}
		p.Printf("\n")
	}
	for _, i := range ids {
		line := predictedRow{Event: "predict", Node: &i}
		if g.example == "graph" {
			line.Node, line.Graph = nil, &i
		}
		for j, v := range values.Row(int(i)) {
			if g.kind == manyTags {
				v = tensor.Float(1 / (1 + math.Exp(-float64(v))))
			}
			line.Values = append(line.Values, report.Number(v))
			line.Known = append(line.Known, report.Number(g.table().Row(int(i))[j]))
		}
		if c.JSON {
			p.Encode(line)
			continue
		}
		p.Printf("%d", i)
		for j, v := range line.Values {
			p.Printf(",%.6g,", float64(v))
			if k := float64(line.Known[j]); k == k {
				p.Printf("%.6g", k)
			}
		}
		p.Printf("\n")
	}
	return p.Err()
}

// write writes a line an example: JSON, or CSV under a head.
func (c *predictCommand) write(w io.Writer, g *goal, logits *tensor.Dense, nodes []int32, names []string) error {
	p := report.NewPrinter(w)
	if !c.JSON {
		p.Printf("%s,class,name,probability,label\n", g.example)
	}
	for _, v := range nodes {
		line := predicted{Event: "predict", Node: &v, Label: g.labels[v]}
		if g.example == "graph" {
			line.Node, line.Graph = nil, &v
		}
		line.Class, line.Probability = likeliest(logits.Row(int(v)))
		if line.Class < len(names) {
			line.Name = names[line.Class]
		}
		if c.JSON {
			p.Encode(line)
		} else {
			p.Printf("%d,%d,%s,%.4f,%d\n", v, line.Class, strconv.Quote(line.Name), line.Probability, line.Label)
		}
	}
	return p.Err()
}

// likeliest returns the class of the largest logit and its probability.
func likeliest(row []tensor.Float) (class int, p float64) {
	for j, v := range row {
		if v > row[class] {
			class = j
		}
	}
	sum := 0.0
	for _, v := range row {
		sum += math.Exp(float64(v - row[class]))
	}
	return class, 1 / sum
}

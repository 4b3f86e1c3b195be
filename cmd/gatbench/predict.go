package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/tensor"
)

// predictCommand is gatbench predict.
type predictCommand struct {
	savedFlags `embed:""`
	Nodes      []int32  `placeholder:"N" help:"The nodes to predict, such as 5,17. Default: all. With a model of edges: predict the edges of these nodes. With a model of links: predict new links of these nodes."`
	Pairs      string   `placeholder:"FILE" help:"With a model of links: score the pairs of nodes in this .csv or .tsv file, one pair a line."`
	Query      []string `sep:"none" placeholder:"HEAD,RELATION,?" help:"With a model of facts: a fact with a ? in place of its head or tail, which is to be predicted, such as lisbon,capital_of,?. A fact without a ? is scored. The flag may be repeated."`
	Queries    string   `placeholder:"FILE" help:"With a model of facts: a .csv or .tsv file of such queries, one a line."`
	Top        *int     `placeholder:"K" help:"With a model of links or facts: how many answers to give to each question. Default: 10."`
	Known      bool     `help:"With a model of links or facts: also give answers that are in the dataset already."`
	Out        string   `placeholder:"FILE" help:"Write to this file. Default: standard output."`
}

// example is what a prediction is of: a node, a graph, or an edge.
type example struct {
	Node       *int32  `json:"node,omitempty"`
	NodeName   *string `json:"node_name,omitempty"`
	Graph      *int32  `json:"graph,omitempty"`
	Source     *int32  `json:"source,omitempty"`
	Target     *int32  `json:"target,omitempty"`
	SourceName *string `json:"source_name,omitempty"`
	TargetName *string `json:"target_name,omitempty"`
}

// csv is how the columns of an example begin a line, and end it.
func (x *example) csv() (first, last string) {
	switch {
	case x.Node != nil:
		if x.NodeName != nil {
			last = "," + cell(*x.NodeName)
		}
		return fmt.Sprint(*x.Node), last
	case x.Graph != nil:
		return fmt.Sprint(*x.Graph), ""
	case x.SourceName != nil:
		last = "," + cell(*x.SourceName) + "," + cell(*x.TargetName)
	}
	return fmt.Sprintf("%d,%d", *x.Source, *x.Target), last
}

// cell is a text as a cell of a table. A quotation mark is doubled, as readers of CSV want it. What
// could harm a terminal, and a line break, is written as an escape of Go.
func cell(s string) string {
	if plain.Text(s) != s {
		escaped := strconv.QuoteToGraphic(s)
		return `"` + strings.ReplaceAll(escaped[1:len(escaped)-1], `\"`, `""`) + `"`
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// predicted is the class of an example.
type predicted struct {
	Event string `json:"event"` // "predict"
	example
	Class       int     `json:"class"`
	Name        string  `json:"name,omitempty"`
	Probability float64 `json:"probability"`
	Label       int32   `json:"label"` // what the dataset says; -1: nothing
}

// Run writes the class of each node, edge or graph, and how sure the model is.
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

// classes returns what writes the class of each node, edge or graph, or its labels or numbers.
func (c *predictCommand) classes(e env) (func(io.Writer) error, error) {
	links, facts := "it is for models of links: leave it out", "it is for models of facts: leave it out"
	if err := unused(unusedFlag{"pairs", c.Pairs != "", links}, unusedFlag{"query", len(c.Query) > 0, facts}, unusedFlag{"queries", c.Queries != "", facts},
		unusedFlag{"top", c.Top != nil, links}, unusedFlag{"known", c.Known, links}); err != nil {
		return nil, err
	}
	a, err := c.said(e)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error {
		if a.kind != oneClass {
			return c.writeRows(w, a)
		}
		return c.write(w, a)
	}, nil
}

// answers are what a model says of nodes, graphs or edges.
type answers struct {
	*goal
	y           *tensor.Dense // a row for each example
	ids         []int32       // those that are asked for
	names       []string      // of classes
	first, last string        // columns that say which example a line is of
	of          func(i int32) example
}

// top is how many answers to a question are written.
func (c *predictCommand) top() (int, error) {
	if k := or(c.Top, 10); k > 0 {
		return k, nil
	}
	return 0, misuse("--top %d: it must be at least 1", *c.Top)
}

// said returns what the model says of all nodes or those of --nodes, of all graphs, or of edges.
func (c *predictCommand) said(e env) (*answers, error) {
	if savedTask(c.File) == taskGraph {
		if len(c.Nodes) > 0 {
			return nil, misuse("--nodes: %s is a model of whole graphs: leave it out", c.File)
		}
		s, err := c.openGraphs(e)
		if err != nil {
			return nil, err
		}
		return &answers{
			goal: s.task.goal, y: s.y, ids: numbersTo(s.task.goal.size()), names: s.task.ClassNames, first: "graph",
			of: func(i int32) example { return example{Graph: &i} },
		}, nil
	}
	_, k, logits, err := c.open(e)
	if err != nil {
		return nil, err
	}
	a := &answers{goal: k.goal, y: logits, ids: c.Nodes, names: k.ClassNames, first: "node", of: func(i int32) example { return example{Node: &i} }}
	if len(k.NodeNames) > 0 {
		a.last = ",node_name"
		a.of = func(i int32) example { return example{Node: &i, NodeName: &k.NodeNames[i]} }
	}
	if k.pairs != nil {
		k.edgesAnswered(a, c.Nodes)
	} else if len(c.Nodes) == 0 {
		a.ids = numbersTo(a.size())
	}
	return a, k.checkNodes(c.Nodes)
}

// predictedRow is what is said of an example that has labels or numbers.
type predictedRow struct {
	Event string `json:"event"` // "predict"
	example
	Values []report.Number `json:"values"` // the probability of each label, or each number
	Known  []report.Number `json:"known"`  // what the dataset says; null: nothing
}

// writeRows is write of labels or numbers, a column each and one for what is known.
func (c *predictCommand) writeRows(w io.Writer, a *answers) error {
	p, values := report.NewPrinter(w), a.y
	if a.kind == someReals {
		values = a.scale.undo(a.y)
	}
	if !c.JSON {
		p.Printf("%s", a.first)
		for j := range a.outputs {
			name := fmt.Sprint(j)
			if j < len(a.names) {
				name = a.names[j]
			}
			p.Printf(",%s,%s", cell(name), cell(name+" known"))
		}
		p.Printf("%s\n", a.last)
	}
	for _, i := range a.ids {
		line := predictedRow{Event: "predict", example: a.of(i)}
		for j, v := range values.Row(int(i)) {
			if a.kind == manyTags {
				v = tensor.Float(1 / (1 + math.Exp(-float64(v))))
			}
			line.Values = append(line.Values, report.Number(v))
			line.Known = append(line.Known, report.Number(a.table().Row(int(i))[j]))
		}
		if c.JSON {
			p.Encode(line)
			continue
		}
		first, last := line.csv()
		p.Printf("%s", first)
		for j, v := range line.Values {
			p.Printf(",%.6g,", float64(v))
			if k := float64(line.Known[j]); k == k {
				p.Printf("%.6g", k)
			}
		}
		p.Printf("%s\n", last)
	}
	return p.Err()
}

// write writes a line an example: JSON, or CSV under a head.
func (c *predictCommand) write(w io.Writer, a *answers) error {
	p := report.NewPrinter(w)
	if !c.JSON {
		p.Printf("%s,class,name,probability,label%s\n", a.first, a.last)
	}
	for _, i := range a.ids {
		line := predicted{Event: "predict", example: a.of(i), Label: a.labels[i]}
		line.Class, line.Probability = likeliest(a.y.Row(int(i)))
		if line.Class < len(a.names) {
			line.Name = a.names[line.Class]
		}
		if c.JSON {
			p.Encode(line)
			continue
		}
		first, last := line.csv()
		p.Printf("%s,%d,%s,%.4f,%d%s\n", first, line.Class, cell(line.Name), line.Probability, line.Label, last)
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

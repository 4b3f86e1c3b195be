package gatbench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/datasets/form/parquet"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// predictCommand is gatbench predict.
type predictCommand struct {
	savedFlags `embed:""`
	Nodes      []string `aliases:"node" placeholder:"ID" help:"The nodes to predict, by their ids, such as C00005,C00017; nodes without ids are numbered from 0. Default: all that the data lists. With a model of edges: predict the edges of these nodes. With a model of links: predict new links of these nodes."`
	Pairs      string   `placeholder:"FILE" help:"With a model of links: score the pairs of nodes in this .csv or .tsv file, one pair a line."`
	Query      []string `sep:"none" placeholder:"HEAD,RELATION,?" help:"With a model of facts: a fact with a ? in place of its head or tail, which is to be predicted, such as lisbon,capital_of,?. A fact without a ? is scored. The flag may be repeated."`
	Queries    string   `placeholder:"FILE" help:"With a model of facts: a .csv or .tsv file of such queries, one a line."`
	Top        *int     `placeholder:"K" help:"With a model of links or facts: how many answers to give to each question. Default: 10."`
	Known      bool     `help:"With a model of links or facts: also give answers that are in the dataset already."`
	Out        string   `placeholder:"FILE" help:"Write to this file. Default: standard output."`
	Embeddings string   `placeholder:"FILE" help:"Write what the network has learnt of each node, graph or entity, a row of numbers after its id, to this .csv, .parquet or .npy file (.npy has no ids), and no predictions unless --out asks for them."`
}

// Run writes the class of each node, edge or graph, and how sure the model is.
func (c *predictCommand) Run(e cli.Env) error {
	threads, err := c.Begin(e, c.Threads)
	if err != nil {
		return err
	}
	c.Threads = threads
	for _, f := range []struct{ flag, path string }{{"out", c.Out}, {"embeddings", c.Embeddings}} {
		if err := cli.Target(f.flag, f.path); err != nil {
			return err
		}
	}
	if c.Embeddings != "" && !isRows(c.Embeddings) {
		return cli.Misuse("--embeddings %s: its name must end in .csv, .parquet or .npy", c.Embeddings)
	}
	c.outs = []cli.File{{Flag: "--out", Path: c.Out}, {Flag: "--embeddings", Path: c.Embeddings}}
	c.few = len(c.Nodes) > 0
	task := savedTask(c.File)
	if c.Embeddings != "" {
		if err := c.embed(e, task); err != nil || c.Out == "" && !c.asks() {
			return err
		}
	}
	var write func(io.Writer) error
	switch task {
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
		var failed error
		err := e.Writes(c.Out, func(w io.Writer) error {
			failed = write(w)
			return failed
		})
		if failed != nil && !errors.As(failed, new(*fs.PathError)) { // it has nothing to do with the file
			return failed
		}
		return err
	}
	return write(e.Out)
}

// asks reports whether questions are asked that only predictions answer.
func (c *predictCommand) asks() bool { return c.Pairs != "" || len(c.Query) > 0 || c.Queries != "" }

// classes returns what writes the class of each node, edge or graph, or its labels or numbers.
func (c *predictCommand) classes(e cli.Env) (func(io.Writer) error, error) {
	links, facts := "it is for models of links: leave it out", "it is for models of facts: leave it out"
	if err := unused(unusedFlag{"pairs", c.Pairs != "", links}, unusedFlag{"query", len(c.Query) > 0, facts}, unusedFlag{"queries", c.Queries != "", facts},
		unusedFlag{"top", c.Top != nil, links}, unusedFlag{"known", c.Known, links},
		unusedFlag{"splits", c.Splits != nil, "predictions need no split: leave it out"}, unusedFlag{"split-number", c.Number != nil, "predictions need no split: leave it out"}); err != nil {
		return nil, err
	}
	all, goal, task, err := c.said(e)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error {
		defer par.SetThreads(c.Threads)()
		rows := &answerRows{Printer: report.NewPrinter(w), goal: goal, json: c.JSON, task: task}
		for a, err := range all {
			if err != nil {
				return asked(err)
			}
			rows.write(a)
		}
		return rows.Err()
	}, nil
}

// asked is misuse of --nodes if a row that is asked for is not there.
func asked(err error) error {
	var unknown *models.UnknownError
	if errors.As(err, &unknown) {
		return cli.Misuse("--nodes: %w", unknown)
	}
	return err
}

// top is how many answers to a question are written.
func (c *predictCommand) top() (int, error) {
	if k := cli.Or(c.Top, 10); k > 0 {
		return k, nil
	}
	return 0, cli.Misuse("--top %d: it must be at least 1", *c.Top)
}

// said returns what the model says of all nodes or those of --nodes, of all graphs, or of edges.
func (c *predictCommand) said(e cli.Env) (answers, *models.Goal, string, error) {
	if savedTask(c.File) == taskGraph {
		if len(c.Nodes) > 0 {
			return nil, nil, "", cli.Misuse("--nodes: %s is a model of whole graphs: leave it out", c.File)
		}
		s, err := c.graphsAsked(e)
		if err != nil {
			return nil, nil, "", err
		}
		return warned(e, s.OfGraphs(s.data, models.Query{}), s.unfit), s.Goal, taskGraph, nil
	}
	a, err := c.answering(e)
	if err != nil {
		return nil, nil, "", err
	}
	return a.each(e, c.Nodes), a.Goal, taskIn(a.Predictor), nil
}

// answerRows writes answers, a line each.
type answerRows struct {
	*report.Printer
	goal  *models.Goal
	json  bool
	task  string
	begun bool
}

// predicted is what is said of a node, an edge or a graph.
type predicted struct {
	Event  string `json:"event"` // "predict"
	Type   string `json:"type,omitempty"`
	ID     string `json:"id,omitempty"` // of an edge that has one
	Node   *int32 `json:"node,omitempty"`
	Title  string `json:"node_name,omitempty"`
	Graph  *int32 `json:"graph,omitempty"`
	Source string `json:"source,omitempty"`
	Target string `json:"target,omitempty"`

	Class         *int                     `json:"class,omitempty"`
	Name          string                   `json:"name,omitempty"`
	Probability   *float64                 `json:"probability,omitempty"`
	Probabilities map[string]report.Number `json:"probabilities,omitempty"` // of each class
	Label         *int32                   `json:"label,omitempty"`         // what the dataset says; -1: nothing
	Values        []report.Number          `json:"values,omitempty"`        // the probability of each label, or each number
	Known         []report.Number          `json:"known,omitempty"`         // what the dataset says; null: nothing
}

// write writes a batch.
func (w *answerRows) write(a *models.Answers) {
	if !w.json && !w.begun {
		w.head(a)
	}
	w.begun = true
	for i := range a.Len() {
		line := w.line(a, i)
		if w.json {
			w.Encode(line)
			continue
		}
		w.Printf("%s\n", strings.Join(w.cells(a, i, &line), ","))
	}
}

// outputName is what a class, a label or a number is called.
func (w *answerRows) outputName(c int) string {
	if c < len(w.goal.Names) {
		return w.goal.Names[c]
	}
	return fmt.Sprint(c)
}

// head writes the names of the columns.
func (w *answerRows) head(a *models.Answers) {
	var names []string
	switch {
	case w.task == taskEdge && len(a.IDs) > 0:
		names = append(names, "id", "source", "target")
	case w.task == taskEdge:
		names = append(names, "source", "target")
	case w.task == taskGraph:
		names = append(names, "graph", "id")
	default:
		if a.Types != nil {
			names = append(names, "type")
		}
		names = append(names, "id")
	}
	if w.goal.Kind == "class" {
		names = append(names, "class", "name", "probability", "label")
	}
	for c := range w.goal.Outputs {
		if name := w.outputName(c); w.goal.Kind == "class" {
			names = append(names, cli.Key("p_"+name))
		} else {
			names = append(names, cli.Cell(name), cli.Cell(name+" known"))
		}
	}
	if a.Titles != nil {
		names = append(names, "node_name")
	}
	w.Printf("%s\n", strings.Join(names, ","))
}

// line is what is said of one of a batch.
func (w *answerRows) line(a *models.Answers, i int) predicted {
	l := predicted{Event: "predict"}
	if i < len(a.IDs) {
		l.ID = a.IDs[i]
	}
	switch w.task {
	case taskEdge:
		l.Source, l.Target = a.Sources[i], a.Targets[i]
	case taskGraph:
		l.Graph = &a.Rows[i]
	default:
		l.Node = &a.Rows[i]
		if a.Types != nil {
			l.Type = a.Types[i]
		}
		if a.Titles != nil {
			l.Title = a.Titles[i]
		}
	}
	row := a.Values.Row(i)
	if w.goal.Kind != "class" {
		for c, v := range row {
			l.Values = append(l.Values, report.Number(v))
			known := report.Number(math.NaN())
			if a.Truth != nil {
				known = report.Number(a.Truth.Table().Row(i)[c])
			}
			l.Known = append(l.Known, known)
		}
		return l
	}
	class, label := int(a.Classes[i]), int32(-1)
	if a.Truth != nil {
		label = a.Truth.Labels[i]
	}
	if class < len(w.goal.Names) {
		l.Name = w.goal.Names[class]
	}
	p := float64(row[class])
	l.Class, l.Probability, l.Label, l.Probabilities = &class, &p, &label, map[string]report.Number{}
	for c, v := range row {
		l.Probabilities[w.outputName(c)] = report.Number(v)
	}
	return l
}

// cells are a line of the table.
func (w *answerRows) cells(a *models.Answers, i int, l *predicted) (cells []string) {
	switch w.task {
	case taskEdge:
		if len(a.IDs) > 0 {
			cells = append(cells, cli.Key(l.ID))
		}
		cells = append(cells, cli.Key(l.Source), cli.Key(l.Target))
	case taskGraph:
		cells = append(cells, fmt.Sprint(*l.Graph), cli.Key(l.ID))
	default:
		if a.Types != nil {
			cells = append(cells, cli.Key(l.Type))
		}
		cells = append(cells, cli.Key(l.ID))
	}
	number := func(v tensor.Float) string { return strconv.FormatFloat(float64(v), 'g', 6, 32) }
	if w.goal.Kind == "class" {
		cells = append(cells, fmt.Sprint(*l.Class), cli.Cell(l.Name), fmt.Sprintf("%.4f", *l.Probability), fmt.Sprint(*l.Label))
		for _, v := range a.Values.Row(i) {
			cells = append(cells, number(v))
		}
	} else {
		for c, v := range a.Values.Row(i) {
			known := ""
			if k := l.Known[c]; k == k {
				known = number(tensor.Float(k))
			}
			cells = append(cells, number(v), known)
		}
	}
	if a.Titles != nil {
		cells = append(cells, cli.Cell(l.Title))
	}
	return cells
}

// isRows reports whether a file is one that --embeddings writes.
func isRows(path string) bool {
	return slices.Contains([]string{".csv", ".parquet", ".npy"}, strings.ToLower(filepath.Ext(path)))
}

// embed writes the file of --embeddings.
func (c *predictCommand) embed(e cli.Env, task string) error {
	x, err := c.embedded(e, task)
	if err != nil {
		return asked(err)
	}
	warn(e, x.Warnings)
	return e.Writes(c.Embeddings, func(w io.Writer) error {
		switch strings.ToLower(filepath.Ext(c.Embeddings)) {
		case ".npy":
			return (&npy.Named{Data: any(x.Rows.Data), Shape: x.Rows.Shape()}).Write(w)
		case ".parquet":
			t := form.Table{Rows: len(x.IDs), IDs: &form.Words{Texts: x.IDs}, Columns: []form.Column{{Name: "embedding", Type: form.Many, Matrix: form.MatrixOf(x.Rows)}}}
			return parquet.Write(w, &t)
		}
		return writeRows(w, x)
	})
}

// writeRows writes embeddings as a table.
func writeRows(w io.Writer, x *models.Embeddings) error {
	p := report.NewPrinter(w)
	head := "id"
	if x.Types != nil {
		head = "type,id"
	}
	for j := range x.Rows.Dim(1) {
		head += fmt.Sprintf(",e%d", j)
	}
	p.Printf("%s\n", head)
	for i, id := range x.IDs {
		if x.Types != nil {
			p.Printf("%s,", cli.Key(x.Types[i]))
		}
		p.Printf("%s", cli.Key(id))
		for _, v := range x.Rows.Row(i) {
			p.Printf(",%v", v)
		}
		p.Printf("\n")
	}
	return p.Err()
}

// embedded returns what the model of a task has learnt of its data.
func (c *predictCommand) embedded(e cli.Env, task string) (*models.Embeddings, error) {
	defer par.SetThreads(c.Threads)()
	switch task {
	case taskGraph:
		s, err := c.graphsAsked(e)
		if err != nil {
			return nil, err
		}
		return s.EmbedGraphs(s.data, models.Query{})
	case taskLink:
		s, err := c.openLinks(e, true)
		if err != nil {
			return nil, err
		}
		return s.model.EmbedOf(s.data, models.Query{})
	case taskFacts:
		_, p, err := loadFactNet(c.File)
		if err != nil {
			return nil, err
		}
		return p.Entities()
	}
	a, err := c.answering(e)
	if err != nil {
		return nil, err
	}
	if a.raw == nil {
		return a.EmbedOf(a.data, a.query(c.Nodes))
	}
	return a.Embed(a.raw, a.query(c.Nodes))
}

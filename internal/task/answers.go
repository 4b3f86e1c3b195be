package task

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Questions are what predict is asked.
type Questions struct {
	Nodes   []string `aliases:"node" placeholder:"ID" help:"The nodes to predict, by their ids, such as C00005,C00017; nodes without ids are numbered from 0. Default: all that the data lists. With a model of edges: predict the edges of these nodes. With a model of links: predict new links of these nodes."`
	Pairs   string   `placeholder:"FILE" group:"links" help:"With a model of links: score the pairs of nodes in this .csv or .tsv file, one pair a line."`
	Query   []string `sep:"none" placeholder:"HEAD,RELATION,?" group:"links" help:"With a model of facts: a fact with a ? in place of its head or tail, which is to be predicted, such as lisbon,capital_of,?. A fact without a ? is scored. The flag may be repeated."`
	Queries string   `placeholder:"FILE" group:"links" help:"With a model of facts: a .csv or .tsv file of such queries, one a line."`
	Top     *int     `placeholder:"K" group:"links" help:"With a model of links or facts: how many answers to give to each question. Default: 10."`
	Known   bool     `group:"links" help:"With a model of links or facts: also give answers that are in the dataset already."`
}

// Ask reports whether questions are asked that only predictions answer.
func (q *Questions) Ask() bool { return q.Pairs != "" || len(q.Query) > 0 || q.Queries != "" }

// OnlyRows returns an error for questions that only models of links or facts answer.
func (f *SavedFlags) OnlyRows(q *Questions) error {
	links, facts := "it is for models of links: leave it out", "it is for models of facts: leave it out"
	return cmp.Or(Unused("pairs", q.Pairs != "", links), Unused("query", len(q.Query) > 0, facts), Unused("queries", q.Queries != "", facts),
		Unused("top", q.Top != nil, links), Unused("known", q.Known, links),
		Unused("splits", f.Splits != nil, "predictions need no split: leave it out"), Unused("split-number", f.Number != nil, "predictions need no split: leave it out"))
}

// Rows returns what writes a line for each answer.
func (f *SavedFlags) Rows(all iter.Seq2[*models.Answers, error], goal *models.Goal, task string) func(w io.Writer) error {
	return func(w io.Writer) error {
		defer par.SetThreads(f.Threads)()
		rows := &answerRows{Printer: report.NewPrinter(w), goal: goal, json: f.JSON, task: task}
		for a, err := range all {
			if err != nil {
				return AskedFor(err)
			}
			rows.write(a)
		}
		return rows.Err()
	}
}

// AskedFor is misuse of --nodes if a row that is asked for is not there.
func AskedFor(err error) error {
	var unknown *models.UnknownError
	if errors.As(err, &unknown) {
		return cli.Misuse("--nodes: %w", unknown)
	}
	return err
}

// Most is how many answers to a question are written.
func (q *Questions) Most() (int, error) {
	if k := cli.Or(q.Top, 10); k > 0 {
		return k, nil
	}
	return 0, cli.Misuse("--top %d: it must be at least 1", *q.Top)
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
	case w.task == Edge && len(a.IDs) > 0:
		names = append(names, "id", "source", "target")
	case w.task == Edge:
		names = append(names, "source", "target")
	case w.task == Graph:
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
	case Edge:
		l.Source, l.Target = a.Sources[i], a.Targets[i]
	case Graph:
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
	case Edge:
		if len(a.IDs) > 0 {
			cells = append(cells, cli.Key(l.ID))
		}
		cells = append(cells, cli.Key(l.Source), cli.Key(l.Target))
	case Graph:
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

// Watched are answers whose warnings are said, and whose errors say what unfit does. A terminal shows how many
// of a total there are, which is 0 if nobody knows it, of what noun names in the plural.
func Watched(e cli.Env, total int, noun string, all iter.Seq2[*models.Answers, error], unfit func(error) error) iter.Seq2[*models.Answers, error] {
	return func(yield func(*models.Answers, error) bool) {
		progress, done := report.NewProgress(e.ErrOut), 0
		defer progress.During("answering for the " + noun)()
		printed := report.Width(e.Out) > 0 // answers may appear where the progress does
		for b, err := range all {
			if err == nil {
				Warn(e, b.Warnings)
				done += b.Len()
			}
			if printed {
				progress.Clear()
			}
			if !yield(b, unfit(err)) {
				return
			}
			progress.Count(done, total, noun)
		}
	}
}

// Warn says what was read in a way that may not be meant.
func Warn(e cli.Env, warnings []string) {
	for _, w := range warnings {
		report.Message(e.ErrOut, w)
	}
}

// Unfit says of an error whose data it is that a model cannot read.
func Unfit(err error, path, trained, used string) error {
	if err == nil || errors.As(err, new(*models.UnknownError)) || errors.As(err, new(*models.MethodError)) || errors.As(err, new(cli.UsageError)) {
		return err
	}
	if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), "models: ") {
		err = inner
	}
	return fmt.Errorf("%s (trained on %s), used on %s: %w", path, trained, used, err)
}

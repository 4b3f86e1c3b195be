package node

import (
	"fmt"
	"io"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// open reads the model and its data with their split, and returns what the network gives each node, or edge.
func (f *Model) open(e cli.Env) (*answering, *Examples, *tensor.Dense, error) {
	a, err := f.answering(e)
	if err != nil {
		return nil, nil, nil, err
	}
	defer par.SetThreads(f.Threads)()
	d, err := a.dataset()
	if err != nil {
		return nil, nil, nil, err
	}
	if s := a.Schema; s != nil && s.Label != nil && len(s.Label.Columns) > 0 && models.GoalOf(d) == nil {
		return nil, nil, nil, fmt.Errorf("--dataset %s: nothing is known there of %s, which the model predicts, so nothing can be measured: name rows whose answers are known, or use %s predict", a.name, strings.Join(s.Label.Columns, ", "), cli.Program)
	}
	if err := learnable(d, task.TaskIn(a.Predictor), a.name); err != nil {
		return nil, nil, nil, err
	}
	if a.Preparation.Undirected {
		d = d.Undirected()
	}
	k := NewExamples(d)
	if k.Called = a.name; d.LearnsEdges() {
		if err := k.edgesLearnt(a.Preparation.Undirected); err != nil {
			return nil, nil, nil, err
		}
	}
	if k.Goal.Outputs != a.Goal.Outputs || k.Goal.Learns != task.GoalKindOf(a.Goal) {
		return nil, nil, nil, fmt.Errorf("%s is a model for %d %s (it was trained on %s); %s has %d %s: %s",
			f.File, a.Goal.Outputs, a.Goal.Noun(), a.Data.Name, k.Name, k.Goal.Outputs, k.Goal.Noun(), f.Instead())
	}
	r := &a.recipe
	r.SetNumber(f.Number)
	c := r.Choice().from(a.splits)
	if err := k.splitForAll(c); err != nil {
		return nil, nil, nil, err
	}
	k.Goal.Taught(a.Goal)
	var y *tensor.Dense
	total, noun := d.Graph.NumNodes(), "nodes"
	if d.LearnsEdges() {
		total, noun = d.Graph.NumEdges(), "edges"
	}
	for b, err := range task.Watched(e, total, noun, a.Of(d, models.Query{Team: e.Team}), a.unfit) {
		if err != nil {
			return nil, nil, nil, err
		}
		y = task.RowsBelow(y, b.Outputs)
	}
	return a, k, y, nil
}

// Model is a model of nodes or edges in a file.
type Model struct{ *task.SavedFlags }

// Eval scores a saved model on each part of the split.
func (f *Model) Eval(e cli.Env) (question string, err error) {
	a, k, logits, err := f.open(e)
	if err != nil {
		return "", err
	}
	r := &a.recipe
	line := task.Scored{Event: "eval", File: f.File, Dataset: r.Dataset, Model: a.Net.(*models.Network).Model, Features: task.Form(a.Preparation.Features.Form)}
	p := report.NewPrinter(e.Out)
	line.Measure(p, f.JSON, k.Goal, logits, k.Parts, task.Measured{Network: a.Net.(*models.Network).String(), Data: k.Name})
	if f.JSON || k.Goal.Learns != task.OneClass {
		return "", p.Err()
	}
	confusion := k.Goal.Decided(logits, k.Parts.Test)
	p.Printf("\nconfusion matrix (rows: true class, columns: predicted class):\n\n")
	p.Confusion(k.Classes, k.ClassNames, confusion)
	return "", p.Err()
}

// Predict returns what writes the class of each node or edge, or its labels or numbers.
func (f *Model) Predict(e cli.Env, q *task.Questions) (func(io.Writer) error, error) {
	if err := f.OnlyRows(q); err != nil {
		return nil, err
	}
	a, err := f.answering(e)
	if err != nil {
		return nil, err
	}
	return f.Rows(a.each(e, q.Nodes), a.Goal, task.TaskIn(a.Predictor)), nil
}

// Embed returns what the network has learnt of the nodes.
func (f *Model) Embed(e cli.Env, ids []string) (*models.Embeddings, error) {
	a, err := f.answering(e)
	if err != nil {
		return nil, err
	}
	defer report.NewProgress(e.ErrOut).During("computing the rows of the nodes")()
	if a.raw == nil {
		return a.EmbedOf(a.data, a.query(ids))
	}
	return a.Embed(a.raw, a.query(ids))
}

// Explain explains what the model says of a node.
func (f *Model) Explain(e cli.Env, node string, by models.Method) (x *models.Explained, p *models.Predictor, data string, err error) {
	a, err := f.answering(e)
	if err != nil {
		return nil, nil, "", err
	}
	progress := report.NewProgress(e.ErrOut)
	defer progress.During("explaining node " + node)()
	by.Progress = func(done, total int) {
		progress.Show("explaining node %s  step %d of %d%s", node, done, total, progress.Left(done, total))
	}
	if a.raw != nil {
		x, err = a.Explain(a.raw, node, by, a.query(nil))
	} else {
		x, err = a.ExplainOf(a.data, node, by)
	}
	return x, a.Predictor, a.recipe.Dataset, a.unfit(err)
}

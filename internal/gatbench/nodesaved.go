package gatbench

import (
	"fmt"
	"io"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// open reads the model and its data with their split, and returns what the network gives each node, or edge.
func (f *nodeModel) open(e cli.Env) (*answering, *task, *tensor.Dense, error) {
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
	if err := learnable(d, taskIn(a.Predictor), a.name); err != nil {
		return nil, nil, nil, err
	}
	if a.Preparation.Undirected {
		d = d.Undirected()
	}
	k := newTask(d)
	if k.name = a.name; d.LearnsEdges() {
		if err := k.edgesLearnt(a.Preparation.Undirected); err != nil {
			return nil, nil, nil, err
		}
	}
	if k.goal.Outputs != a.Goal.Outputs || k.goal.kind != goalKindOf(a.Goal) {
		return nil, nil, nil, fmt.Errorf("%s is a model for %d %s (it was trained on %s); %s has %d %s: %s",
			f.File, a.Goal.Outputs, a.Goal.Noun(), a.Data.Name, k.Name, k.goal.Outputs, k.goal.kind.noun(), f.instead())
	}
	r := &a.recipe
	r.setNumber(f.Number)
	c := r.choice().from(a.splits)
	if err := k.splitForAll(c); err != nil {
		return nil, nil, nil, err
	}
	k.goal.taught(a.Goal)
	var y *tensor.Dense
	for b, err := range warned(e, a.Of(d, models.Query{Team: e.Team}), a.unfit) {
		if err != nil {
			return nil, nil, nil, err
		}
		y = rowsBelow(y, b.Outputs)
	}
	return a, k, y, nil
}

// nodeModel is a model of nodes or edges in a file.
type nodeModel struct{ *savedFlags }

// Eval scores a saved model on each part of the split.
func (f *nodeModel) Eval(e cli.Env) error {
	a, k, logits, err := f.open(e)
	if err != nil {
		return err
	}
	r := &a.recipe
	line := scored{Event: "eval", File: f.File, Dataset: r.Dataset, Model: a.Net.(*models.Network).Model, Features: featureForm(a.Preparation.Features.Form)}
	p := report.NewPrinter(e.Out)
	line.measure(p, f.JSON, k.goal, logits, k.split, measured{a.Net.(*models.Network).String(), k.Name, k.ClassNames})
	if f.JSON || k.goal.kind != oneClass {
		return p.Err()
	}
	confusion := k.goal.Decided(logits, k.split.Test)
	p.Printf("\nconfusion matrix (rows: true class, columns: predicted class):\n\n")
	p.Confusion(k.Classes, k.ClassNames, confusion)
	return p.Err()
}

// Predict returns what writes the class of each node or edge, or its labels or numbers.
func (f *nodeModel) Predict(e cli.Env, q *questions) (func(io.Writer) error, error) {
	if err := f.onlyRows(q); err != nil {
		return nil, err
	}
	a, err := f.answering(e)
	if err != nil {
		return nil, err
	}
	return f.rows(a.each(e, q.Nodes), a.Goal, taskIn(a.Predictor)), nil
}

// Embed returns what the network has learnt of the nodes.
func (f *nodeModel) Embed(e cli.Env, ids []string) (*models.Embeddings, error) {
	a, err := f.answering(e)
	if err != nil {
		return nil, err
	}
	if a.raw == nil {
		return a.EmbedOf(a.data, a.query(ids))
	}
	return a.Embed(a.raw, a.query(ids))
}

// Explain explains what the model says of a node.
func (f *nodeModel) Explain(e cli.Env, node string, by models.Method) (x *models.Explained, p *models.Predictor, data string, err error) {
	if savedTask(f.File).Name() == taskEdge {
		return nil, nil, "", cli.Misuse("%s is a model of edges, and explain needs a model of nodes", f.File)
	}
	a, err := f.answering(e)
	if err != nil {
		return nil, nil, "", err
	}
	if a.raw != nil {
		x, err = a.Explain(a.raw, node, by, a.query(nil))
	} else {
		x, err = a.ExplainOf(a.data, node, by)
	}
	return x, a.Predictor, a.recipe.Dataset, a.unfit(err)
}

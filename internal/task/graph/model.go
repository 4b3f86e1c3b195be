package graph

import (
	"fmt"
	"io"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// loadGraphNet reads a saved network.
func loadGraphNet(path string) (*Network, *models.Predictor, error) {
	n := &Network{Task: task.Graph}
	m, err := task.OpenFile(path, &n.Recipe)
	if err != nil {
		return nil, nil, err
	}
	net, ok := m.Net.(*models.GraphNetwork)
	if !ok {
		return nil, nil, fmt.Errorf("%s is a model of the task %s, and one of graphs is wanted", path, m.Task)
	}
	n.GraphNetwork = net
	n.In, n.Out, n.Kind, n.Scale = n.Shape.In, n.Shape.Out, task.GoalKindOf(m.Goal), m.Goal.Scale
	n.Codes, n.EdgeCodes = n.Shape.Codes, n.Shape.EdgeCodes
	return n, m, nil
}

// Open reads what kind of network a file or a checkpoint holds.
func Open(path string) (*Network, error) {
	if n, _, err := loadGraphNet(path); err == nil {
		return n, nil
	}
	n := new(Network)
	if err := train.LoadConfig(path, n); err != nil {
		return nil, err
	}
	err := n.Recipe.check()
	if err == nil {
		err = n.Recipe.checkEdges()
	}
	const most = 1 << 24 // of features: files are not to be trusted with memory
	if err == nil && (n.Task != task.Graph || n.In < 1 || n.In > most || n.Out < 1 || n.Out > 1<<16) {
		err = fmt.Errorf("%d features and %d outputs of the task %.20q", n.In, n.Out, n.Task)
	}
	if err == nil {
		err = n.Kind.Check(n.Scale, n.Out)
	}
	if err == nil && len(n.Codes)+len(n.EdgeCodes) > 0 {
		err = n.plan().Check()
	}
	if err := task.Believed(path, err, n.fits); err != nil {
		return nil, err
	}
	return n, nil
}

// savedGraphs is a model of graphs, and what it is used on.
type savedGraphs struct {
	*models.Predictor
	net  *Network
	data *datasets.Graphs
	name string // of the data
	path string // of the model
}

// unfit says of an error whose graphs they are that the model cannot read.
func (s *savedGraphs) unfit(err error) error { return task.Unfit(err, s.path, s.Data.Name, s.name) }

// Model is a model of graphs in a file.
type Model struct{ *task.SavedFlags }

// open reads the model and its graphs.
func (f *Model) open(e cli.Env) (*savedGraphs, error) {
	switch {
	case f.Number != nil:
		return nil, cli.Misuse("--split-number: graphs have one split: leave it out")
	case f.Base != "":
		return nil, cli.Misuse("--base: no edge leads from one graph to another: leave it out")
	}
	s := &savedGraphs{path: f.File}
	var err error
	if s.net, s.Predictor, err = loadGraphNet(f.File); err != nil {
		return nil, err
	}
	r := task.Origin{Dataset: s.net.Recipe.Dataset, Splits: s.net.Recipe.Splits}
	at, err := f.Places(e, &r)
	if err != nil {
		return nil, err
	}
	s.name, s.net.Recipe.Dataset, s.net.Recipe.Splits = at.Dataset, r.Dataset, at.Splits
	in := []cli.File{{Flag: "--dataset", Path: datasets.FindGraphs(f.Data, at.Dataset)}, source.SplitsFile(at.Splits), {Flag: "the model", Path: f.File}}
	if err := cli.Apart(in, f.Outs); err != nil {
		return nil, err
	}
	path := datasets.FindGraphs(f.Data, at.Dataset)
	if s.Schema == nil || path == "" {
		s.data, err = cli.Reading(e, at.Dataset, func() (*datasets.Graphs, error) { return source.OpenGraphs(f.Data, at.Dataset, "") })
		return s, err
	}
	s.data, err = cli.Reading(e, at.Dataset, func() (*datasets.Graphs, error) {
		raw, err := form.Load(path, form.Options{Others: source.OtherForms()})
		if err != nil {
			return nil, err
		}
		return datasets.GraphsFrom(raw, s.Schema)
	})
	return s, err
}

// Eval scores a saved model of graphs on each part of the split.
func (f *Model) Eval(e cli.Env) (question string, err error) {
	g, err := f.open(e)
	if err != nil {
		return "", err
	}
	defer par.SetThreads(f.Threads)()
	r := &g.net.Recipe
	k, err := newGraphTask(g.data, g.name)
	if err != nil {
		return "", err
	}
	if k.goal.Outputs != g.Goal.Outputs || k.goal.Learns != g.net.Kind {
		return "", fmt.Errorf("%s is a model for %d %s (it was trained on %s); %s has %d %s: %s",
			f.File, g.Goal.Outputs, g.Goal.Noun(), g.Data.Name, k.Name, k.goal.Outputs, k.goal.Noun(), f.Instead())
	}
	k.goal.Taught(g.Goal)
	s := datasets.Split{Test: k.goal.All()}
	if own := k.Split; r.Splits != source.SplitsOwn || len(own.Train)+len(own.Val)+len(own.Test) > 0 {
		division, err := k.split(r)
		if err != nil {
			return "", err
		}
		s = division.Split
	}
	var y *tensor.Dense
	for b, err := range task.Watched(e, g.data.Len(), "graphs", g.OfGraphs(g.data, models.Query{}), g.unfit) {
		if err != nil {
			return "", err
		}
		y = task.RowsBelow(y, b.Outputs)
	}
	line, p := task.Scored{Event: "eval", File: f.File, Dataset: r.Dataset, Model: r.model().Name}, report.NewPrinter(e.Out)
	line.Measure(p, f.JSON, k.goal, y, s, task.Measured{Network: r.title(), Data: k.Name})
	return "", p.Err()
}

// Predict returns what writes what the model says of each graph.
func (f *Model) Predict(e cli.Env, q *task.Questions) (func(io.Writer) error, error) {
	if err := f.OnlyRows(q); err != nil {
		return nil, err
	}
	if len(q.Nodes) > 0 {
		return nil, cli.Misuse("--nodes: %s is a model of whole graphs: leave it out", f.File)
	}
	s, err := f.open(e)
	if err != nil {
		return nil, err
	}
	return f.Rows(task.Watched(e, s.data.Len(), "graphs", s.OfGraphs(s.data, models.Query{}), s.unfit), s.Goal, task.Graph), nil
}

// Embed returns what the network has learnt of each graph.
func (f *Model) Embed(e cli.Env, _ []string) (*models.Embeddings, error) {
	s, err := f.open(e)
	if err != nil {
		return nil, err
	}
	defer report.NewProgress(e.ErrOut).During("computing the rows of the graphs")()
	return s.EmbedGraphs(s.data, models.Query{})
}

package main

import (
	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// savedFlags say which model is used, and on what.
type savedFlags struct {
	File      string `arg:"" help:"The model that --save wrote; of a --checkpoint, the state of its last epoch."`
	dataFlags `embed:""`
}

// dataFlags say what a model is used on, and how.
type dataFlags struct {
	Dataset *string `placeholder:"NAME" help:"The dataset (the one it was trained on)."`
	Data    string  `placeholder:"DIR" help:"Folder of the dataset's files (else $$EDGEWISE_DATA, else the user's cache)."`
	Splits  *string `placeholder:"NAME" help:"The split (the one it was trained on)."`
	Number  *string `name:"split-number" placeholder:"K" help:"Which of several splits, from 0 (the one it was trained on)."`
	Threads int     `default:"0" placeholder:"N" help:"Use at most N threads (0: all there are). Never changes a result."`
	JSON    bool    `name:"json" help:"Print JSON objects, one a line."`

	out file // that is written; none if its path is empty
}

// open reads the model and its dataset, and returns the logits of every node.
func (f *savedFlags) open(e env) (*network, *task, *tensor.Dense, error) {
	if f.Threads < 0 {
		return nil, nil, nil, misuse("--threads %d: it must be at least 1, or 0 for all there are", f.Threads)
	}
	defer par.SetThreads(f.Threads)()
	n, err := loadNetwork(f.File)
	if err != nil {
		return nil, nil, nil, err
	}
	r, trained := &n.Recipe, n.Recipe.Dataset
	at, err := f.places(e, r)
	if err != nil {
		return nil, nil, nil, err
	}
	r.setNumber(f.Number)
	if err := r.check(); err != nil {
		return nil, nil, nil, err
	}
	in := append(datasetFiles("--dataset", f.Data, at.dataset), splitsFile(at.splits), file{"the model", f.File})
	if err := apart(in, []file{f.out}); err != nil {
		return nil, nil, nil, err
	}
	k, err := openTaskOf(savedTask(f.File), f.Data, at.dataset, r.Undirected, r.choice().from(at.splits))
	if err != nil {
		return nil, nil, nil, err
	}
	if err := k.encode(r.Encoding); err != nil {
		return nil, nil, nil, err
	}
	if err := k.fits(n, f.File, trained); err != nil {
		return nil, nil, nil, err
	}
	if err := k.use(r.Features); err != nil {
		return nil, nil, nil, err
	}
	if err := k.suit(r); err != nil {
		return nil, nil, nil, err
	}
	if err := k.checkWeights(r.model()); err != nil {
		return nil, nil, nil, err
	}
	if n.Kind == someReals {
		k.goal.scale = n.Scale // what it was trained with
	}
	return n, k, k.said(grad.NewEval(), n), nil
}

// places returns where the model's data is, or that which flags name instead, which
// it makes that of the recipe.
func (f *savedFlags) places(e env, r *recipe) (places, error) {
	recorded := *r
	if f.Dataset != nil {
		r.Dataset = datasetNamed(*f.Dataset)
		recorded.Dataset = "cora" // which need not be looked for
	}
	if f.Splits != nil {
		r.Splits, recorded.Splits = *f.Splits, splitsOwn
	}
	at, err := savedModel{f.File, f.Data}.places(e, &recorded, nil, nil)
	if err != nil {
		return at, err
	}
	if f.Dataset != nil {
		at.dataset = r.Dataset
	}
	if f.Splits != nil {
		at.splits = r.Splits
	}
	return at, ordinary(splitsFile(at.splits))
}

// evalCommand is gatbench eval.
type evalCommand struct {
	savedFlags `embed:""`
}

// scored is how good a saved model is.
type scored struct {
	Event         string        `json:"event"` // "eval"
	File          string        `json:"file"`
	Dataset       string        `json:"dataset"`
	Model         string        `json:"model"`
	TrainAccuracy float64       `json:"train_accuracy"`
	ValAccuracy   float64       `json:"val_accuracy"`
	TestAccuracy  float64       `json:"test_accuracy"`
	TestLoss      report.Number `json:"test_loss"`
	Features      form          `json:"features"`
	Learns        string        `json:"learns,omitempty"`
	report.Metrics
}

// Run scores a saved model on each part of the split.
func (c *evalCommand) Run(e env) error {
	switch savedTask(c.File) {
	case taskGraph:
		return c.evalGraphs(e)
	case taskLink:
		return c.evalLinks(e)
	case taskFacts:
		return c.evalFacts(e)
	}
	n, k, logits, err := c.open(e)
	if err != nil {
		return err
	}
	s := k.measure(logits)
	line := scored{
		Event: "eval", File: c.File, Dataset: n.Recipe.Dataset, Model: n.Recipe.Model,
		TrainAccuracy: s.Train.Accuracy, ValAccuracy: s.Val.Accuracy, TestAccuracy: s.Test.Accuracy, TestLoss: report.Number(s.Test.Loss),
		Features: n.Recipe.Features, Learns: string(k.goal.kind), Metrics: k.goal.quality(logits, k.split.Test),
	}
	metric := k.goal.kind.metric()
	p := report.NewPrinter(e.out)
	if c.JSON {
		p.Encode(metric.JSON(line))
		return p.Err()
	}
	p.Printf("%s on %s\n\n%-10s  %6s  %-9s  %s\n", n.describe(), k.Name, "", k.goal.example+"s", metric.Name(), "loss")
	for _, part := range []struct {
		name  string
		nodes []int32
		score train.Score
	}{{"train", k.split.Train, s.Train}, {"validation", k.split.Val, s.Val}, {"test", k.split.Test, s.Test}} {
		p.Printf("%-10s  %6d   %s   %.4f\n", part.name, len(part.nodes), metric.Shown(part.score.Accuracy), part.score.Loss)
	}
	if says := line.Metrics.Line(s.Test.Accuracy); says != "" {
		p.Printf("\n")
		p.Paragraph("%s", says)
	}
	if says := k.goal.untaught(k.split, k.ClassNames); says != "" {
		p.Printf("\n")
		p.Paragraph("%s", says)
	}
	if k.goal.kind != oneClass {
		return p.Err()
	}
	confusion := train.NewConfusion(logits, k.goal.labels, k.split.Test)
	p.Printf("\nwhich classes (down) are taken for which (across):\n\n")
	p.Confusion(k.Classes, k.ClassNames, confusion)
	return p.Err()
}

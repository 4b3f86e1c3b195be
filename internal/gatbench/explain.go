package gatbench

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/draw"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
)

// explainCommand is gatbench explain.
type explainCommand struct {
	Node            string `required:"" placeholder:"ID" help:"The node whose class is to be explained, by its id, such as C00005; nodes without ids are numbered from 0."`
	Method          string `default:"gnnexplainer" placeholder:"NAME" help:"How to score edges and features: attention (the attention weights), saliency (gradient × input), integrated (integrated gradients), gnnexplainer (learns a mask; the default) or pg (PGExplainer: learns masks from other nodes first)."`
	Picture         string `placeholder:"FILE" help:"Draw the neighbourhood of the node to this .svg or .png file."`
	Plot            bool   `help:"Show in the terminal what --picture draws."`
	Top             int    `default:"10" placeholder:"K" group:"program" help:"Show the K best edges and features, and measure the fidelity of the explanation that they make up. Default: 10."`
	Out             string `aliases:"csv" placeholder:"FILE" group:"program" help:"Write the scores of all edges and features to this .csv file."`
	Seed            uint64 `default:"0" placeholder:"N" group:"program" help:"Seed of everything that is random: the first masks, and the nodes that pg learns from. Default: 0."`
	task.SavedFlags `embed:""`
}

// pgEpochs is for how long pg learns. Tests learn for less.
var pgEpochs = 150

// explainMethods are what --method names.
var explainMethods = []string{"attention", "saliency", "integrated", "gnnexplainer", "pg"}

// Run explains a node's class.
func (c *explainCommand) Run(e cli.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	defer par.SetThreads(c.Threads)()
	x, err := c.explained(e)
	if err != nil {
		return err
	}
	if err := x.files(); err != nil {
		return err
	}
	return x.print(report.NewPrinter(e.Out))
}

// check returns an error for flags that ask for what cannot be.
func (c *explainCommand) check() error {
	switch {
	case c.Top < 1:
		return cli.Misuse("--top %d: it must be at least 1", c.Top)
	case c.Threads < 0:
		return cli.Misuse("--threads %d: it must be at least 1, or 0 for all processors", c.Threads)
	case c.Picture != "" && !cli.IsPicture(c.Picture):
		return cli.Misuse("--picture %s: its name must end in .svg or .png", c.Picture)
	}
	none := "explanations need no split: leave it out"
	if err := cmp.Or(task.Unused("splits", c.Splits != nil, none), task.Unused("split-number", c.Number != nil, none)); err != nil {
		return err
	}
	if err := cli.OneOf("--method", c.Method, explainMethods); err != nil {
		return err
	}
	for _, f := range []struct{ flag, path string }{{"out", c.Out}, {"picture", c.Picture}} {
		if err := cli.Target(f.flag, f.path); err != nil {
			return err
		}
	}
	c.Outs = []cli.File{{Flag: "--out", Path: c.Out}, {Flag: "--picture", Path: c.Picture}}
	return nil
}

// explainer is a model that explains what it says of a node.
type explainer interface {
	// Explain returns an explanation, and what the data was called.
	Explain(e cli.Env, node string, by models.Method) (*models.Explained, *models.Predictor, string, error)
}

// explained returns the explanation.
func (c *explainCommand) explained(e cli.Env) (*explained, error) {
	model, of, err := task.Load(&c.SavedFlags)
	if err != nil {
		return nil, err
	}
	m, ok := model.(explainer)
	if !ok {
		return nil, cli.Misuse("%s is a model of %s, and explain needs a model of nodes", c.File, of.About().Noun)
	}
	x := &explained{command: c}
	x.Explained, x.model, x.dataset, err = m.Explain(e, c.Node, models.Method{Name: c.Method, Seed: c.Seed, Epochs: pgEpochs})
	if err == nil {
		task.Warn(e, x.Warnings)
	}
	return x, c.misused(err)
}

// misused is misuse of --node or --method, if that is what an error is of.
func (c *explainCommand) misused(err error) error {
	var unknown *models.UnknownError
	var method *models.MethodError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown):
		return cli.Misuse("--node %s: %w", c.Node, unknown)
	case errors.As(err, &method):
		return cli.Misuse("--method %s: %w", c.Method, method)
	}
	return err
}

// explained is an explanation and what is said of it.
type explained struct {
	*models.Explained
	model   *models.Predictor
	dataset string // as it was named
	command *explainCommand
}

// files writes the files of --out and --picture.
func (x *explained) files() error {
	if path := x.command.Out; path != "" {
		if err := atomicfile.Write(path, x.csv); err != nil {
			return err
		}
	}
	if x.command.Picture == "" {
		return nil
	}
	return x.picture().Write(x.command.Picture)
}

// picture is what is drawn of the explanation.
func (x *explained) picture() *draw.Explained {
	return &draw.Explained{
		Dataset: x.Data.Dataset, Class: x.Class, Answer: x.className(x.Class), Method: x.command.Method, Graph: x.Graph, Edges: x.Edges(), Scores: x.Scores.Edges, Best: x.Scores.TopEdges(x.command.Top), IDs: x.IDs,
	}
}

// csv writes a line for each edge and each feature, the best first. Ends are named by their ids and features by their columns.
func (x *explained) csv(w io.Writer) error {
	p := report.NewPrinter(w)
	p.Printf("kind,source,target,feature,score\n")
	for _, edge := range x.Scores.TopEdges(len(x.Scores.Edges)) {
		u, v := x.Ends(edge)
		p.Printf("edge,%s,%s,,%.6g\n", cli.Key(x.IDs[u]), cli.Key(x.IDs[v]), x.Scores.Edges[edge])
	}
	for _, j := range x.Scores.TopFeatures(len(x.Scores.Features)) {
		p.Printf("feature,,,%s,%.6g\n", cli.Key(x.featureName(j)), x.Scores.Features[j])
	}
	return p.Err()
}

// featureName is what the dataset calls a feature, or its number.
func (x *explained) featureName(j int32) string { return cmp.Or(x.Features[j], fmt.Sprint(j)) }

// title is what people call a node, where that is not its id.
func (x *explained) title(v int32) string {
	if d := x.Data; int(v) < len(d.NodeNames) && d.NodeNames[v] != x.IDs[v] {
		return d.NodeNames[v]
	}
	return ""
}

// label is the class that the data says a node has; -1: nothing.
func (x *explained) label(v int32) int32 {
	if int(v) >= len(x.Data.Labels) {
		return -1
	}
	return x.Data.Labels[v]
}

// className is the name of a class, or its number.
func (x *explained) className(c int) string {
	if names := x.model.Goal.Names; c >= 0 && c < len(names) {
		return names[c]
	}
	return fmt.Sprintf("class %d", c)
}

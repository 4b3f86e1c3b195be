package main

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// openGraphNet reads what kind of network a file holds, without its Params.
func openGraphNet(path string) (*graphNet, error) {
	n := new(graphNet)
	if err := train.LoadConfig(path, n); err != nil {
		return nil, err
	}
	err := n.Recipe.check()
	if err == nil {
		err = n.Recipe.checkEdges()
	}
	const most = 1 << 24 // of features: files are not to be trusted with memory
	if err == nil && (n.Task != taskGraph || n.In < 1 || n.In > most || n.Out < 1 || n.Out > 1<<16) {
		err = fmt.Errorf("%d features and %d outputs of the task %.20q", n.In, n.Out, n.Task)
	}
	if err == nil {
		err = n.Kind.check(n.Scale, n.Out)
	}
	if err := believed(path, err, n.fits); err != nil {
		return nil, err
	}
	return n, nil
}

// fits reports a model of more numbers than a file of that many bytes has.
func (n *graphNet) fits(bytes int64) error {
	r := &n.Recipe
	in, out, hidden, more := int64(n.In), int64(n.Out), int64(r.Hidden), int64(r.Layers-2)
	total := in*(out+hidden) + more*hidden*hidden + (more+1)*hidden*out + r.ofEdges(in) + r.ofReadout(in, out)
	if total > bytes/2 {
		return fmt.Errorf("at least %d numbers, more than its %d bytes hold", total, bytes)
	}
	return nil
}

// savedGraphs is a model of graphs, what it is used on, and what it says of all graphs.
type savedGraphs struct {
	net  *graphNet
	task *graphTask
	y    *tensor.Dense
}

// openGraphs reads the model and its graphs.
func (f *savedFlags) openGraphs(e env) (*savedGraphs, error) {
	switch {
	case f.Threads < 0:
		return nil, misuse("--threads %d: it must be at least 1, or 0 for all processors", f.Threads)
	case f.Number != nil:
		return nil, misuse("--split-number: graphs have one split: leave it out")
	}
	defer par.SetThreads(f.Threads)()
	n, err := openGraphNet(f.File)
	if err != nil {
		return nil, err
	}
	n.build()
	if err := loadParams(f.File, n); err != nil {
		return nil, err
	}
	trained, r := n.Recipe.Dataset, recipe{Dataset: n.Recipe.Dataset, Splits: n.Recipe.Splits}
	at, err := f.places(e, &r)
	if err != nil {
		return nil, err
	}
	n.Recipe.Dataset, n.Recipe.Splits = r.Dataset, at.splits
	in := []file{{"--dataset", datasets.FindGraphs(f.Data, at.dataset)}, splitsFile(at.splits), {"the model", f.File}}
	if err := apart(in, []file{f.out}); err != nil {
		return nil, err
	}
	k, err := openGraphTask(f.Data, at.dataset, n.Recipe.Encoding)
	if err != nil {
		return nil, err
	}
	if w := k.Features.Dim(1); w != n.In || k.goal.outputs != n.Out || k.goal.kind != n.Kind {
		return nil, fmt.Errorf("%s is a model for %d features and %d %s (it was trained on %s); %s has %d and %d %s: %s",
			f.File, n.In, n.Out, n.Kind.noun(), trained, k.Name, w, k.goal.outputs, k.goal.kind.noun(), f.instead())
	}
	if err := k.there().serve(n.Recipe.EdgeIn, n.Recipe.Kinds); err != nil {
		return nil, fmt.Errorf("%s: %w (it was trained on %s): %s", f.File, err, trained, f.instead())
	}
	if err := k.suit(&n.Recipe); err != nil {
		return nil, err
	}
	k.goal.scale = n.Scale
	s := &savedGraphs{n, k, tensor.New(k.Len(), n.Out)}
	n.fill(grad.NewEval(), s.y, k.held(&n.Recipe, k.all()))
	return s, nil
}

// evalGraphs scores a saved model of graphs on each part of the split.
func (c *evalCommand) evalGraphs(e env) error {
	g, err := c.openGraphs(e)
	if err != nil {
		return err
	}
	k, r := g.task, &g.net.Recipe
	s := datasets.Split{Test: k.goal.all()}
	if own := k.Split; r.Splits != splitsOwn || len(own.Train)+len(own.Val)+len(own.Test) > 0 {
		if s, err = k.split(r); err != nil {
			return err
		}
	}
	line, p := scored{Event: "eval", File: c.File, Dataset: r.Dataset, Model: r.model().name}, report.NewPrinter(e.out)
	line.measure(p, c.JSON, k.goal, g.y, s, measured{r.title(), k.Name, k.ClassNames})
	return p.Err()
}

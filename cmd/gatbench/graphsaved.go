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
		return nil, misuse("--threads %d: it must be at least 1, or 0 for all there are", f.Threads)
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
		return nil, fmt.Errorf("%s is a model for %d features and %d %s (it was trained on %s); %s has %d and %d %s: name its dataset with --dataset",
			f.File, n.In, n.Out, n.Kind.noun(), trained, k.Name, w, k.goal.outputs, k.goal.kind.noun())
	}
	if err := k.there().serve(n.Recipe.EdgeIn, n.Recipe.Kinds); err != nil {
		return nil, fmt.Errorf("%s: %w (it was trained on %s): name its dataset with --dataset", f.File, err, trained)
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
	k, r, metric := g.task, &g.net.Recipe, g.net.Kind.metric()
	s, err := k.split(r)
	if err != nil {
		return err
	}
	score := func(ids []int32) train.Score { return k.goal.score(g.y, ids) }
	test := score(s.Test)
	line := scored{
		Event: "eval", File: c.File, Dataset: r.Dataset, Model: r.model().name, Learns: string(g.net.Kind), Metrics: k.goal.quality(g.y, s.Test),
		TrainAccuracy: score(s.Train).Accuracy, ValAccuracy: score(s.Val).Accuracy, TestAccuracy: test.Accuracy, TestLoss: report.Number(test.Loss),
	}
	p := report.NewPrinter(e.out)
	if c.JSON {
		p.Encode(metric.JSON(line))
		return p.Err()
	}
	p.Printf("%s on %s\n\n%-10s  %6s  %-9s  %s\n", r.title(), k.Name, "", "graphs", metric.Name(), "loss")
	for _, part := range []struct {
		name string
		ids  []int32
	}{{"train", s.Train}, {"validation", s.Val}, {"test", s.Test}} {
		one := score(part.ids)
		p.Printf("%-10s  %6d   %s   %.4f\n", part.name, len(part.ids), metric.Shown(one.Accuracy), one.Loss)
	}
	if says := line.Metrics.Line(test.Accuracy); says != "" {
		p.Printf("\n")
		p.Paragraph("%s", says)
	}
	if says := k.goal.untaught(s, k.ClassNames); says != "" {
		p.Printf("\n")
		p.Paragraph("%s", says)
	}
	return p.Err()
}

package node

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Examples is a dataset and what is learnt of its nodes, or of its edges. It may be trained on by several goroutines at once.
type Examples struct {
	*datasets.Dataset        // as the rows of Parts that train make it, with the splits that it came with
	*models.Data             // what networks read of it; but its edges that are told apart nothing is there before Suit
	Called            string // on a command line
	Parts             datasets.Split
	Division          *models.Division         // how split came to be; nil: it is what the dataset has
	words             datasets.FeatureKind     // what the features are like, as published
	near              *sync.Map                // what networks need for the nodes of the split that train: it is the same for all seeds, which may train side by side
	both              bool                     // both directions of each edge are there, whatever the data has
	advice            map[string]models.Advice // for the split, by models' names
	Goal              *task.Goal               // what is learnt of nodes, or of edges
	team              *ranks.Team              // of the ranks that share the training; nil: this process is alone
}

// OpenExamples opens a dataset whose nodes are told apart, as open does, with a split of it; undirected
// takes both directions of each of its edges.
func OpenExamples(dir, name string, undirected bool, c Choice) (*Examples, error) {
	return openTaskOf(task.Node, dir, name, undirected, c)
}

// openTaskOf is OpenExamples of nodes or edges, as what says; empty: as the data has it.
func openTaskOf(what, dir, name string, undirected bool, c Choice) (*Examples, error) {
	if source.IsColumn(c.Splits) {
		if c.Tables.Parts = c.Splits; slices.Contains(datasets.Names(), name) {
			return nil, cli.Misuse("--dataset %s: it is known what its columns are for: leave out --splits %.60s", name, c.Splits)
		}
	}
	k, err := openUnsplit(what, dir, name, undirected, c)
	if part := (*columns.PartError)(nil); errors.As(err, &part) && source.IsColumn(c.Splits) {
		return nil, cli.Misuse("--splits %.60s: %w; or say which words are which parts, such as --splits %s=val:%s,test:OTHER", c.Splits, part, cli.Word(source.SplitsColumn+part.Column), cli.Word(part.Word))
	}
	if name, _, wrong := source.PartsOf(c.Splits); err != nil && source.IsColumn(c.Splits) && wrong == nil && strings.Contains(err.Error(), fmt.Sprintf("column %.40q", name)) {
		return nil, cli.Misuse("--splits %.60s: %w", c.Splits, err)
	}
	if err != nil {
		return nil, err
	}
	return k, k.setSplit(c)
}

// openUnsplit is openTaskOf without a split.
func openUnsplit(what, dir, name string, undirected bool, c Choice) (*Examples, error) {
	d, err := source.OpenNodes(dir, name, cmp.Or(what, task.Node), c.Tables)
	if err != nil {
		return nil, err
	}
	if err := learnable(d, what, name); err != nil {
		return nil, err
	}
	if undirected = undirected || c.ways && !c.Tables.Directed && leadsOneWay(d); undirected {
		d = d.Undirected()
	}
	k := NewExamples(d)
	k.Called, k.both = name, undirected
	if d.LearnsEdges() {
		return k, k.edgesLearnt(undirected)
	}
	return k, nil
}

// leadsOneWay reports whether rows of a table would hear of those alone that an edge leads from, and of nothing they lead to. Kinds of edges have a direction.
func leadsOneWay(d *datasets.Dataset) bool {
	return d.FeatureKind().Columns && d.EdgeKinds == nil && !d.LearnsEdges() && !d.Graph.Symmetric()
}

// splitForAll takes the split that is chosen, to measure a model with, or, of a dataset that has none of its
// own, all of which anything is known as the test.
func (k *Examples) splitForAll(c Choice) error {
	if source.OwnSplit(c.Splits) {
		if s, err := c.of(k.Dataset); err == nil && len(s.Train)+len(s.Val)+len(s.Test) == 0 {
			k.Parts, k.advice = datasets.Split{Test: k.Goal.All()}, nil
			return nil
		}
	}
	return k.setSplit(c)
}

// NewExamples makes a task of a dataset, with the split that it has.
func NewExamples(d *datasets.Dataset) *Examples {
	k := &Examples{Dataset: d, Data: new(models.Data), Parts: d.Split, near: new(sync.Map), words: d.FeatureKind()}
	if d.Labels != nil || d.MultiLabels != nil || d.Targets != nil {
		k.Goal = task.GoalOf(d)
	}
	return k
}

// setSplit takes the split that is chosen.
func (k *Examples) setSplit(c Choice) error {
	division, err := k.divided(c)
	if err != nil {
		return err
	}
	s := division.Split
	if noun := k.Goal.Example + "s"; len(s.Train) == 0 || len(s.Val) == 0 {
		if source.Drawn(c.Splits) {
			return cli.Misuse("--dataset %s: --splits %s leaves no %s to train on or to choose the best epoch by: too few of its %s have %s", k.Called, c.Splits, noun, noun, k.Goal.Noun())
		}
		return cli.Misuse("--dataset %s: it has no %s to choose the best epoch by: use --splits %s", k.Called, noun, models.SplitUsual)
	}
	k.Parts, k.Division, k.near, k.advice = s, division, new(sync.Map), nil
	own := *k.Goal // several may train side by side, each on a split of its own
	k.Goal = &own
	if err := k.Goal.Learn(s.Train); err != nil {
		return fmt.Errorf("--dataset %s: %w", k.Called, err)
	}
	d, err := k.Dataset.Fit(s.Train)
	if err != nil {
		return err
	}
	if p := k.Preparation; d != k.Dataset || p != nil && p.Features.Form == columns.Standard {
		k.Dataset, k.Data = d, &models.Data{Pairing: k.Pairing}
	}
	return nil
}

// aim makes the goal that by which a recipe's training is scored on the split.
func (k *Examples) aim(r *Recipe) (err error) {
	k.Goal, err = k.Goal.Aimed(task.Aims{Rule: r.Select, Weights: r.Weights, Positive: r.Positive}, k.Parts)
	return err
}

// NewFit returns the training of a new network, which it returns too.
func (k *Examples) NewFit(r Recipe) (*train.Fit, *Network, error) {
	m := r.Traits()
	m.Title = "--model " + m.Name
	if err := k.CheckWeights(m); err != nil {
		return nil, nil, cli.Misuse("--dataset %s: %w", k.Called, err)
	}
	if err := r.Traits().Edges.Check(r.Model, r.EdgeIn, r.Kinds); err != nil {
		return nil, nil, cli.Misuse("--model %w", err)
	}
	net, err := k.network(r)
	if err != nil {
		return nil, nil, err
	}
	by, _, _ := task.Criterion(r.Select)
	f := &train.Fit{
		Model: net, Optimiser: r.Optimiser(net), Seed: r.Seed, Epochs: r.Epochs, Patience: r.Patience, By: by, Limit: task.MaxLoss,
		Eval: func(t *grad.Tape) train.Scores { return k.Goal.Watch(k.said(t, net), k.Parts) },
		Team: k.team, Accumulate: r.Accumulate,
	}
	seen, err := k.training(&r)
	if err != nil {
		return nil, nil, err
	}
	seen.team = k.team
	if r.Batch > 0 {
		if n := len(k.Parts.Train); r.Batch > n {
			return nil, nil, cli.Misuse("--batch %d: there are %d to train on: give %d at most, or leave it out for all at once", r.Batch, n, n)
		}
		l, b := seen.loader(net), new(*sample.Batch)
		l.Rank, l.Ranks = k.team.Rank(), k.team.Size()
		f.Steps, f.Next, f.Loss = l.Steps(), l.Into(b), seen.lossOfBatch(net, b)
		f.Weight = func() float64 { return seen.Goal.Weight(seen.examples(*b)) }
		return f, net, l.Check()
	}
	if k.team.Size() > 1 {
		f.Steps, seen = seen.share()
		weight := seen.Goal.Weight(seen.Parts.Train)
		f.Weight = func() float64 { return weight }
	}
	f.Loss = seen.lossOf(net)
	return f, net, nil
}

// share returns the part of a task on all nodes or edges that this rank computes, one step of the epoch's: some of those that train, whose
// neighbourhoods cost about as much as the others'. It returns how many ranks have one, too.
func (k *Examples) share() (ranks int, own *Examples) {
	all := slices.Sorted(slices.Values(k.Parts.Train))
	ranks = min(k.team.Size(), len(all))
	into := func(i int32) int64 {
		if k.Pairing != nil {
			return 1
		}
		offsets := k.Looped.In().Offsets
		return 1 + offsets[i+1] - offsets[i]
	}
	total := int64(0)
	for _, v := range all {
		total += into(v)
	}
	cuts, cost := []int{0}, int64(0)
	for i, v := range all { // each share has one at least
		if n := len(cuts); n < ranks && i > cuts[n-1] && (cost >= total*int64(n)/int64(ranks) || len(all)-i == ranks-n) {
			cuts = append(cuts, i)
		}
		cost += into(v)
	}
	part := *k
	part.near, part.Parts.Train = new(sync.Map), nil
	if r := k.team.Rank(); r < ranks {
		part.Parts.Train = all[cuts[r]:append(cuts, len(all))[r+1]]
	}
	return ranks, &part
}

// network returns an initialised network for the task.
func (k *Examples) network(r Recipe) (*Network, error) {
	n := &Network{Recipe: r, In: k.Rows.Shape()[1], Classes: k.Goal.Outputs, Kind: k.Goal.Learns, Scale: k.Goal.Scale, Head: k.head(&r)}
	n.Codes = k.Codes
	if r.EdgeIn > 0 || n.Head != nil && n.Head.Own > 0 {
		n.EdgeCodes = k.EdgeCodes
	}
	if n.Head != nil {
		n.Task = task.Edge
	}
	return n, n.build()
}

// said returns what a network says of each node, or of each edge.
func (k *Examples) said(t *grad.Tape, n *Network) *tensor.Dense {
	y, err := n.RunShared(t, k.team, k.All(n.Network), k.Rows)
	if err != nil { // the team's next exchange fails, too, and its error ends the training
		return tensor.New(k.Goal.Len(), k.Goal.Outputs)
	}
	return y
}

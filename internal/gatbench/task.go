package gatbench

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// task is a dataset as the networks want it: every node its own neighbour, the
// features in the form that suits them. It may be trained on by several goroutines
// at once.
type task struct {
	*datasets.Dataset
	name     string // on a command line
	split    datasets.Split
	division *models.Division // how split came to be; nil: it is what the dataset has
	graph    *graph.Graph
	words    datasets.FeatureKind     // what the features are like, as published
	form     featureForm              // that the networks get them in
	plain    tensor.Array             // the features in that form
	prepared models.Preparation       // what it learnt for that
	encoding string                   // what the networks get beside them, such as pagerank,random-walk:16; empty: nothing
	encoded  *tensor.Dense            // the same
	rows     tensor.Array             // both
	features *grad.Var                // the same
	near     *nearby                  // of the split
	both     bool                     // both directions of each edge are there, whatever the data has
	advice   map[string]models.Advice // for the split, by models' names
	goal     *goal                    // what is learnt of nodes, or of edges
	pairs    *pairs                   // these edges; nil: nodes are told apart
	looped   []tensor.Float           // the weights of the graph's edges, as they are; nil: all are 1
	edges    *tensor.Dense            // features of the graph's edges, where the networks read them
	weights  *grad.Var                // of the graph's edges, over the roots of their sums at both ends; nil: all are 1
	team     *ranks.Team              // of the ranks that share the training; nil: this process is alone
}

// openTask opens a dataset whose nodes are told apart, as open does, with a split of it; undirected
// takes both directions of each of its edges.
func openTask(dir, name string, undirected bool, c choice) (*task, error) {
	return openTaskOf(taskNode, dir, name, undirected, c)
}

// openTaskOf is openTask of nodes or edges, as what says; empty: as the data has it.
func openTaskOf(what, dir, name string, undirected bool, c choice) (*task, error) {
	if isColumn(c.splits) {
		if c.columns.parts = c.splits; slices.Contains(datasets.Names(), name) {
			return nil, cli.Misuse("--dataset %s: it is known what its columns are for: leave out --splits %.60s", name, c.splits)
		}
	}
	k, err := openUnsplit(what, dir, name, undirected, c)
	if part := (*columns.PartError)(nil); errors.As(err, &part) && isColumn(c.splits) {
		return nil, cli.Misuse("--splits %.60s: %w; or say which words are which parts, such as --splits %s=val:%s,test:OTHER", c.splits, part, cli.Word(splitsColumn+part.Column), cli.Word(part.Word))
	}
	if name, _, wrong := partsOf(c.splits); err != nil && isColumn(c.splits) && wrong == nil && strings.Contains(err.Error(), fmt.Sprintf("column %.40q", name)) {
		return nil, cli.Misuse("--splits %.60s: %w", c.splits, err)
	}
	if err != nil {
		return nil, err
	}
	return k, k.setSplit(c)
}

// openUnsplit is openTaskOf without a split.
func openUnsplit(what, dir, name string, undirected bool, c choice) (*task, error) {
	d, err := openNodes(dir, name, cmp.Or(what, taskNode), c.columns)
	if err != nil {
		return nil, err
	}
	if err := learnable(d, what, name); err != nil {
		return nil, err
	}
	if undirected = undirected || c.ways && !c.columns.Directed && leadsOneWay(d); undirected {
		d = d.Undirected()
	}
	k := newTask(d)
	k.name, k.both = name, undirected
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
func (k *task) splitForAll(c choice) error {
	if own(c.splits) {
		if s, err := c.of(k.Dataset); err == nil && len(s.Train)+len(s.Val)+len(s.Test) == 0 {
			k.split, k.advice = datasets.Split{Test: k.goal.All()}, nil
			return nil
		}
	}
	return k.setSplit(c)
}

// openNodes is open, or else the nodes of many graphs, which are one graph then; errors say for which task.
func openNodes(dir, name, what string, columns chosenColumns) (*datasets.Dataset, error) {
	if slices.Contains(datasets.Names(), name) || datasets.FindGraphs(dir, name) == "" {
		return open(dir, name, columns)
	}
	g, err := datasets.OpenGraphs(dir, name)
	if err != nil {
		return nil, err
	}
	d, err := g.Nodes()
	if err != nil {
		return nil, cli.Misuse("--dataset %s with --task %s: %w: --task graph learns those", name, what, err)
	}
	return d, nil
}

// newTask makes a task of a dataset, with the split that it has.
func newTask(d *datasets.Dataset) *task {
	looped := d.WithSelfLoops()
	k := &task{Dataset: d, split: d.Split, graph: looped.Graph, near: new(nearby), words: d.FeatureKind()}
	if d.Labels != nil || d.MultiLabels != nil || d.Targets != nil {
		k.goal = goalOf(d)
	}
	if w := looped.Weights; w != nil {
		k.looped = w
		k.weights = layers.SymmetricWeights(k.graph, grad.Const(tensor.Of(w, len(w), 1)))
	}
	if err := k.use(formOf(k.words)); err != nil {
		panic(err) // words are not negative
	}
	return k
}

// open returns the dataset that datasetNamed names, or else reads the file or folder
// of that name. Cora comes from the program unless --data names a folder.
func open(dir, name string, columns chosenColumns) (*datasets.Dataset, error) {
	if dir != "" && !cli.IsFolder(dir) {
		return nil, cli.Misuse("--data %s: there is no such folder", dir)
	}
	if columns.any() && slices.Contains(datasets.Names(), name) {
		return nil, cli.Misuse("--dataset %s: it is known what its columns are for: leave out%s", name, columns.flags())
	}
	if name == "cora" && dir == "" {
		return cora.Load()
	}
	d, err := datasets.Open(dir, name)
	if missing := (*datasets.MissingError)(nil); errors.As(err, &missing) && datasets.Sources(missing.Name) != nil {
		missing.Get = fmt.Sprintf("get it with %s data fetch %s", cli.Program, missing.Name)
	}
	if !errors.As(err, new(*datasets.UnknownError)) {
		return d, err
	}
	own, readErr := columns.read(name)
	if errors.Is(readErr, fs.ErrNotExist) && !strings.ContainsAny(name, `/\.`) {
		if _, isText := textNamed(name); isText {
			return nil, cli.Misuse("%s is a dataset of text, and no graph with features: %s demo says which model reads it", name, cli.Program)
		}
	}
	switch {
	case readErr != nil && holdsGraphs(dir, name):
		return nil, manyGraphs(dir, name)
	case errors.Is(readErr, fs.ErrNotExist) && !strings.ContainsAny(name, `/\.`):
		return nil, err // a name, and not that of a file
	}
	if readErr != nil && datasets.HoldsInteractions(name) {
		return nil, cli.Misuse("--dataset %s: it has users and items, not nodes: use --task link to learn recommendations", name)
	}
	if readErr != nil && isFacts(dir, name) {
		return nil, cli.Misuse("--dataset %s: it has the facts of a knowledge graph, not nodes: use --task link to predict missing ones", name)
	}
	return own, readErr
}

// manyGraphs returns the error for many graphs where one is wanted.
func manyGraphs(dir, name string) error {
	c := trainFlags{Data: dir, settingFlags: settingFlags{Dataset: &name}}
	return cli.Misuse("--dataset %s: it has many graphs, not one: use --task graph, as in %s train --task graph%s", name, cli.Program, c.onDataset())
}

// where returns where open finds a dataset, "" if it does not.
func where(dir, name string) string {
	path, err := datasets.Find(dir, name)
	switch {
	case name == "cora" && dir == "", name == "karate":
		return "this program"
	case errors.As(err, new(*datasets.UnknownError)):
		return name
	}
	return path
}

// datasetNamed returns a dataset's name in lower case, as it is known, or that of a
// file or folder as it stands.
func datasetNamed(name string) string {
	if lower := strings.ToLower(name); slices.Contains(datasets.Names(), lower) {
		return lower
	}
	return name
}

// setSplit takes the split that is chosen.
func (k *task) setSplit(c choice) error {
	division, err := k.divided(c)
	if err != nil {
		return err
	}
	s := division.Split
	if noun := k.goal.example + "s"; len(s.Train) == 0 || len(s.Val) == 0 {
		if drawn(c.splits) {
			return cli.Misuse("--dataset %s: --splits %s leaves no %s to train on or to choose the best epoch by: too few of its %s have %s", k.name, c.splits, noun, noun, k.goal.kind.noun())
		}
		return cli.Misuse("--dataset %s: it has no %s to choose the best epoch by: use --splits %s", k.name, noun, models.SplitUsual)
	}
	k.split, k.division, k.near, k.advice = s, division, new(nearby), nil
	own := *k.goal // several may train side by side, each on a split of its own
	k.goal = &own
	if err := k.goal.Learn(s.Train); err != nil {
		return fmt.Errorf("--dataset %s: %w", k.name, err)
	}
	return k.fitted()
}

// maxLoss is a cross-entropy beyond which nothing is learnt any more.
const maxLoss = 1e6

// aim makes the goal that by which a recipe's training is scored on the split.
func (k *task) aim(r *recipe) (err error) {
	k.goal, err = k.goal.aimed(aims{r.Select, r.Weights, r.Positive}, k.ClassNames, k.split)
	return err
}

// fit returns the training of a new network, which it returns too.
func (k *task) fit(r recipe) (*train.Fit, *network, error) {
	if err := k.checkWeights(r.model()); err != nil {
		return nil, nil, err
	}
	if err := r.model().Edges.Check(r.Model, r.EdgeIn, r.Kinds); err != nil {
		return nil, nil, cli.Misuse("--model %w", err)
	}
	net, err := k.network(r)
	if err != nil {
		return nil, nil, err
	}
	by, _, _ := criterion(r.Select)
	f := &train.Fit{
		Model: net, Optimiser: r.optimiser(net), Seed: r.Seed, Epochs: r.Epochs, Patience: r.Patience, By: by, Limit: maxLoss,
		Eval: func(t *grad.Tape) train.Scores { return k.goal.Watch(k.said(t, net), k.split) },
		Team: k.team, Accumulate: r.Accumulate,
	}
	seen, err := k.training(&r)
	if err != nil {
		return nil, nil, err
	}
	seen.team = k.team
	if r.Batch > 0 {
		if n := len(k.split.Train); r.Batch > n {
			return nil, nil, cli.Misuse("--batch %d: there are %d to train on: give %d at most, or leave it out for all at once", r.Batch, n, n)
		}
		l, b := seen.loader(net), new(*sample.Batch)
		l.Rank, l.Ranks = k.team.Rank(), k.team.Size()
		f.Steps, f.Next, f.Loss = l.Steps(), l.Into(b), seen.lossOfBatch(net, b)
		f.Weight = func() float64 { return seen.goal.Weight(seen.examples(*b)) }
		return f, net, l.Check()
	}
	if k.team.Size() > 1 {
		f.Steps, seen = seen.share()
		weight := seen.goal.Weight(seen.split.Train)
		f.Weight = func() float64 { return weight }
	}
	f.Loss = seen.lossOf(net)
	return f, net, nil
}

// share returns the part of a task on all nodes or edges that this rank computes, one step of the epoch's: some of those that train, whose
// neighbourhoods cost about as much as the others'. It returns how many ranks have one, too.
func (k *task) share() (ranks int, own *task) {
	all := slices.Sorted(slices.Values(k.split.Train))
	ranks = min(k.team.Size(), len(all))
	into := func(i int32) int64 {
		if k.pairs != nil {
			return 1
		}
		offsets := k.graph.In().Offsets
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
	part.near, part.split.Train = new(nearby), nil
	if r := k.team.Rank(); r < ranks {
		part.split.Train = all[cuts[r]:append(cuts, len(all))[r+1]]
	}
	return ranks, &part
}

// network returns an initialised network for the task.
func (k *task) network(r recipe) (*network, error) {
	n := &network{Recipe: r, In: k.rows.Shape()[1], Classes: k.goal.Outputs, Kind: k.goal.kind, Scale: k.goal.Scale, Head: k.head(&r)}
	n.Codes = k.Codes
	if r.EdgeIn > 0 || n.Head != nil && n.Head.Own > 0 {
		n.EdgeCodes = k.EdgeCodes
	}
	if n.Head != nil {
		n.Task = taskEdge
	}
	return n, n.build()
}

// said returns what a network says of each node, or of each edge.
func (k *task) said(t *grad.Tape, n *network) *tensor.Dense {
	p := n.Whole(k.hop(n), k.features)
	if k.pairs != nil {
		p.Ends, p.Rows = k.pairs.All(), k.pairs.Of
	}
	y, err := n.RunShared(t, k.team, p, k.rows)
	if err != nil { // the team's next exchange fails, too, and its error ends the training
		return tensor.New(k.outputRows(), k.goal.Outputs)
	}
	return y
}

// outputRows is how many nodes or edges there are to say something of.
func (k *task) outputRows() int {
	if k.pairs != nil {
		return len(k.pairs.Of)
	}
	return k.Graph.NumNodes()
}

// datasetFiles returns the files of a dataset, as far as there are any.
func datasetFiles(flag, dir, name string) []cli.File {
	var fs []cli.File
	for _, path := range datasets.Files(where(dir, name)) {
		fs = append(fs, cli.File{Flag: flag, Path: path})
	}
	return fs
}

// splitsFile returns the file that --splits names, if it names one.
func splitsFile(name string) cli.File {
	if noFile(name) {
		return cli.File{}
	}
	return cli.File{Flag: "--splits", Path: name}
}

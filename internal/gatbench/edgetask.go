package gatbench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// taskEdge is what --task says where edges are told apart. Its task is one of nodes whose
// examples are edges: a network of nodes, and a head that reads the rows of both ends.
const taskEdge = "edge"

// pairs are the edges of a graph as a head reads them.
type pairs struct{ *models.Pairing }

// newPairs returns the edges of a dataset; both directions are meant if undirected is set.
func newPairs(d *datasets.Dataset, g *goal, undirected bool) (*pairs, error) {
	named := g.Goal
	named.Names = d.ClassNames
	p, err := models.NewPairing(d, &named, undirected)
	return &pairs{p}, err
}

// head returns the head of a recipe's networks; nil: nodes are told apart.
func (k *task) head(r *recipe) *models.Pairs {
	if k.pairs == nil {
		return nil
	}
	return &models.Pairs{In: r.width(), Own: widthOf(k.pairs.Own), Mirrored: k.pairs.Mirrored}
}

// edgesLearnt makes the edges of a dataset the examples of its task.
func (k *task) edgesLearnt(undirected bool) (err error) {
	k.goal = goalOf(k.Dataset)
	if k.pairs, err = newPairs(k.Dataset, k.goal, undirected); err != nil {
		return cli.Misuse("--dataset %s: %w", k.name, err)
	}
	return nil
}

// learnable returns an error for a dataset that has nothing to learn of what a task is about; an
// empty one stands for nodes or edges, as the data has it.
func learnable(d *datasets.Dataset, what, name string) error {
	edges := d.LearnsEdges()
	switch nodes := len(d.Labels) > 0 || d.MultiLabels != nil || d.Targets != nil; {
	case what == taskNode && edges:
		return cli.Misuse("--dataset %s: the column of --label is one of its edges: use --task edge, or name a column of the nodes with --label", name)
	case what == taskEdge && !edges:
		return cli.Misuse("--dataset %s: its edges have no classes, labels or numbers to predict: name the column to predict, in the table of edges, with --label COLUMN", name)
	case !edges && !nodes && len(d.FeatureNames) > 0:
		return cli.Misuse("--dataset %s: its nodes have no classes, labels or numbers to predict: name the column to predict with --label COLUMN", name)
	case !edges && !nodes:
		return cli.Misuse("--dataset %s: its nodes have no classes, labels or numbers to predict", name)
	case constant(d.Targets) || constant(d.EdgeTargets):
		return cli.Misuse("--dataset %s: all numbers to predict are the same, so there is nothing to learn: name another column with --label COLUMN", name)
	case d.Classes == 1 && (d.Labels != nil || d.EdgeLabels != nil):
		noun := "nodes"
		if edges {
			noun = "edges"
		}
		return cli.Misuse("--dataset %s: all its %s are of one class, so there is nothing to learn%s", name, noun, onlyClass(d))
	}
	return nil
}

// onlyClass names the one class of a dataset and its column, and what to do.
func onlyClass(d *datasets.Dataset) string {
	switch s := d.Schema; {
	case len(d.ClassNames) != 1:
		return ": name another column with --label COLUMN"
	case s == nil || s.Label == nil || len(s.Label.Columns) != 1:
		return fmt.Sprintf(": it is %.40q", d.ClassNames[0])
	default:
		return fmt.Sprintf(": column %.40q says %.40q wherever it is not empty. Name another column with --label COLUMN", s.Label.Columns[0], d.ClassNames[0])
	}
}

// constant reports whether all numbers that are known are the same; not where none is.
func constant(x *tensor.Dense) bool {
	if x == nil {
		return false
	}
	first, n := tensor.Float(0), 0
	for _, v := range x.Data {
		if v != v {
			continue
		}
		if n++; n > 1 && v != first {
			return false
		}
		first = v
	}
	return n > 1
}

// apart says that no node with an answer has an edge, so that edges cannot help; empty where one has, and where edges are learnt.
func (k *task) apart() string {
	if k.pairs != nil || k.Graph.NumEdges() == 0 {
		return ""
	}
	linked := make([]bool, k.Graph.NumNodes())
	for e, v := range k.Graph.Destinations() {
		linked[v], linked[k.Graph.In().Cols[e]] = true, true
	}
	all := k.goal.All()
	if len(all) == 0 || slices.ContainsFunc(all, func(v int32) bool { return linked[v] }) {
		return ""
	}
	return fmt.Sprintf("none of the %d nodes whose answer is known has an edge: edges cannot help to learn it. Look whether the ends of edges are the ids of these nodes", len(all))
}

// edgesThere is what a dataset has of edges beside their ends, and what errors advise.
type edgesThere struct {
	data         string
	width, kinds int
	readers      []string // models that read features
	instead      string   // of a model that wants features
	how          string   // data says what the kinds are
	beside       bool     // a head reads the features, so that a model need not
}

// widthOf returns how many features edges have.
func widthOf(x *tensor.Dense) int {
	if x == nil {
		return 0
	}
	return x.Dim(1)
}

// read decides what a model reads of edges: features, kinds, or without them neither.
func (d edgesThere) read(model string, by models.EdgesRead, without bool) (width, kinds int, err error) {
	if without && d.width == 0 {
		return 0, 0, cli.Misuse("--no-edge-features: the edges of %s have none: leave it out", d.data)
	}
	width, kinds = d.width, d.kinds
	if without {
		width, kinds = 0, 0
	}
	const leaves = "; --no-edge-features leaves them out"
	switch {
	case d.beside && width > 0 && (by == models.ReadsNone || by == models.MayKinds && kinds == 0):
		return 0, 0, nil
	case by == models.ReadsNone && width > 0:
		return 0, 0, cli.Misuse("--model %s: it reads no features of edges, and those of %s have %d: %s read them%s", model, d.data, width, strings.Join(d.readers, ", "), leaves)
	case by == models.WantsNumbers && width == 0:
		return 0, 0, cli.Misuse("--model %s: it reads the features of edges, and there are none: take %s", model, d.instead)
	case by == models.WantsKinds && kinds == 0:
		return 0, 0, cli.Misuse("--model %s: it reads the kinds of edges, one of each, and those of %s have none: %s", model, d.data, d.how)
	case by == models.MayKinds && kinds == 0 && width > 0:
		return 0, 0, cli.Misuse("--model %s: it reads the kinds of edges alone, and those of %s have %d numbers and no kinds%s", model, d.data, width, leaves)
	case by.Kinds():
		return 0, kinds, nil
	}
	return width, 0, nil
}

// serve returns an error if a network wants other edges than there are.
func (d edgesThere) serve(width, kinds int) error {
	switch {
	case width > 0 && width != d.width:
		return fmt.Errorf("it is a model for %d features of edges, and those of %s have %d", width, d.data, d.width)
	case kinds > 0 && kinds != d.kinds:
		return fmt.Errorf("it is a model for %d kinds of edges, and those of %s have %d", kinds, d.data, d.kinds)
	}
	return nil
}

// edgeRemedies say which flags of train a training on edges has no use for, and what to do.
var edgeRemedies = map[string]string{
	"readout":   "it is for --task graph: leave it out",
	"pool":      "it is for --task graph: leave it out",
	"inductive": "test edges carry messages like all others, and only their classes are held back: leave it out",
	"plot":      "the picture shows nodes: --csv or --log record the epochs instead",
	"attention": "it is for --task node: leave it out",
	"nodes":     "it is for --attention with --task node: leave it out",
}

package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// head returns the head of a recipe's networks; nil: nodes are told apart.
func (k *Examples) head(r *Recipe) *models.Pairs {
	if k.Pairing == nil {
		return nil
	}
	return &models.Pairs{In: r.width(), Own: task.WidthOf(k.Pairing.Own), Mirrored: k.Pairing.Mirrored}
}

// edgesLearnt makes the edges of a dataset the examples of its task.
func (k *Examples) edgesLearnt(undirected bool) (err error) {
	k.Goal = task.GoalOf(k.Dataset)
	if k.Pairing, err = models.NewPairing(k.Dataset, &k.Goal.Goal, undirected); err != nil {
		return cli.Misuse("--dataset %s: %w", k.Called, err)
	}
	return nil
}

// learnable returns an error for a dataset that has nothing to learn of what a task is about; an
// empty one stands for nodes or edges, as the data has it.
func learnable(d *datasets.Dataset, what, name string) error {
	edges := d.LearnsEdges()
	switch nodes := len(d.Labels) > 0 || d.MultiLabels != nil || d.Targets != nil; {
	case what == task.Node && edges:
		return cli.Misuse("--dataset %s: the column of --label is one of its edges: use --task edge, or name a column of the nodes with --label", name)
	case what == task.Edge && !edges:
		return cli.Misuse("--dataset %s: its edges have no classes, labels or numbers to predict: name the column to predict, in the table of edges, with --label COLUMN", name)
	case !edges && !nodes && len(d.FeatureNames) > 0:
		return unlabelled{cli.Misuse("--dataset %s: its nodes have no classes, labels or numbers to predict: name the column to predict with --label COLUMN%s, or predict missing links with --task link", name, suggested(d)), d}
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

// unlabelled is the error of data with columns of which none is to be predicted.
type unlabelled struct {
	error
	data *datasets.Dataset
}

func (e unlabelled) Unwrap() error { return e.error }

// suggested names columns of few words, which may be what somebody wants to predict.
func suggested(d *datasets.Dataset) string {
	const few, most = 12, 3 // words, and columns
	var names []string
	if d.Schema == nil {
		return ""
	}
	for _, t := range d.Schema.Nodes {
		for _, c := range t.Columns {
			if n := len(c.Words); n > 1 && n <= few && len(names) < most {
				names = append(names, "--label "+cli.Word(c.Name))
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", such as " + strings.Join(names, " or ")
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
func (k *Examples) apart() string {
	if k.Pairing != nil || k.Graph.NumEdges() == 0 {
		return ""
	}
	linked := make([]bool, k.Graph.NumNodes())
	for e, v := range k.Graph.Destinations() {
		linked[v], linked[k.Graph.In().Cols[e]] = true, true
	}
	all := k.Goal.All()
	if len(all) == 0 || slices.ContainsFunc(all, func(v int32) bool { return linked[v] }) {
		return ""
	}
	return fmt.Sprintf("none of the %d nodes whose answer is known has an edge: edges cannot help to learn it. Look whether the ends of edges are the ids of these nodes", len(all))
}

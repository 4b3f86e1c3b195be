package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// goalKind is what is learnt of each node, edge or graph. It follows from the data.
type goalKind string

const (
	oneClass  goalKind = ""        // one class
	manyTags  goalKind = "labels"  // several labels, each there or not
	someReals goalKind = "numbers" // numbers
)

// goal is what is to be learnt of examples, nodes, edges or graphs, in the words of the command.
type goal struct {
	models.Goal
	example string // what is learnt from: a node, an edge or a graph
	kind    goalKind
}

// scale is how numbers are standardised.
type scale = models.Scale

// newGoal returns the command's view of a goal, which has no names: those of the data are shown.
func newGoal(g *models.Goal) *goal {
	out := &goal{Goal: *g, example: string(g.Of), kind: goalKindOf(g)}
	out.Names = nil
	return out
}

// goalOf returns the goal of a dataset's nodes, or of its edges where these are learnt.
func goalOf(d *datasets.Dataset) *goal { return newGoal(models.GoalOf(d)) }

// only returns the goal of some of the examples, which are numbered anew.
func (g *goal) only(ids []int32) *goal { return newGoal(g.Only(ids)) }

// The losses of numbers that --loss names.
const (
	lossMSE = "mse"
	lossMAE = "mae"
)

// loss returns the loss of examples, of which y has a row each, by the name of --loss.
func (g *goal) loss(name string, ids []int32) func(y *grad.Var) *grad.Var {
	return g.Loss(ids, name == lossMAE)
}

// pick returns some rows of a matrix.
func pick(x *tensor.Dense, ids []int32) *tensor.Dense {
	return datasets.GatherRows(x, ids).(*tensor.Dense)
}

// quality is what the score does not say of some examples; nothing if there are none.
func (g *goal) quality(y *tensor.Dense, ids []int32) (m report.Metrics) {
	if len(ids) == 0 {
		return m
	}
	switch g.kind {
	case manyTags:
		y, tags := pick(y, ids), pick(g.Tags, ids)
		counts := train.CountLabels(y, tags)
		m.Labels = &report.Labels{MicroF1: train.MicroF1(counts), MacroF1: train.MacroF1(counts)}
		m.Labels.AUC = report.Number(meanKnown(train.LabelAUC(y, tags)))
		m.Labels.AP = report.Number(meanKnown(train.LabelAveragePrecision(y, tags)))
	case someReals:
		e, ok := g.Errors(y, ids)
		if !ok {
			e.MAE, e.RMSE, e.R2 = math.NaN(), math.NaN(), math.NaN()
		}
		m.Numbers = &report.Numbers{MAE: report.Number(e.MAE), RMSE: report.Number(e.RMSE), R2: report.Number(e.R2)}
	default:
		y, labels := pick(y, ids), g.Labels.Of(ids)
		counts := train.NewConfusion(y, labels).Counts()
		m.Quality = &report.Quality{TestMajority: train.Majority(labels), TestBalanced: train.BalancedAccuracy(counts), TestMacroF1: train.MacroF1(counts)}
		if g.Outputs == 2 {
			if auc := train.ClassAUC(y, labels)[1]; !math.IsNaN(auc) {
				m.Quality.TestAUC = &auc
			}
		}
	}
	return m
}

// takes returns an error for --loss where no numbers are learnt.
func (g *goal) takes(loss string) error {
	if loss != "" && g.kind != someReals {
		return misuse("--loss %s: it is for predicting numbers, and here each %s has %s to predict: leave it out", loss, g.example, g.kind.noun())
	}
	return nil
}

// says is what is learnt, in words.
func (g *goal) says() string {
	switch g.kind {
	case manyTags:
		return fmt.Sprintf("predicts %d labels, each present or absent; the loss is binary cross-entropy over the known labels, the score micro F1", g.Outputs)
	case someReals:
		what := "a number"
		if g.Outputs > 1 {
			what = fmt.Sprintf("%d numbers", g.Outputs)
		}
		return fmt.Sprintf("predicts %s, standardised with the mean and deviation of the training set; the score is R²", what)
	}
	return ""
}

// untaught says which classes, by their names if they have any, only examples that do not train
// have: no network learns these.
func (g *goal) untaught(s datasets.Split, names []string) string {
	if g.kind != oneClass {
		return ""
	}
	taught, held, none, what := make([]bool, g.Outputs), make([]int, g.Outputs), 0, []string(nil)
	for _, v := range s.Train {
		if c := g.Labels[v]; c >= 0 {
			taught[c] = true
		}
	}
	for _, v := range slices.Concat(s.Val, s.Test) {
		if c := g.Labels[v]; c >= 0 {
			held[c]++
		}
	}
	for c, n := range held {
		if taught[c] || n == 0 {
			continue
		}
		none += n
		name := fmt.Sprint(c)
		if c < len(names) {
			name = plain.Text(names[c])
		}
		what = append(what, name)
	}
	const most = 5 // classes by name
	switch n := len(what); {
	case n == 0:
		return ""
	case n > most:
		what = append(what[:most], fmt.Sprintf("and %d more", n-most))
	}
	return fmt.Sprintf("no training %s has class %s; the validation and test parts have %d, about which no model can be right", g.example, strings.Join(what, ", "), none)
}

// check returns an error for what a file says of its model's outputs and cannot be.
func (k goalKind) check(s scale, outputs int) error {
	switch {
	case k != oneClass && k != manyTags && k != someReals:
		return fmt.Errorf("it learns %.40q, which is nothing that is learnt", string(k))
	case k == someReals && (len(s.Mean) != outputs || len(s.Dev) != outputs):
		return fmt.Errorf("it has scales of %d and %d numbers, and gives %d", len(s.Mean), len(s.Dev), outputs)
	}
	return nil
}

// noun is what there are several of.
func (k goalKind) noun() string {
	if k == oneClass {
		return "classes"
	}
	return string(k)
}

// of is what an example may lack.
func (k goalKind) of() string {
	if k == oneClass {
		return "class"
	}
	return string(k)
}

// metric is what the score of a kind is.
func (k goalKind) metric() report.Metric {
	switch k {
	case manyTags:
		return report.Metric{Says: "micro F1", Key: "micro_f1"}
	case someReals:
		return report.Metric{Says: "R²", Key: "r2"}
	}
	return report.Metric{}
}

// meanKnown returns the mean of the numbers that are not NaN; NaN of none.
func meanKnown(xs []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range xs {
		if !math.IsNaN(x) {
			sum += x
			n++
		}
	}
	return sum / float64(n)
}

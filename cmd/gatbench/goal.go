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
	"github.com/edgewise-ml/edgewise/sparse"
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

// goal is what is to be learnt of examples, nodes, edges or graphs: of its three tables one is set.
type goal struct {
	example string // what is learnt from: a node, an edge or a graph
	kind    goalKind
	outputs int
	labels  datasets.Labels // a class; −1: not known
	tags    *tensor.Dense   // 1, 0, or NaN: not known
	reals   *tensor.Dense   // NaN: not known
	scale   scale           // of reals
}

// scale is how numbers are standardised: what a network gives, times Dev, plus Mean.
type scale struct{ Mean, Dev []float64 }

// newGoal returns what the data asks for. Numbers that are all 0 or 1 are labels.
func newGoal(example string, classes int, labels []int32, several *sparse.CSR, numbers *tensor.Dense) *goal {
	switch {
	case several != nil:
		return &goal{example: example, kind: manyTags, outputs: several.NumCols, tags: several.Dense()}
	case numbers != nil && zeroOne(numbers.Data):
		return &goal{example: example, kind: manyTags, outputs: numbers.Dim(1), tags: numbers}
	case numbers != nil:
		return &goal{example: example, kind: someReals, outputs: numbers.Dim(1), reals: numbers}
	}
	return &goal{example: example, outputs: classes, labels: labels}
}

// goalOf returns the goal of a dataset's nodes.
func goalOf(d *datasets.Dataset) *goal {
	return newGoal("node", d.Classes, d.Labels, d.MultiLabels, d.Targets)
}

// zeroOne reports whether each number is 0, 1 or not known, and both occur.
func zeroOne(x []tensor.Float) bool {
	var seen [2]bool
	for _, v := range x {
		switch v {
		case 0, 1:
			seen[int(v)] = true
		default:
			if v == v {
				return false
			}
		}
	}
	return seen[0] && seen[1]
}

// known reports whether anything is known of an example.
func (g *goal) known(i int32) bool {
	if g.labels != nil {
		return g.labels[i] >= 0
	}
	for _, v := range g.table().Row(int(i)) {
		if v == v {
			return true
		}
	}
	return false
}

// all returns the examples of which anything is known.
func (g *goal) all() []int32 {
	return slices.DeleteFunc(numbersTo(g.size()), func(i int32) bool { return !g.known(i) })
}

// same reports whether what is known of two examples is the same.
func (g *goal) same(i, j int32) bool {
	if g.labels != nil {
		return g.labels[i] == g.labels[j]
	}
	a, b := g.table().Row(int(i)), g.table().Row(int(j))
	for c, v := range a {
		if v != b[c] && (v == v || b[c] == b[c]) {
			return false
		}
	}
	return true
}

// shown is what is known of an example, for errors; classes may have names.
func (g *goal) shown(i int32, names []string) string {
	switch {
	case !g.known(i):
		return "nothing"
	case g.labels == nil:
		return fmt.Sprint(g.table().Row(int(i)))
	case int(g.labels[i]) < len(names):
		return fmt.Sprintf("%.40q", names[g.labels[i]])
	}
	return fmt.Sprintf("class %d", g.labels[i])
}

// only returns the goal of some of the examples, which are numbered anew.
func (g *goal) only(ids []int32) *goal {
	part := *g
	if g.labels != nil {
		part.labels = g.labels.Of(ids)
		return &part
	}
	rows := tensor.New(len(ids), g.outputs)
	tensor.GatherRows(rows, g.table(), ids)
	if g.tags != nil {
		part.tags = rows
	} else {
		part.reals = rows
	}
	return &part
}

// table returns the tags or the numbers.
func (g *goal) table() *tensor.Dense {
	if g.tags != nil {
		return g.tags
	}
	return g.reals
}

// size returns how many examples there are.
func (g *goal) size() int {
	if g.labels != nil {
		return len(g.labels)
	}
	return g.table().Rows()
}

// learn standardises numbers by the examples that train.
func (g *goal) learn(ids []int32) error {
	if g.kind != someReals {
		return nil
	}
	g.scale = scale{make([]float64, g.outputs), make([]float64, g.outputs)}
	for c := range g.outputs {
		n, sum, squares := 0.0, 0.0, 0.0
		for _, i := range ids {
			if v := float64(g.reals.Row(int(i))[c]); v == v {
				n, sum = n+1, sum+v
			}
		}
		if n == 0 {
			return fmt.Errorf("number %d is known of no example that trains", c)
		}
		mean := sum / n
		for _, i := range ids {
			if v := float64(g.reals.Row(int(i))[c]); v == v {
				squares += (v - mean) * (v - mean)
			}
		}
		g.scale.Mean[c], g.scale.Dev[c] = mean, math.Sqrt(squares/n)
		if g.scale.Dev[c] == 0 {
			g.scale.Dev[c] = 1 // they are all alike
		}
	}
	return nil
}

// undo returns what a network's rows say, in the data's own units.
func (s scale) undo(y *tensor.Dense) *tensor.Dense {
	out := tensor.New(y.Shape()...)
	for i := range y.Rows() {
		for c, v := range y.Row(i) {
			out.Row(i)[c] = tensor.Float(float64(v)*s.Dev[c] + s.Mean[c])
		}
	}
	return out
}

// standard returns the numbers of some examples as a network is to give them.
func (g *goal) standard(ids []int32) *tensor.Dense {
	out := tensor.New(len(ids), g.outputs)
	for k, i := range ids {
		for c, v := range g.reals.Row(int(i)) {
			out.Row(k)[c] = tensor.Float((float64(v) - g.scale.Mean[c]) / g.scale.Dev[c])
		}
	}
	return out
}

// The losses of numbers that --loss names.
const (
	lossMSE = "mse"
	lossMAE = "mae"
)

// loss returns the loss of examples, of which y has a row each: the cross-entropy, the
// binary one of the labels that are known, or the squares or moduli of the standardised
// numbers' errors.
func (g *goal) loss(name string, ids []int32) func(y *grad.Var) *grad.Var {
	switch g.kind {
	case manyTags:
		want := tensor.New(len(ids), g.outputs)
		tensor.GatherRows(want, g.tags, ids)
		return func(y *grad.Var) *grad.Var {
			return grad.BCE{Loss: grad.Loss{SkipMissing: true}}.Of(y, grad.Const(want))
		}
	case someReals:
		want := g.standard(ids)
		return func(y *grad.Var) *grad.Var {
			if name == lossMAE {
				return grad.Loss{SkipMissing: true}.L1(y, grad.Const(want))
			}
			return grad.Loss{SkipMissing: true}.MSE(y, grad.Const(want))
		}
	}
	labels := g.labels.Of(ids)
	return func(y *grad.Var) *grad.Var { return y.CrossEntropy(labels) }
}

// pick returns some rows of a matrix.
func pick(x *tensor.Dense, ids []int32) *tensor.Dense {
	return datasets.GatherRows(x, ids).(*tensor.Dense)
}

// score scores y, a row for each example, on some of them. What it calls accuracy is the
// micro F1 of labels and the R² of numbers, whose loss is that of the standardised ones.
func (g *goal) score(y *tensor.Dense, ids []int32) train.Score {
	switch g.kind {
	case manyTags:
		return train.MeasureLabels(pick(y, ids), pick(g.tags, ids))
	case someReals:
		e, ok := g.errors(y, ids)
		s := train.Score{Loss: e.Loss, Accuracy: e.R2, Empty: !ok}
		if math.IsNaN(s.Accuracy) {
			s.Accuracy = 0 // all numbers are one
		}
		return s
	}
	return train.Measure(pick(y, ids), g.labels.Of(ids))
}

// quick is score without the loss of classes, which nobody asks for after each epoch.
func (g *goal) quick(y *tensor.Dense, ids []int32) train.Score {
	if g.kind == oneClass {
		return train.Score{Accuracy: train.Accuracy(pick(y, ids), g.labels.Of(ids))}
	}
	return g.score(y, ids)
}

// columnErrors are the errors of numbers, each the mean over the columns.
type columnErrors struct {
	train.Errors
	Loss float64 // the mean square of the standardised errors
}

// errors measures each column in its own units. It reports false of no known number.
func (g *goal) errors(y *tensor.Dense, ids []int32) (all columnErrors, ok bool) {
	n := 0.0
	var r2 []float64
	for c := range g.outputs {
		got, want := tensor.New(len(ids), 1), tensor.New(len(ids), 1)
		for k, i := range ids {
			got.Data[k] = tensor.Float(float64(y.Row(int(i))[c])*g.scale.Dev[c] + g.scale.Mean[c])
			want.Data[k] = g.reals.Row(int(i))[c]
		}
		e := train.MeasureNumbers(got, want)
		if math.IsNaN(e.MAE) && !hasKnown(want.Data) {
			continue
		}
		n++
		all.MAE, all.RMSE, r2 = all.MAE+e.MAE, all.RMSE+e.RMSE, append(r2, e.R2)
		all.Loss += e.RMSE * e.RMSE / (g.scale.Dev[c] * g.scale.Dev[c])
	}
	if n == 0 {
		return all, false
	}
	all.MAE, all.RMSE, all.Loss, all.R2 = all.MAE/n, all.RMSE/n, all.Loss/n, meanKnown(r2)
	return all, true
}

func hasKnown(x []tensor.Float) bool {
	for _, v := range x {
		if v == v {
			return true
		}
	}
	return false
}

// quality is what the score does not say of some examples; nothing if there are none.
func (g *goal) quality(y *tensor.Dense, ids []int32) (m report.Metrics) {
	if len(ids) == 0 {
		return m
	}
	switch g.kind {
	case manyTags:
		y, tags := pick(y, ids), pick(g.tags, ids)
		counts := train.CountLabels(y, tags)
		m.Labels = &report.Labels{MicroF1: train.MicroF1(counts), MacroF1: train.MacroF1(counts)}
		m.Labels.AUC = report.Number(meanKnown(train.LabelAUC(y, tags)))
		m.Labels.AP = report.Number(meanKnown(train.LabelAveragePrecision(y, tags)))
	case someReals:
		e, ok := g.errors(y, ids)
		if !ok {
			e.MAE, e.RMSE, e.R2 = math.NaN(), math.NaN(), math.NaN()
		}
		m.Numbers = &report.Numbers{MAE: report.Number(e.MAE), RMSE: report.Number(e.RMSE), R2: report.Number(e.R2)}
	default:
		y, labels := pick(y, ids), g.labels.Of(ids)
		counts := train.NewConfusion(y, labels).Counts()
		m.Quality = &report.Quality{TestMajority: train.Majority(labels), TestBalanced: train.BalancedAccuracy(counts), TestMacroF1: train.MacroF1(counts)}
		if g.outputs == 2 {
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
		return fmt.Sprintf("predicts %d labels, each present or absent; the loss is binary cross-entropy over the known labels, the score micro F1", g.outputs)
	case someReals:
		what := "a number"
		if g.outputs > 1 {
			what = fmt.Sprintf("%d numbers", g.outputs)
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
	taught, held, none, what := make([]bool, g.outputs), make([]int, g.outputs), 0, []string(nil)
	for _, v := range s.Train {
		if c := g.labels[v]; c >= 0 {
			taught[c] = true
		}
	}
	for _, v := range slices.Concat(s.Val, s.Test) {
		if c := g.labels[v]; c >= 0 {
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

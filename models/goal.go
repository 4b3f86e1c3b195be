package models

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Goal is what is learnt of examples, which are nodes, edges or graphs. What is known of them is in one of three tables
// and is not kept with a model.
type Goal struct {
	Of      form.Of        `json:"of"`
	Kind    columns.Answer `json:"kind"`
	Outputs int            `json:"outputs"`         // how many classes, labels or numbers
	Names   []string       `json:"names,omitempty"` // of these; empty: they have none
	Scale   Scale          `json:"scale,omitzero"`  // of numbers

	Weights   []float64 `json:"weights,omitempty"`   // of each class in the loss; empty: all are 1
	Metric    string    `json:"metric,omitempty"`    // what Score calls accuracy: "auc", "ap" (average precision) or "f1"; empty: the accuracy
	Positive  int       `json:"positive,omitempty"`  // which of two classes is looked for: Learn says which, and it may be set after that
	Threshold float64   `json:"threshold,omitempty"` // the probability of the positive class from which an example is said to have it; 0: of the likelier class

	Labels  datasets.Labels `json:"-"` // a class; −1: not known
	Tags    *tensor.Dense   `json:"-"` // 1, 0, or NaN: not known
	Numbers *tensor.Dense   `json:"-"` // NaN: not known
}

// Scale is how numbers are standardised: what a network gives, times Dev, plus Mean.
type Scale struct{ Mean, Dev []float64 }

// GoalOf returns what a dataset asks for of its nodes, or of its edges; nil if nothing is to be learnt.
func GoalOf(d *datasets.Dataset) *Goal {
	var g *Goal
	switch {
	case d.LearnsEdges():
		g = newGoal(form.OfEdges, d.Classes, d.EdgeLabels, nil, d.EdgeTargets)
	case d.Labels != nil || d.MultiLabels != nil || d.Targets != nil:
		g = newGoal(form.OfNodes, d.Classes, d.Labels, d.MultiLabels, d.Targets)
	default:
		return nil
	}
	g.Names = d.ClassNames
	if s := d.Schema; s != nil && s.Label != nil && s.Label.As == columns.AsNumber && g.Tags != nil && d.MultiLabels == nil {
		g.Kind, g.Numbers, g.Tags = columns.Numbers, g.Tags, nil // 0 and 1 of a column whose numbers are asked for
	}
	return g
}

// GoalOfGraphs returns what a dataset asks for of its graphs; nil if nothing is to be learnt.
func GoalOfGraphs(d *datasets.Graphs) *Goal {
	if d.Labels == nil && d.MultiLabels == nil && d.Targets == nil {
		return nil
	}
	g := newGoal(form.OfGraphs, d.Classes, d.Labels, d.MultiLabels, d.Targets)
	g.Names = d.ClassNames
	return g
}

// newGoal returns what the data asks for. Numbers that are all 0 or 1 are labels.
func newGoal(of form.Of, classes int, labels []int32, several *sparse.CSR, numbers *tensor.Dense) *Goal {
	switch {
	case several != nil:
		return &Goal{Of: of, Kind: columns.Labels, Outputs: several.NumCols, Tags: several.Dense()}
	case numbers != nil && zeroOne(numbers.Data):
		return &Goal{Of: of, Kind: columns.Labels, Outputs: numbers.Dim(1), Tags: numbers}
	case numbers != nil:
		return &Goal{Of: of, Kind: columns.Numbers, Outputs: numbers.Dim(1), Numbers: numbers}
	}
	return &Goal{Of: of, Kind: columns.OneClass, Outputs: classes, Labels: labels}
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

// Known reports whether anything is known of an example.
func (g *Goal) Known(i int32) bool {
	if g.Labels != nil {
		return g.Labels[i] >= 0
	}
	for _, v := range g.Table().Row(int(i)) {
		if v == v {
			return true
		}
	}
	return false
}

// All returns the examples of which anything is known.
func (g *Goal) All() []int32 {
	return slices.DeleteFunc(numbersTo(g.Len()), func(i int32) bool { return !g.Known(i) })
}

// numbersTo returns the numbers from 0 up to n.
func numbersTo(n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i)
	}
	return ids
}

// Same reports whether what is known of two examples is the same.
func (g *Goal) Same(i, j int32) bool {
	if g.Labels != nil {
		return g.Labels[i] == g.Labels[j]
	}
	a, b := g.Table().Row(int(i)), g.Table().Row(int(j))
	for c, v := range a {
		if v != b[c] && (v == v || b[c] == b[c]) {
			return false
		}
	}
	return true
}

// Shown is what is known of an example, for errors.
func (g *Goal) Shown(i int32) string {
	switch {
	case !g.Known(i):
		return "nothing"
	case g.Labels == nil:
		return fmt.Sprint(g.Table().Row(int(i)))
	}
	return g.Class(int(g.Labels[i]))
}

// Class is the name of a class in quotes, or its number.
func (g *Goal) Class(c int) string {
	if c >= 0 && c < len(g.Names) {
		return fmt.Sprintf("%.40q", g.Names[c])
	}
	return fmt.Sprintf("class %d", c)
}

// Only returns the goal of some of the examples, which are numbered anew.
func (g *Goal) Only(ids []int32) *Goal {
	part := *g
	if g.Labels != nil {
		part.Labels = g.Labels.Of(ids)
		return &part
	}
	rows := tensor.New(len(ids), g.Outputs)
	tensor.GatherRows(rows, g.Table(), ids)
	if g.Tags != nil {
		part.Tags = rows
	} else {
		part.Numbers = rows
	}
	return &part
}

// Table returns the labels or the numbers that are known, a row each; nil of classes.
func (g *Goal) Table() *tensor.Dense {
	if g.Tags != nil {
		return g.Tags
	}
	return g.Numbers
}

// Len returns how many examples there are.
func (g *Goal) Len() int {
	switch {
	case g.Labels != nil:
		return len(g.Labels)
	case g.Table() != nil:
		return g.Table().Rows()
	}
	return 0
}

// Learn standardises numbers by the examples that train, and says which of two classes is the positive one: one with less than a fifth of
// them, or else that whose name says so, such as yes, true or 1, or else the rarer.
func (g *Goal) Learn(ids []int32) error {
	if g.two() {
		g.Positive = g.positive(ids)
	}
	if g.Kind != columns.Numbers {
		return nil
	}
	g.Scale = Scale{make([]float64, g.Outputs), make([]float64, g.Outputs)}
	for c := range g.Outputs {
		n, sum, squares := 0.0, 0.0, 0.0
		for _, i := range ids {
			if v := float64(g.Numbers.Row(int(i))[c]); v == v {
				n, sum = n+1, sum+v
			}
		}
		if n == 0 {
			return fmt.Errorf("number %d is known of no example that trains", c)
		}
		mean := sum / n
		for _, i := range ids {
			if v := float64(g.Numbers.Row(int(i))[c]); v == v {
				squares += (v - mean) * (v - mean)
			}
		}
		g.Scale.Mean[c], g.Scale.Dev[c] = mean, math.Sqrt(squares/n)
		if g.Scale.Dev[c] == 0 {
			g.Scale.Dev[c] = 1 // they are all alike
		}
	}
	return nil
}

// Undo returns what a network's rows say, in the data's own units.
func (s Scale) Undo(y *tensor.Dense) *tensor.Dense {
	out := tensor.New(y.Shape()...)
	for i := range y.Rows() {
		for c, v := range y.Row(i) {
			out.Row(i)[c] = tensor.Float(float64(v)*s.Dev[c] + s.Mean[c])
		}
	}
	return out
}

// standard returns the numbers of some examples as a network is to give them.
func (g *Goal) standard(ids []int32) *tensor.Dense {
	out := tensor.New(len(ids), g.Outputs)
	for k, i := range ids {
		for c, v := range g.Numbers.Row(int(i)) {
			out.Row(k)[c] = tensor.Float((float64(v) - g.Scale.Mean[c]) / g.Scale.Dev[c])
		}
	}
	return out
}

// Loss returns the loss of examples, of which y has a row each: the cross-entropy, in which classes have their weights, the
// binary one of the labels that are known, or the squares of the standardised
// numbers' errors, or if mae is set their moduli.
func (g *Goal) Loss(ids []int32, mae bool) func(y *grad.Var) *grad.Var {
	switch g.Kind {
	case columns.Labels:
		want := tensor.New(len(ids), g.Outputs)
		tensor.GatherRows(want, g.Tags, ids)
		return func(y *grad.Var) *grad.Var {
			return grad.BCE{Loss: grad.Loss{SkipMissing: true}}.Of(y, grad.Const(want))
		}
	case columns.Numbers:
		want := g.standard(ids)
		return func(y *grad.Var) *grad.Var {
			if mae {
				return grad.Loss{SkipMissing: true}.L1(y, grad.Const(want))
			}
			return grad.Loss{SkipMissing: true}.MSE(y, grad.Const(want))
		}
	}
	labels := g.Labels.Of(ids)
	of := grad.CrossEntropy{}
	if len(g.Weights) > 0 {
		of.Weights = g.Weights
	}
	return func(y *grad.Var) *grad.Var { return of.Of(y, labels) }
}

// Weight is what [Goal.Loss] of these examples is the mean over: how many of their values are known, or the weights of their classes.
func (g *Goal) Weight(ids []int32) (sum float64) {
	var want *tensor.Dense
	switch g.Kind {
	case columns.Labels:
		want = tensor.New(len(ids), g.Outputs)
		tensor.GatherRows(want, g.Tags, ids)
	case columns.Numbers:
		want = g.standard(ids)
	default:
		for _, label := range g.Labels.Of(ids) {
			switch {
			case label == grad.NoLabel:
			case len(g.Weights) > 0:
				sum += float64(g.Weights[label])
			default:
				sum++
			}
		}
		return sum
	}
	for _, v := range want.Data {
		if v == v {
			sum++
		}
	}
	return sum
}

// pick returns some rows of a matrix.
func pick(x *tensor.Dense, ids []int32) *tensor.Dense {
	return datasets.GatherRows(x, ids).(*tensor.Dense)
}

// Score scores y, a row for each example, on some of them. What it calls accuracy is the Metric. Of two classes that is of the positive
// one, of more and of labels a mean over them. Without a Metric it is the accuracy of classes, the micro F1 of labels, and the R² of
// numbers, whose loss is that of the standardised ones. It is NaN where the examples do not have what it compares.
func (g *Goal) Score(y *tensor.Dense, ids []int32) train.Score {
	switch g.Kind {
	case columns.Labels:
		s := train.MeasureLabels(pick(y, ids), pick(g.Tags, ids))
		if g.Metric == metricAUC || g.Metric == metricAP {
			s.Accuracy = g.measure(y, ids)
		}
		return s
	case columns.Numbers:
		e, ok := g.Errors(y, ids)
		s := train.Score{Loss: e.Loss, Accuracy: e.R2, Empty: !ok}
		if math.IsNaN(s.Accuracy) {
			s.Accuracy = 0 // all numbers are one
		}
		return s
	}
	s := g.loss(y, ids)
	if g.Metric != "" || len(g.Weights) > 0 {
		s.Accuracy = g.measure(y, ids)
	}
	return s
}

// Quick is Score without the loss of classes, which nobody asks for after each epoch.
func (g *Goal) Quick(y *tensor.Dense, ids []int32) train.Score {
	if g.Kind == columns.OneClass {
		return train.Score{Accuracy: g.measure(y, ids)}
	}
	return g.Score(y, ids)
}

// Watch scores y on each part of a split, without the losses that nobody asks for after each epoch. The F1 of two classes is that of the
// threshold that is the best for those that validate.
func (g *Goal) Watch(y *tensor.Dense, s datasets.Split) train.Scores {
	if g.Metric == metricF1 && g.two() {
		own := *g
		own.Threshold = g.Cut(y, s.Val)
		g = &own
	}
	return train.Scores{Train: g.Quick(y, s.Train), Val: g.Score(y, s.Val), Test: g.Quick(y, s.Test)}
}

// ColumnErrors are the errors of numbers, each the mean over the columns.
type ColumnErrors struct {
	train.Errors
	Loss float64 // the mean square of the standardised errors
}

// Errors measures each column in its own units. It reports false of no known number.
func (g *Goal) Errors(y *tensor.Dense, ids []int32) (all ColumnErrors, ok bool) {
	n := 0.0
	var r2 []float64
	for c := range g.Outputs {
		got, want := tensor.New(len(ids), 1), tensor.New(len(ids), 1)
		for k, i := range ids {
			got.Data[k] = tensor.Float(float64(y.Row(int(i))[c])*g.Scale.Dev[c] + g.Scale.Mean[c])
			want.Data[k] = g.Numbers.Row(int(i))[c]
		}
		e := train.MeasureNumbers(got, want)
		if math.IsNaN(e.MAE) && !slices.ContainsFunc(want.Data, func(v tensor.Float) bool { return v == v }) {
			continue
		}
		n++
		all.MAE, all.RMSE, r2 = all.MAE+e.MAE, all.RMSE+e.RMSE, append(r2, e.R2)
		all.Loss += e.RMSE * e.RMSE / (g.Scale.Dev[c] * g.Scale.Dev[c])
	}
	if n == 0 {
		return all, false
	}
	all.MAE, all.RMSE, all.Loss, all.R2 = all.MAE/n, all.RMSE/n, all.Loss/n, meanKnown(r2)
	return all, true
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

// Values returns what a network's rows say: the probability of each class or label, or numbers in the data's own units.
func (g *Goal) Values(y *tensor.Dense) *tensor.Dense {
	if g.Kind == columns.Numbers {
		return g.Scale.Undo(y)
	}
	out := tensor.New(y.Shape()...)
	for i := range y.Rows() {
		to := out.Row(i)
		if g.Kind == columns.Labels {
			for c, v := range y.Row(i) {
				to[c] = tensor.Float(1 / (1 + math.Exp(-float64(v))))
			}
			continue
		}
		row := y.Row(i)
		most, sum := slices.Max(row), 0.0
		for _, v := range row {
			sum += math.Exp(float64(v) - float64(most))
		}
		for c, v := range row {
			to[c] = tensor.Float(math.Exp(float64(v)-float64(most)) / sum)
		}
	}
	return out
}

// Check returns an error for what a file says of its model's outputs and cannot be.
func (g *Goal) Check() error {
	switch s := g.Scale; {
	case g.Of != form.OfNodes && g.Of != form.OfEdges && g.Of != form.OfGraphs:
		return fmt.Errorf("it learns something of each %.40q, which is none of %s, %s and %s", g.Of, form.OfNodes, form.OfEdges, form.OfGraphs)
	case g.Kind != columns.OneClass && g.Kind != columns.Labels && g.Kind != columns.Numbers:
		return fmt.Errorf("it learns %.40q, which is nothing that is learnt", string(g.Kind))
	case g.Outputs < 1 || g.Outputs > 1<<16:
		return fmt.Errorf("it has %d outputs, and there are from 1 to %d", g.Outputs, 1<<16)
	case len(g.Names) > 0 && len(g.Names) != g.Outputs:
		return fmt.Errorf("it has %d outputs and %d names of them", g.Outputs, len(g.Names))
	case g.Kind != columns.Numbers && len(s.Mean)+len(s.Dev) > 0:
		return fmt.Errorf("it has scales of numbers, and learns %s", g.Noun())
	case g.Kind == columns.Numbers && (len(s.Mean) != g.Outputs || len(s.Dev) != g.Outputs):
		return fmt.Errorf("it has scales of %d and %d numbers, and gives %d", len(s.Mean), len(s.Dev), g.Outputs)
	}
	for c, m := range g.Scale.Mean {
		if d := g.Scale.Dev[c]; m-m != 0 || d-d != 0 || d <= 0 {
			return fmt.Errorf("number %d has the mean %v and the deviation %v", c, m, d)
		}
	}
	return g.checkClasses()
}

// Noun is what there are several of.
func (g *Goal) Noun() string {
	if g.Kind == columns.OneClass {
		return "classes"
	}
	return string(g.Kind)
}

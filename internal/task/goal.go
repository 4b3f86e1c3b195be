package task

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Kind is what is learnt of each node, edge or graph. It follows from the data.
type Kind string

const (
	OneClass  Kind = ""        // one class
	manyTags  Kind = "labels"  // several labels, each there or not
	SomeReals Kind = "numbers" // numbers
)

// Goal is what is to be learnt of examples, nodes, edges or graphs, in the words of the command.
type Goal struct {
	models.Goal
	Example string // what is learnt from: a node, an edge or a graph
	Learns  Kind
}

// NewGoal returns the command's view of a goal.
func NewGoal(g *models.Goal) *Goal {
	return &Goal{Goal: *g, Example: string(g.Of), Learns: GoalKindOf(g)}
}

// GoalOf returns the goal of a dataset's nodes, or of its edges where these are learnt.
func GoalOf(d *datasets.Dataset) *Goal { return NewGoal(models.GoalOf(d)) }

// OnlyOf returns the goal of some of the examples, which are numbered anew.
func (g *Goal) OnlyOf(ids []int32) *Goal { return NewGoal(g.Only(ids)) }

// The losses of numbers that --loss names.
const (
	LossMSE = "mse"
	LossMAE = "mae"
)

// LossOf returns the loss of examples, of which y has a row each, by the name of --loss.
func (g *Goal) LossOf(name string, ids []int32) func(y *grad.Var) *grad.Var {
	return g.Loss(ids, name == LossMAE)
}

// Taught makes g the goal of a model, which is measured as it was in its training.
func (g *Goal) Taught(m *models.Goal) {
	g.Scale, g.Weights, g.Metric, g.Positive, g.Threshold = m.Scale, m.Weights, m.Metric, m.Positive, m.Threshold
}

// SetCut gives the goal of two classes that are scored by another metric than accuracy the threshold that is best for the examples that
// validate, of which y has a row each.
func (g *Goal) SetCut(y *tensor.Dense, s datasets.Split) {
	if g.Metric != "" {
		g.Threshold = g.Cut(y, s.Val)
	}
}

// pick returns some rows of a matrix.
func pick(x *tensor.Dense, ids []int32) *tensor.Dense {
	return datasets.GatherRows(x, ids).(*tensor.Dense)
}

// Quality is what the score does not say of some examples; nothing if there are none.
func (g *Goal) Quality(all *tensor.Dense, ids []int32) (m report.Metrics) {
	if len(ids) == 0 {
		return m
	}
	switch g.Learns {
	case manyTags:
		y, tags := pick(all, ids), pick(g.Tags, ids)
		counts := train.CountLabels(y, tags)
		m.Labels = &report.Labels{MicroF1: train.MicroF1(counts), MacroF1: train.MacroF1(counts)}
		m.Labels.AUC, m.Labels.AP = report.Number(g.by("auc", all, ids)), report.Number(g.by("ap", all, ids))
	case SomeReals:
		e, ok := g.Errors(all, ids)
		if !ok {
			e.MAE, e.RMSE, e.R2 = math.NaN(), math.NaN(), math.NaN()
		}
		m.Numbers = &report.Numbers{MAE: report.Number(e.MAE), RMSE: report.Number(e.RMSE), R2: report.Number(e.R2)}
	default:
		labels := g.Labels.Of(ids)
		counts := g.Counts(all, ids)
		m.Quality = &report.Quality{TestMajority: train.Majority(labels), TestBalanced: train.BalancedAccuracy(counts), TestMacroF1: train.MacroF1(counts)}
		if g.Outputs == 2 {
			if auc := g.by("auc", all, ids); !math.IsNaN(auc) {
				m.Quality.TestAUC = &auc
			}
		}
	}
	return m
}

// by is another metric than the goal's own of some examples.
func (g *Goal) by(metric string, y *tensor.Dense, ids []int32) float64 {
	own := g.Goal
	own.Metric = metric
	return own.Quick(y, ids).Accuracy
}

// QualityOn is quality on the test part of a split, and of two classes how well the positive one is found.
func (g *Goal) QualityOn(y *tensor.Dense, s datasets.Split) report.Metrics {
	m := g.Quality(y, s.Test)
	if m.Quality == nil || g.Outputs != 2 {
		return m
	}
	p := &report.Positive{Class: g.classNames()[g.Positive], Threshold: g.Threshold}
	for i, part := range [][]int32{s.Train, s.Val, s.Test} {
		for _, v := range part {
			if g.Labels[v] == int32(g.Positive) {
				p.Rows[i]++
			}
		}
	}
	p.AP = report.Number(g.by("ap", y, s.Test))
	recall, at := g.RecallAt(y, s.Test, report.PrecisionAsked)
	counts := g.Counts(y, s.Test)[g.Positive]
	p.Recall, p.At, p.Precision, p.Found, p.F1 = report.Number(recall), report.Number(at), counts.Precision(), counts.Recall(), counts.F1()
	m.Quality.Positive = p
	return m
}

// Verdict says whether a model is no better than always the same answer, or than a network without messages, whose outputs without are
// nil if none was trained. It completes what is said of the training.
func (g *Goal) Verdict(sum *report.Summary, y *tensor.Dense, o *Goal, without *tensor.Dense, s datasets.Split) {
	if len(s.Test) == 0 {
		return
	}
	shown := func(x float64) string { return strings.TrimSpace(sum.Metric.Shown(x)) }
	own := g.Quick(y, s.Test).Accuracy
	better, same := g.BeatsConstant(y, s.Train, s.Test)
	constant, useful, other := report.Number(same), false, report.Number(math.NaN())
	sum.Constant = &constant
	if without != nil {
		useful, _ = o.BeatsConstant(without, s.Train, s.Test)
		other = report.Number(o.Quick(without, s.Test).Accuracy)
		sum.WithoutEdges = &other
	}
	switch where := fmt.Sprintf("On the %d test %ss this model is not measurably better than", len(s.Test), g.Example); {
	case !better && !useful:
		weights := ""
		if g.Learns == OneClass && len(g.Weights) == 0 && slices.Max(g.Balanced(s.Train)) > 2.5 { // of two classes, one has less than a fifth
			weights = ", or, as a class is rare, --class-weights balanced"
		}
		sum.Verdict = fmt.Sprintf("%s always the same answer (%s: %s; %s always the same): it is of no use yet. Look whether the columns can tell anything of what is predicted (data describe shows them), and try more labelled %ss, another --model or --lr%s.",
			where, sum.Metric.Name(), shown(own), shown(same), g.Example, weights)
	case useful && !g.Beats(y, &o.Goal, without, s.Test):
		sum.Verdict = fmt.Sprintf("%s the same network without edges (%s: %s; %s without edges): the edges do not help it. --model mlp, which reads none, is as good and faster; other edges, or another --model, may help.",
			where, sum.Metric.Name(), shown(own), shown(float64(other)))
	}
}

// Takes returns an error for --loss where no numbers are learnt.
func (g *Goal) Takes(loss string) error {
	if loss != "" && g.Learns != SomeReals {
		return cli.Misuse("--loss %s: it is for predicting numbers, and here each %s has %s to predict: leave it out", loss, g.Example, g.Noun())
	}
	return nil
}

// What is learnt, for people who have not seen the data.
func (g *Goal) What() string {
	switch {
	case g.Learns == manyTags:
		return fmt.Sprintf("%d labels of each %s, each present or absent", g.Outputs, g.Example)
	case g.Learns == SomeReals && g.Outputs > 1:
		return fmt.Sprintf("%d numbers of each %s", g.Outputs, g.Example)
	case g.Learns == SomeReals:
		return "a number of each " + g.Example
	}
	return fmt.Sprintf("which of %d classes each %s has", g.Outputs, g.Example)
}

// Says is what is learnt, in words.
func (g *Goal) Says() string {
	switch g.Learns {
	case manyTags:
		return fmt.Sprintf("predicts %d labels, each present or absent; the loss is binary cross-entropy over the known labels, the score micro F1", g.Outputs)
	case SomeReals:
		what := "a number"
		if g.Outputs > 1 {
			what = fmt.Sprintf("%d numbers", g.Outputs)
		}
		return fmt.Sprintf("predicts %s, standardised with the mean and deviation of the training set; the score is R²", what)
	}
	return ""
}

// Untaught says which classes only examples that do not train
// have: no network learns these.
func (g *Goal) Untaught(s datasets.Split) string {
	if g.Learns != OneClass {
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
		what = append(what, plain.Text(g.classNames()[c]))
	}
	const most = 5 // classes by name
	switch n := len(what); {
	case n == 0:
		return ""
	case n > most:
		what = append(what[:most], fmt.Sprintf("and %d more", n-most))
	}
	return fmt.Sprintf("no training %s has class %s; the validation and test parts have %d, about which no model can be right", g.Example, strings.Join(what, ", "), none)
}

// Check returns an error for what a file says of its model's outputs and cannot be.
func (k Kind) Check(s models.Scale, outputs int) error {
	switch {
	case k != OneClass && k != manyTags && k != SomeReals:
		return fmt.Errorf("it learns %.40q, which is nothing that is learnt", string(k))
	case k == SomeReals && (len(s.Mean) != outputs || len(s.Dev) != outputs):
		return fmt.Errorf("it has scales of %d and %d numbers, and gives %d", len(s.Mean), len(s.Dev), outputs)
	}
	return nil
}

// ScoredBy is what the score of a goal is.
func (g *Goal) ScoredBy() report.Metric {
	two := g.Learns == OneClass && g.Outputs == 2
	switch {
	case g.Learns == SomeReals:
		return report.Metric{Says: "R²", Key: "r2"}
	case g.Metric == "auc" && two:
		return report.Metric{Says: "AUC", Key: "roc_auc"}
	case g.Metric == "auc":
		return report.Metric{Says: "mean AUC", Key: "mean_auc"}
	case g.Metric == "ap" && two:
		return report.Metric{Says: "average precision", Key: "average_precision"}
	case g.Metric == "ap":
		return report.Metric{Says: "mean average precision", Key: "mean_average_precision"}
	case g.Learns == manyTags:
		return report.Metric{Says: "micro F1", Key: "micro_f1"}
	case g.Metric == "f1" && two:
		return report.Metric{Says: "F1", Key: "f1"}
	case g.Metric == "f1":
		return report.Metric{Says: "macro F1", Key: "mean_f1"}
	}
	return report.Metric{}
}

// Aims are what a training is told about its classes: the values of --select, --class-weights and --positive.
type Aims struct{ Rule, Weights, Positive string }

// Aimed returns the goal by which a training is scored and learns on a split.
func (g *Goal) Aimed(a Aims, s datasets.Split) (*Goal, error) {
	own := *g
	own.Metric, own.Threshold, own.Weights = metricOf(a.Rule), 0, nil
	if err := own.Measurable(own.Metric, s.Val); err != nil {
		return nil, cli.Misuse("--select %s: %w, so no epoch can be chosen by it: use --select loss, or other --splits", a.Rule, err)
	}
	if g.Learns == OneClass {
		if err := own.Learn(s.Train); err != nil { // which says which class is positive
			return nil, err
		}
	}
	if err := own.setPositive(a.Positive); err != nil {
		return nil, err
	}
	return &own, own.setWeights(a.Weights, s.Train)
}

// classNames returns what the classes are called.
func (g *Goal) classNames() []string {
	names := make([]string, g.Outputs)
	for c := range names {
		if names[c] = fmt.Sprint(c); c < len(g.Names) {
			names[c] = g.Names[c]
		}
	}
	return names
}

// setPositive makes the class of that name the positive one; an empty name is none.
func (g *Goal) setPositive(name string) error {
	if name == "" {
		return nil
	}
	if g.Learns != OneClass || g.Outputs != 2 {
		return cli.Misuse("--positive %s: it is for two classes, and here each %s has %s to predict: leave it out", name, g.Example, g.counted())
	}
	names := g.classNames()
	g.Positive = slices.Index(names, name)
	return cli.OneOf("--positive", name, names)
}

// counted is how many of what there are to predict.
func (g *Goal) counted() string {
	if g.Learns == OneClass {
		return fmt.Sprintf("one of %d classes", g.Outputs)
	}
	return g.Noun()
}

// setWeights gives the classes the weights of --class-weights. Balanced ones are those of the examples that train.
func (g *Goal) setWeights(text string, train []int32) error {
	if text == "" {
		return nil
	}
	if g.Learns != OneClass {
		return cli.Misuse("--class-weights %s: it is for classes, and here each %s has %s to predict: leave it out", text, g.Example, g.Noun())
	}
	if text == "balanced" {
		g.Weights = g.Balanced(train)
		return nil
	}
	names, parts, named := g.classNames(), strings.Split(text, ","), strings.Contains(text, "=")
	if !named && len(parts) != g.Outputs {
		return cli.Misuse("--class-weights %s: want %d weights, one for each of the classes %s, or NAME=W for some of them, or balanced", text, g.Outputs, someOf(names))
	}
	g.Weights = slices.Repeat([]float64{1}, g.Outputs)
	seen := make([]bool, g.Outputs)
	for c, part := range parts {
		number := strings.TrimSpace(part)
		if named {
			at := strings.LastIndexByte(part, '=')
			name := strings.TrimSpace(part[:max(0, at)])
			if number = strings.TrimSpace(part[at+1:]); at < 0 {
				return cli.Misuse("--class-weights %s: %q has no weight: write NAME=W for each class that is named", text, part)
			}
			if c = slices.Index(names, name); c < 0 {
				return cli.OneOf("--class-weights", name, names)
			}
			if seen[c] {
				return cli.Misuse("--class-weights %s: the class %s is named twice: leave one out", text, name)
			}
			seen[c] = true
		}
		w, err := strconv.ParseFloat(number, 64)
		if err != nil || !(w >= 0) || math.IsInf(w, 0) {
			return cli.Misuse("--class-weights %s: %q is no weight of class %s: want a number that is not negative, such as 20", text, number, names[c])
		}
		g.Weights[c] = w
	}
	sum := 0.0
	for _, i := range train {
		if c := g.Labels[i]; c >= 0 {
			sum += g.Weights[c]
		}
	}
	if sum == 0 || math.IsInf(sum, 0) {
		return cli.Misuse("--class-weights %s: the weights of the %ss that train add up to %v, so nothing can be learnt: give at least one of their classes a weight above 0", text, g.Example, sum)
	}
	return nil
}

// someOf lists names, the first of many.
func someOf(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// Kept is the goal as a model file has it. Numbers are called as the columns that s, which may be nil, takes them from.
func (g *Goal) Kept(s *columns.Schema) *models.Goal {
	out := g.Goal
	out.Labels, out.Tags, out.Numbers = nil, nil, nil
	if out.Kind == columns.Numbers && len(out.Names) == 0 && s != nil && s.Label != nil {
		out.Names = s.Label.Columns
	}
	if len(out.Names) != g.Outputs {
		out.Names = nil
	}
	return &out
}

// GoalKindOf is what a model file says is learnt.
func GoalKindOf(g *models.Goal) Kind {
	if g.Kind == columns.OneClass {
		return OneClass
	}
	return Kind(g.Kind)
}

package models

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// The metrics that [Goal.Metric] may name, beside the empty one.
const (
	metricAUC = "auc"
	metricAP  = "ap"
	metricF1  = "f1"
)

// two reports whether there are two classes, of which one is the positive one.
func (g *Goal) two() bool { return g.Kind == columns.OneClass && g.Outputs == 2 }

// counted returns how many of some examples have each class.
func (g *Goal) counted(ids []int32) []int {
	n := make([]int, g.Outputs)
	for _, i := range ids {
		if c := g.Labels[i]; c >= 0 && int(c) < len(n) {
			n[c]++
		}
	}
	return n
}

// rare reports whether one of two classes has less than a fifth of some examples, but is there.
func (g *Goal) rare(ids []int32) bool {
	if !g.two() {
		return false
	}
	n := g.counted(ids)
	return n[0] > 0 && n[1] > 0 && 5*min(n[0], n[1]) < n[0]+n[1]
}

// positives are names of classes that are what is looked for, whichever class is the rarer.
var positives = []string{"1", "yes", "y", "true", "positive", "pos", "fraud", "fraudulent", "churn", "churned", "spam", "default", "defaulted", "failed", "illicit"}

// positive returns which of two classes is the positive one: one with less than a fifth of the examples that train, or else that
// whose name says so, or else the rarer; of two that are as frequent, the second.
func (g *Goal) positive(ids []int32) int {
	said := func(c int) bool {
		name := strconv.Itoa(c)
		if c < len(g.Names) {
			name = strings.ToLower(strings.TrimSpace(g.Names[c]))
		}
		return slices.Contains(positives, name)
	}
	n := g.counted(ids)
	if !g.rare(ids) && said(0) != said(1) {
		if said(0) {
			return 0
		}
		return 1
	}
	if n[0] < n[1] {
		return 0
	}
	return 1
}

// Usual returns the metric that suits what is learnt: average precision of two classes of which one has less than a fifth of the
// examples that train, and which are both among those that validate; else the empty one, which is the accuracy.
func (g *Goal) Usual(s datasets.Split) string {
	if g.rare(s.Train) && g.Measurable(metricAP, s.Val) == nil {
		return metricAP
	}
	return ""
}

// Measurable returns an error if a metric cannot be measured on some examples.
func (g *Goal) Measurable(metric string, ids []int32) error {
	one := *g
	if one.Metric = metric; metric == "" {
		return nil
	}
	if err := one.checkMetric(); err != nil {
		return err
	}
	if metric == metricF1 {
		return nil
	}
	if g.Kind == columns.Labels {
		seen := make([][2]bool, g.Outputs)
		for _, i := range ids {
			for c, v := range g.Tags.Row(int(i)) {
				if v == v {
					seen[c][min(1, int(v))] = true
				}
			}
		}
		if !slices.Contains(seen, [2]bool{true, true}) {
			return fmt.Errorf("of the %d %ss, no label is both there and not there", len(ids), g.Of)
		}
		return nil
	}
	there := 0
	for _, n := range g.counted(ids) {
		there += min(1, n)
	}
	if there < 2 {
		return fmt.Errorf("the %d %ss are of one class, and it takes two", len(ids), g.Of)
	}
	return nil
}

// checkMetric returns an error for a metric that there is not, or not of what is learnt.
func (g *Goal) checkMetric() error {
	switch known := []string{metricAUC, metricAP, metricF1}; {
	case g.Metric == "":
	case !slices.Contains(known, g.Metric):
		return fmt.Errorf("there is no metric %.40q; the choices are %s, or none for the accuracy", g.Metric, strings.Join(known, ", "))
	case g.Kind == columns.Numbers:
		return fmt.Errorf("the metric %s is of classes, and numbers are learnt, whose score is R²: leave it out", g.Metric)
	}
	return nil
}

// measure is the metric of y, a row for each example, on some of them. It is NaN where only one class is there.
func (g *Goal) measure(y *tensor.Dense, ids []int32) float64 {
	switch {
	case g.Kind == columns.Labels && g.Metric == metricAUC:
		return meanKnown(train.LabelAUC(pick(y, ids), pick(g.Tags, ids)))
	case g.Kind == columns.Labels && g.Metric == metricAP:
		return meanKnown(train.LabelAveragePrecision(pick(y, ids), pick(g.Tags, ids)))
	case g.Kind == columns.Labels:
		return train.MicroF1(train.CountLabels(pick(y, ids), pick(g.Tags, ids)))
	case g.Metric == "":
		return train.Accuracy(pick(y, ids), g.Labels.Of(ids))
	case g.Metric == metricF1:
		counts := g.Counts(y, ids)
		if g.two() {
			return counts[g.Positive].F1()
		}
		return train.MacroF1(counts)
	}
	of := train.AUC
	if g.Metric == metricAP {
		of = train.AveragePrecision
	}
	if g.two() {
		return of(g.odds(y, ids, g.Positive))
	}
	each := make([]float64, g.Outputs)
	for c := range each {
		scores, is := g.odds(y, ids, c)
		if each[c] = math.NaN(); slices.Contains(is, true) && slices.Contains(is, false) {
			each[c] = of(scores, is)
		}
	}
	return meanKnown(each)
}

// odds returns the logarithm of the odds of a class, as a network's rows have it, and whether it is the class, of those of some
// examples whose class is known. Unlike probabilities, odds that are high tell one example from another.
func (g *Goal) odds(y *tensor.Dense, ids []int32, class int) (scores []float64, is []bool) {
	scores, is = make([]float64, 0, len(ids)), make([]bool, 0, len(ids))
	for _, i := range ids {
		label := g.Labels[i]
		if label < 0 {
			continue
		}
		row, most, sum := y.Row(int(i)), math.Inf(-1), 0.0
		for c, v := range row {
			if c != class {
				most = math.Max(most, float64(v)) // NaN if there is one
			}
		}
		for c, v := range row {
			if c != class {
				sum += math.Exp(float64(v) - most)
			}
		}
		scores, is = append(scores, float64(row[class])-most-math.Log(sum)), append(is, int(label) == class)
	}
	return scores, is
}

// Decide returns the class that each row of a network's outputs is given; nil where no classes are learnt. That is the likeliest, the first
// of equals. If there is a Threshold, it is the positive class where its probability is at least that, and the other one elsewhere.
func (g *Goal) Decide(y *tensor.Dense) []int32 {
	if g.Kind != columns.OneClass {
		return nil
	}
	out := make([]int32, y.Rows())
	if g.two() && g.Threshold > 0 {
		p := g.Values(y)
		for i := range out {
			if out[i] = int32(1 - g.Positive); float64(p.Row(i)[g.Positive]) >= g.Threshold {
				out[i] = int32(g.Positive)
			}
		}
		return out
	}
	for i := range out {
		row := y.Row(i)
		for c, v := range row {
			if v > row[out[i]] {
				out[i] = int32(c)
			}
		}
	}
	return out
}

// Decided returns what is decided of some examples, of which y has a row each, beside their classes.
func (g *Goal) Decided(y *tensor.Dense, ids []int32) *train.Confusion {
	y = pick(y, ids)
	hot := tensor.New(y.Rows(), g.Outputs)
	for i, c := range g.Decide(y) {
		if hot.Row(i)[c] = 1; slices.ContainsFunc(y.Row(i), func(v tensor.Float) bool { return v != v }) {
			copy(hot.Row(i), y.Row(i)) // nothing is decided, which is wrong
		}
	}
	return train.NewConfusion(hot, g.Labels.Of(ids))
}

// Counts returns how often each class was there, and how often it was decided for, on some examples.
func (g *Goal) Counts(y *tensor.Dense, ids []int32) []train.Counts { return g.Decided(y, ids).Counts() }

// Cut returns the threshold on the probability of the positive class by which its F1 is the highest on some examples; of equal ones, the
// highest, which calls the fewest positive. It is a short number between two probabilities that stand there, so that the examples are far
// from it. It is 0, which stands for none, of more classes than two, and where the class is not there.
func (g *Goal) Cut(y *tensor.Dense, ids []int32) float64 {
	if !g.two() {
		return 0
	}
	type chance struct {
		p  float64
		is bool
	}
	var all []chance
	values, positives := g.Values(pick(y, ids)), 0
	for k, i := range ids {
		p := float64(values.Row(k)[g.Positive])
		if p != p {
			return 0
		}
		if label := g.Labels[i]; label >= 0 {
			is := int(label) == g.Positive
			if all = append(all, chance{p, is}); is {
				positives++
			}
		}
	}
	slices.SortFunc(all, func(a, b chance) int { return cmp.Compare(b.p, a.p) })
	// F1 is twice the right ones over all that are or are called positive. Fractions of whole numbers are compared exactly.
	right, best, under, cut := 0, 0, 1, 0.0
	for i, one := range all {
		if one.is {
			right++
		}
		next := 0.0
		if i+1 < len(all) {
			next = all[i+1].p
		}
		if next == one.p || one.p == 0 {
			continue // these cannot be told apart
		}
		if called := i + 1 + positives; right*under > best*called {
			best, under, cut = right, called, between(next, one.p)
		}
	}
	return cut
}

// between returns a number above lo and at most hi, as short as can be and near the middle.
func between(lo, hi float64) float64 {
	middle := lo + (hi-lo)/2
	for digits := range 17 {
		if v, err := strconv.ParseFloat(strconv.FormatFloat(middle, 'e', digits, 64), 64); err == nil && v > lo && v <= hi {
			return v
		}
	}
	return hi
}

// Balanced returns weights by which each class has the same part in the loss: how many of some examples there are for each class, over how
// many there are of it. A class that is not among them has the weight 1.
func (g *Goal) Balanced(ids []int32) []float64 {
	n, all, there := g.counted(ids), 0, 0
	for _, k := range n {
		all += k
		there += min(1, k)
	}
	w := make([]float64, len(n))
	for c, k := range n {
		if w[c] = 1; k > 0 {
			w[c] = float64(all) / float64(there) / float64(k)
		}
	}
	return w
}

// loss is the mean cross-entropy that the network learns by, of y on some examples.
func (g *Goal) loss(y *tensor.Dense, ids []int32) train.Score {
	rows, labels := pick(y, ids), g.Labels.Of(ids)
	if len(g.Weights) == 0 {
		return train.Measure(rows, labels)
	}
	sum, weight, empty := 0.0, 0.0, true
	for c, n := range g.counted(ids) {
		if n > 0 {
			some := slices.Clone(labels)
			for k, label := range some {
				if int(label) != c {
					some[k] = -1
				}
			}
			w := g.Weights[c] * float64(n)
			sum, weight, empty = sum+w*train.Measure(rows, some).Loss, weight+w, false
		}
	}
	if weight == 0 {
		weight = 1
	}
	return train.Score{Loss: sum / weight, Empty: empty}
}

// checkClasses returns an error for what a file says of classes and cannot be.
func (g *Goal) checkClasses() error {
	if err := g.checkMetric(); err != nil {
		return err
	}
	switch {
	case len(g.Weights) > 0 && g.Kind != columns.OneClass:
		return fmt.Errorf("it has weights of classes, and learns %s", g.Noun())
	case len(g.Weights) > 0 && len(g.Weights) != g.Outputs:
		return fmt.Errorf("it has weights of %d classes, and learns %d", len(g.Weights), g.Outputs)
	case (g.Positive != 0 || g.Threshold != 0) && !g.two():
		return fmt.Errorf("it has a positive class or a threshold, which are of two classes, and learns %d %s", g.Outputs, g.Noun())
	case g.Positive < 0 || g.Positive > 1:
		return fmt.Errorf("its positive class is %d of two, which are 0 and 1", g.Positive)
	case !(g.Threshold >= 0 && g.Threshold <= 1):
		return fmt.Errorf("its threshold is %v, and a probability is from 0 to 1", g.Threshold)
	}
	sum := 0.0
	for c, w := range g.Weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("the weight of class %d is %v: a weight is a finite number, and not negative", c, w)
		}
		sum += w
	}
	if len(g.Weights) > 0 && (sum == 0 || math.IsInf(sum, 0)) {
		return fmt.Errorf("the weights of the classes add up to %v: at least one must be above 0", sum)
	}
	return nil
}

// RecallAt returns the highest recall of the positive class among the thresholds whose precision is at least so much, on some examples. Where
// there is none, it is the recall at the highest precision that is reached. Both are NaN where the class is not there.
func (g *Goal) RecallAt(y *tensor.Dense, ids []int32, precision float64) (recall, reached float64) {
	scores, is := g.odds(y, ids, g.Positive)
	order, all := make([]int, len(is)), 0
	for i, one := range is {
		if order[i] = i; one {
			all++
		}
	}
	recall, reached = math.NaN(), math.NaN()
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	right := 0
	for k, i := range order {
		if is[i] {
			right++
		}
		if all == 0 || k+1 < len(order) && scores[order[k+1]] == scores[i] {
			continue
		}
		p, r := float64(right)/float64(k+1), float64(right)/float64(all)
		if enough := p >= precision; !(reached >= precision) && !(p < reached) || enough && !(r < recall) {
			recall, reached = r, p
		}
	}
	return recall, reached
}

// constant returns what a network would give that says the same of each of n examples: of classes and labels how frequent they are among those that train, of
// numbers the mean. If F1 is measured, it always says the positive class.
func (g *Goal) constant(train []int32, n int) *tensor.Dense {
	const sure = 30
	y := tensor.New(n, g.Outputs)
	row := make([]tensor.Float, g.Outputs)
	switch {
	case g.Kind == columns.Labels:
		for c := range row {
			there, all := 0.5, 1.0
			for _, i := range train {
				if v := float64(g.Tags.Row(int(i))[c]); v == v {
					there, all = there+v, all+1
				}
			}
			row[c] = tensor.Float(math.Log(there / (all - there)))
		}
	case g.Kind == columns.OneClass && g.two() && g.Metric == metricF1:
		row[g.Positive] = sure
	case g.Kind == columns.OneClass:
		for c, k := range g.counted(train) {
			row[c] = tensor.Float(math.Log(float64(k) + 0.5))
		}
	}
	for i := range n {
		copy(y.Row(i), row)
	}
	return y
}

// BeatsConstant reports whether y is measurably better on some examples than always the same answer, that which is right most often of
// those that train, and returns the score of that. See [Goal.Beats].
func (g *Goal) BeatsConstant(y *tensor.Dense, train, ids []int32) (better bool, score float64) {
	same := g.constant(train, g.Len())
	return g.Beats(y, g, same, ids), g.Quick(same, ids).Accuracy
}

// Beats reports whether y scores measurably better than other outputs on some examples: by more than twice the standard error of the
// difference, which comes of examples that are drawn anew, always the same. The goal of the others may have another threshold.
func (g *Goal) Beats(y *tensor.Dense, o *Goal, than *tensor.Dense, ids []int32) bool {
	differ := func(ids []int32) float64 { return g.Quick(y, ids).Accuracy - o.Quick(than, ids).Accuracy }
	const numbers, least, most = 2_000_000, 25, 100 // how many are looked at, and drawings
	rng, some := rand.New(rand.NewPCG(1, 2)), make([]int32, len(ids))
	n, sum, squares := 0.0, 0.0, 0.0
	for range min(most, max(least, numbers/max(1, len(ids)*g.Outputs))) {
		for k := range some {
			some[k] = ids[rng.IntN(len(ids))]
		}
		if d := differ(some); d == d {
			n, sum, squares = n+1, sum+d, squares+d*d
		}
	}
	if n < 2 {
		return false
	}
	mean := sum / n
	return differ(ids) > 2*math.Sqrt(max(0, squares/n-mean*mean))
}

package task

import (
	"fmt"
	"math"
	"reflect"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/train"
)

// criteria are the rules that choose the epoch of which the model is kept, and
// for what --patience waits. A metric is that of models.Goal, which takes the place of the accuracy.
var criteria = []struct {
	name   string
	by     train.Criterion
	metric string
	says   string
	waits  string
}{
	{"accuracy", train.ByAccuracy, "", "the one with the best validation accuracy (on a tie, the lowest validation loss)", "epochs without a better one"},
	{"loss", train.ByLoss, "", "the one with the lowest validation loss", "epochs without a lower one"},
	{"either", train.ByEither, "", "the last one whose validation accuracy and loss were both at least as good as in all epochs before", "epochs in which neither was"},
	{"last", train.ByLast, "", "the last one, whatever its validation scores", "epochs without a lower validation loss"},
	{"auc", train.ByAccuracy, "auc", "the one with the best validation AUC (on a tie, the lowest validation loss)", "epochs without a better one"},
	{"ap", train.ByAccuracy, "ap", "the one with the best validation average precision (on a tie, the lowest validation loss)", "epochs without a better one"},
	{"f1", train.ByAccuracy, "f1", "the one with the best validation F1 (on a tie, the lowest validation loss)", "epochs without a better one"},
}

// RuleNames returns the names of the rules.
func RuleNames() (names []string) {
	for _, c := range criteria {
		names = append(names, c.name)
	}
	return names
}

// metricOf returns the metric of the rule of that name, as models.Goal has it.
func metricOf(name string) string {
	for _, c := range criteria {
		if c.name == name {
			return c.metric
		}
	}
	return ""
}

// RuleOf returns the rule of --select for a training that names none: average precision where one of two classes is rare, else
// the preset's. asked says that the preset was asked for, whose own rule then stays.
func RuleOf(g *Goal, s datasets.Split, preset string, asked bool) string {
	if metric := g.Usual(s); metric != "" && (!asked || preset == "accuracy") {
		return metric
	}
	return preset
}

// Criterion returns the rule of that name, and what it does in words.
func Criterion(name string) (by train.Criterion, says, waits string) {
	for _, c := range criteria {
		if c.name == name {
			return c.by, c.says, c.waits
		}
	}
	panic("gatbench: no rule is called " + name) // flags and files are checked
}

// Differs returns the flag and both values of the first setting in which two
// recipes of one task differ; no flag if there is none.
func Differs[R any](mine, other R) (flag, was, is string) {
	a, b := reflect.ValueOf(mine), reflect.ValueOf(other)
	for i := range a.NumField() {
		if x, y := a.Field(i).Interface(), b.Field(i).Interface(); x != y {
			return a.Type().Field(i).Tag.Get("flag"), fmt.Sprint(x), fmt.Sprint(y)
		}
	}
	return "", "", ""
}

// AtLeast returns an error for a whole number of a flag that is too small.
func AtLeast(flag string, v, least int) error {
	if v < least {
		return cli.Misuse("--%s %d: it must be at least %d", flag, v, least)
	}
	return nil
}

// CheckRates returns an error for a learning rate or a decay that cannot be.
func CheckRates(rate, decay float64) error {
	switch {
	case !(rate > 0) || math.IsInf(rate, 0):
		return cli.Misuse("--lr %v: it must be a number above 0", rate)
	case !(decay >= 0) || math.IsInf(decay, 0):
		return cli.Misuse("--weight-decay %v: it must be a number, and not negative", decay)
	}
	return nil
}

// NoneOrOneOf is [cli.OneOf] of what may be empty.
func NoneOrOneOf(flag, v string, names ...string) error {
	if v == "" {
		return nil
	}
	return cli.OneOf(flag, v, names)
}

// MaxLoss is a cross-entropy beyond which nothing is learnt any more.
const MaxLoss = 1e6

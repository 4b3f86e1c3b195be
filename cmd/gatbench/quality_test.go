package main

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Two classes, of which one is rare.
func TestQuality(t *testing.T) {
	d := gaussian(t, 500, 20)
	for v, c := range d.Labels {
		d.Labels[v] = min(c, 1)
	}
	d.Classes = 2
	k := newTask(d)
	constant := tensor.New(500, 2)
	constant.Fill(1)
	q := k.goal.quality(constant, k.split.Test)
	if q.TestMajority != 0.8 || q.TestBalanced != 0.5 || *q.TestAUC != 0.5 {
		t.Errorf("a constant answer: %+v", q)
	}
	for v := range 500 {
		constant.Row(v)[1] = tensor.Float(2 * d.Labels[v])
	}
	if q := k.goal.quality(constant, k.split.Test); q.TestBalanced != 1 || q.TestMacroF1 != 1 || *q.TestAUC != 1 {
		t.Errorf("the truth: %+v", q)
	}
	if want := "test: majority class 80.0 %, balanced accuracy 50.0 %, macro F1 0.444, AUC 0.500; always predicting the majority class would be at least as accurate"; (&report.Quality{TestMajority: 0.8, TestBalanced: 0.5, TestMacroF1: 4.0 / 9, TestAUC: q.TestAUC}).Says(0.8) != want {
		t.Errorf("it says %q", (&report.Quality{TestMajority: 0.8, TestBalanced: 0.5, TestMacroF1: 4.0 / 9, TestAUC: q.TestAUC}).Says(0.8))
	}
	file := saved(t, d)
	lines := results(t, "train", "--json", "--dataset", file, "--model", "mlp", "--epochs", "2")
	if s := lines[2]; s["test_auc"] == nil || s["test_majority"] != 0.8 {
		t.Errorf("the summary is %v", s)
	}
	if s := results(t, "train", "--json", "--epochs", "1")[1]; s["test_auc"] != nil || s["test_majority"] != 0.319 {
		t.Errorf("of seven classes the summary is %v", s)
	}
	if text := ok(t, "train", "--epochs", "1"); !strings.Contains(text, "\ntest: majority class 31.9 %, balanced accuracy ") {
		t.Errorf("no majority in\n%s", text)
	}
	k.split.Test = nil
	if k.goal.quality(constant, nil).Quality != nil {
		t.Error("of no test nodes there is a score")
	}
}

package main

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Quality is what the accuracy on the test nodes does not say. It is exported for
// JSON, which fills no embedded struct that is not.
type Quality struct {
	TestMajority float64  `json:"test_majority"` // the share of the class that is most frequent: what a constant answer gets
	TestBalanced float64  `json:"test_balanced_accuracy"`
	TestMacroF1  float64  `json:"test_macro_f1"`
	TestAUC      *float64 `json:"test_auc,omitempty"` // of two classes, if both occur
}

// quality scores logits on the test nodes; nil if there are none.
func (k *task) quality(logits *tensor.Dense) *Quality {
	nodes := k.split.Test
	if len(nodes) == 0 {
		return nil
	}
	counts := train.NewConfusion(logits, k.Labels, nodes).Counts()
	q := &Quality{TestMajority: train.Majority(k.Labels, nodes), TestBalanced: train.BalancedAccuracy(counts), TestMacroF1: train.MacroF1(counts)}
	if k.Classes == 2 {
		if auc := train.ClassAUC(logits, k.Labels, nodes)[1]; !math.IsNaN(auc) {
			q.TestAUC = &auc
		}
	}
	return q
}

// says puts it into a line, for people who know the accuracy.
func (q *Quality) says(accuracy float64) string {
	text := fmt.Sprintf("test: majority class %.1f %%, balanced accuracy %.1f %%, macro F1 %.3f", 100*q.TestMajority, 100*q.TestBalanced, q.TestMacroF1)
	if q.TestAUC != nil {
		text += fmt.Sprintf(", AUC %.3f", *q.TestAUC)
	}
	if accuracy <= q.TestMajority {
		text += "; always saying the majority class is as accurate"
	}
	return text
}

package main

import (
	"math"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// quality scores logits on the test nodes; nil if there are none.
func (k *task) quality(logits *tensor.Dense) *report.Quality {
	nodes := k.split.Test
	if len(nodes) == 0 {
		return nil
	}
	counts := train.NewConfusion(logits, k.Labels, nodes).Counts()
	q := &report.Quality{TestMajority: train.Majority(k.Labels, nodes), TestBalanced: train.BalancedAccuracy(counts), TestMacroF1: train.MacroF1(counts)}
	if k.Classes == 2 {
		if auc := train.ClassAUC(logits, k.Labels, nodes)[1]; !math.IsNaN(auc) {
			q.TestAUC = &auc
		}
	}
	return q
}

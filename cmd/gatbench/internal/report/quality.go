package report

import "fmt"

// Quality is what the accuracy on the test nodes does not say. It is exported for
// JSON, which fills no embedded struct that is not.
type Quality struct {
	TestMajority float64  `json:"test_majority"` // the share of the class that is most frequent: what a constant answer gets
	TestBalanced float64  `json:"test_balanced_accuracy"`
	TestMacroF1  float64  `json:"test_macro_f1"`
	TestAUC      *float64 `json:"test_auc,omitempty"` // of two classes, if both occur
}

// Says puts it into a line, for people who know the accuracy.
func (q *Quality) Says(accuracy float64) string {
	text := fmt.Sprintf("test: majority class %.1f %%, balanced accuracy %.1f %%, macro F1 %.3f", 100*q.TestMajority, 100*q.TestBalanced, q.TestMacroF1)
	if q.TestAUC != nil {
		text += fmt.Sprintf(", AUC %.3f", *q.TestAUC)
	}
	if accuracy <= q.TestMajority {
		text += "; always saying the majority class is as accurate"
	}
	return text
}

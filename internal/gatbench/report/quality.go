package report

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

// Quality is what the accuracy on the test nodes does not say. It is exported for
// JSON, which fills no embedded struct that is not.
type Quality struct {
	TestMajority float64  `json:"test_majority"` // the share of the class that is most frequent: what a constant answer gets
	TestBalanced float64  `json:"test_balanced_accuracy"`
	TestMacroF1  float64  `json:"test_macro_f1"`
	TestAUC      *float64 `json:"test_auc,omitempty"` // of two classes, if both occur

	Positive *Positive `json:"positive,omitempty"` // of two classes
}

// Positive is how well the positive one of two classes is found on what tests.
type Positive struct {
	Class  string `json:"class"`
	Rows   [3]int `json:"rows"` // that have it, in training, validation and test
	AP     Number `json:"test_average_precision"`
	Recall Number `json:"test_recall_at_precision"` // the highest at Reached, which is 0.9 at least if that is reached
	At     Number `json:"test_precision_reached"`

	Threshold float64 `json:"threshold,omitempty"` // the probability from which it is said; 0: of the likelier class
	Precision float64 `json:"test_precision"`      // this and the following: of what is said
	Found     float64 `json:"test_recall"`
	F1        float64 `json:"test_f1"`
}

// PrecisionAsked is the precision at which the recall is reported.
const PrecisionAsked = 0.9

// says puts it into a sentence.
func (p *Positive) says() string {
	text := fmt.Sprintf(". Positive class %s: %d train, %d validate, %d test", plain.Text(p.Class), p.Rows[0], p.Rows[1], p.Rows[2])
	if p.Rows[2] > 0 {
		text += fmt.Sprintf("; average precision %.3f", float64(p.AP))
		if p.At >= PrecisionAsked {
			text += fmt.Sprintf(", recall %.1f %% at a precision of %.0f %%", 100*float64(p.Recall), 100*PrecisionAsked)
		} else {
			text += fmt.Sprintf(", recall %.1f %% at the highest precision reached, %.1f %%", 100*float64(p.Recall), 100*float64(p.At))
		}
	}
	if p.Threshold > 0 {
		return text + fmt.Sprintf(". It is predicted from a probability of %v on, the best F1 on validation: precision %.1f %%, recall %.1f %%, F1 %.3f", p.Threshold, 100*p.Precision, 100*p.Found, p.F1)
	}
	return text + fmt.Sprintf(". Where it is the likelier class: precision %.1f %%, recall %.1f %%, F1 %.3f", 100*p.Precision, 100*p.Found, p.F1)
}

// Metrics are what the score of a training does not say: one is set, by what is learnt.
type Metrics struct {
	*Quality // of classes
	*Labels
	*Numbers
}

// Labels are how good several labels are, each there or not, on what tests.
type Labels struct {
	AUC     Number  `json:"test_roc_auc"`           // the mean over the labels that are there and not there
	AP      Number  `json:"test_average_precision"` // likewise
	MicroF1 float64 `json:"test_labels_micro_f1"`
	MacroF1 float64 `json:"test_labels_macro_f1"`
}

// Numbers are how far numbers are off, on what tests, each the mean over the numbers.
type Numbers struct {
	MAE  Number `json:"test_mae"`
	RMSE Number `json:"test_rmse"`
	R2   Number `json:"test_r_squared"` // null if all are alike
}

// Line puts what is set into a line, for people who know the score; empty if nothing is.
func (m Metrics) Line(score float64) string {
	switch {
	case m.Quality != nil:
		return m.Quality.Says(score)
	case m.Labels != nil:
		l := m.Labels
		return fmt.Sprintf("test: ROC-AUC %.4f, average precision %.4f (means over the labels), micro F1 %.4f, macro F1 %.4f", l.AUC, l.AP, l.MicroF1, l.MacroF1)
	case m.Numbers != nil:
		n := m.Numbers
		return fmt.Sprintf("test: MAE %.4g, RMSE %.4g, R² %.4f, in the data's own units", n.MAE, n.RMSE, n.R2)
	}
	return ""
}

// Says puts it into a line, for people who know the accuracy.
func (q *Quality) Says(accuracy float64) string {
	text := fmt.Sprintf("test: majority class %.1f %%, balanced accuracy %.1f %%, macro F1 %.3f", 100*q.TestMajority, 100*q.TestBalanced, q.TestMacroF1)
	if q.TestAUC != nil {
		text += fmt.Sprintf(", AUC %.3f", *q.TestAUC)
	}
	if accuracy <= q.TestMajority {
		text += "; always predicting the majority class would be at least as accurate"
	}
	if q.Positive != nil {
		text += q.Positive.says()
	}
	return text
}

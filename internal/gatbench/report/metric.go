package report

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
)

// Metric is what a score is, which is an accuracy unless it says so. The zero value is one.
type Metric struct{ Says, Key string }

// Name is what it is called for people.
func (m Metric) Name() string {
	if m.Says == "" {
		return "accuracy"
	}
	return m.Says
}

// Shown is a score for people: an accuracy in per cent, and a dash where there is none.
func (m Metric) Shown(x float64) string {
	if math.IsNaN(x) {
		return "      -"
	}
	if m.Says == "" {
		return fmt.Sprintf("%5.1f %%", 100*x)
	}
	if math.Abs(x) < 0.00005 {
		x = 0 // not -0.0000
	}
	return fmt.Sprintf("%7.4f", x)
}

// accuracies are the keys of JSON that are named after the score.
var accuracies = regexp.MustCompile(`"(train_|val_|test_)accuracy(_mean|_std)?":`)

// JSON returns v with the score's own name in the keys that speak of the accuracy.
func (m Metric) JSON(v any) any {
	if m.Key == "" {
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return v
	}
	return json.RawMessage(accuracies.ReplaceAll(text, []byte(`"${1}`+m.Key+`${2}":`)))
}

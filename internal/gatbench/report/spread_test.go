package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Several trainings are summed up by what all of them have to say beside the score.
func TestSpreads(t *testing.T) {
	auc := func(v float64) Metrics { return Metrics{Quality: &Quality{TestAUC: &v}} }
	for _, tt := range []struct {
		runs       []Summary
		json, says string
	}{
		{[]Summary{{Metrics: auc(0.5)}, {Metrics: auc(0.75)}}, `"means":{"test_auc":{"mean":0.625,"std":0.1767766952966369}}`, "test: AUC 0.625 ± 0.18\n"},
		{[]Summary{{Metrics: auc(0.5)}, {Metrics: Metrics{Quality: &Quality{}}}}, "", ""},
		{[]Summary{{Metrics: Metrics{Labels: &Labels{AUC: 0.5, AP: 0.25}}}}, `"test_average_precision":{"mean":0.25,"std":0}`, "test: ROC-AUC 0.5 ± 0, average precision 0.25 ± 0\n"},
		{[]Summary{{Metrics: Metrics{Numbers: &Numbers{MAE: 2, RMSE: 3}}}}, `"test_rmse":{"mean":3,"std":0}`, "test: MAE 2 ± 0, RMSE 3 ± 0\n"},
	} {
		o := NewOverall("x", tt.runs)
		line, err := json.Marshal(o)
		if err != nil || !strings.Contains(string(line), tt.json) || tt.json == "" && strings.Contains(string(line), "means") {
			t.Errorf("%s, error %v; want %s", line, err, tt.json)
		}
		var b bytes.Buffer
		o.Print(NewPrinter(&b), "x", "no more")
		if tt.says == "" && strings.Contains(b.String(), "test: ") || !strings.Contains(b.String(), tt.says) {
			t.Errorf("it says %q, want %q", &b, tt.says)
		}
	}
}

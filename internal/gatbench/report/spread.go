package report

import (
	"fmt"
	"strings"
)

// Spread is a mean over several trainings, and the deviation of the sample.
type Spread struct {
	Mean Number `json:"mean"`
	Std  Number `json:"std"`
}

// measures are the numbers beside the score that several trainings are summed up by, by their names in
// JSON: nil of a training that has none.
var measures = []struct {
	key, says string
	of        func(m Metrics) *Number
}{
	{"test_auc", "AUC", func(m Metrics) *Number {
		if m.Quality == nil {
			return nil
		}
		return (*Number)(m.Quality.TestAUC)
	}},
	{"test_roc_auc", "ROC-AUC", ofLabels(func(l *Labels) *Number { return &l.AUC })},
	{"test_average_precision", "average precision", ofLabels(func(l *Labels) *Number { return &l.AP })},
	{"test_mae", "MAE", ofNumbers(func(n *Numbers) *Number { return &n.MAE })},
	{"test_rmse", "RMSE", ofNumbers(func(n *Numbers) *Number { return &n.RMSE })},
}

func ofLabels(of func(*Labels) *Number) func(Metrics) *Number {
	return func(m Metrics) *Number {
		if m.Labels == nil {
			return nil
		}
		return of(m.Labels)
	}
}

func ofNumbers(of func(*Numbers) *Number) func(Metrics) *Number {
	return func(m Metrics) *Number {
		if m.Numbers == nil {
			return nil
		}
		return of(m.Numbers)
	}
}

// spreads returns the means of what all trainings have, by name; nil if that is nothing.
func spreads(runs []Summary) map[string]Spread {
	var all map[string]Spread
	for _, measure := range measures {
		var values []float64
		for _, s := range runs {
			if v := measure.of(s.Metrics); v != nil {
				values = append(values, float64(*v))
			}
		}
		if len(values) == 0 || len(values) < len(runs) {
			continue
		}
		if all == nil {
			all = map[string]Spread{}
		}
		mean, std := MeanStd(values)
		all[measure.key] = Spread{Number(mean), Number(std)}
	}
	return all
}

// also says the means in a line; "" if there are none.
func (o *Overall) also() string {
	text := ""
	for _, measure := range measures {
		if s, ok := o.Means[measure.key]; ok {
			text += fmt.Sprintf(", %s %.4g ± %.2g", measure.says, float64(s.Mean), float64(s.Std))
		}
	}
	return strings.TrimPrefix(text, ", ")
}

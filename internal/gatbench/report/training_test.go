package report

import (
	"strings"
	"testing"
)

// A training that was still getting better says so, and what to try; and one that
// never began.
func TestLonger(t *testing.T) {
	for _, tt := range []struct {
		s    Summary
		want string
	}{
		{Summary{Epochs: 200, BestEpoch: 200}, "--epochs 1000"},
		{Summary{Epochs: 200, BestEpoch: 190}, "--epochs 1000"},
		{Summary{Epochs: 200, BestEpoch: 189}, ""},
		{Summary{Epochs: 180, BestEpoch: 180}, ""}, // it was stopped
		{Summary{Epochs: 200, BestEpoch: 200, Select: "last"}, ""},
		{Summary{Epochs: 200, BestEpoch: 200, ValAccuracy: 1}, ""},
		{Summary{Epochs: 200, BestEpoch: 200, Interrupted: true}, ""},
		{Summary{Epochs: 51, BestEpoch: 1}, "--patience 200"},
		{Summary{Epochs: 57, BestEpoch: 7}, ""},
		{Summary{Epochs: 200, BestEpoch: 1}, ""},
	} {
		if got := tt.s.Longer(200, 50); !strings.HasSuffix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("the best is %d of %d: %q, want %q", tt.s.BestEpoch, tt.s.Epochs, got, tt.want)
		}
	}
}

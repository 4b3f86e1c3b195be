package bench

import (
	"testing"
	"time"
)

// quick is a budget for tests.
var quick = Budget{WarmUps: 1, AtLeast: 2, AtMost: 3, Enough: time.Microsecond, Limit: time.Second}

func TestRepeat(t *testing.T) {
	calls := 0
	got, err := quick.repeat(t.Context(), func() { calls++; time.Sleep(time.Millisecond) })
	if err != nil || calls != 1+1+2 || len(got.ms) != 2 || got.group != 1 || got.ms[0] < 1 || got.ms[1] < got.ms[0] {
		t.Errorf("%d calls, %+v, %v", calls, got, err)
	}
	got, err = quick.repeat(t.Context(), func() {})
	if err != nil || got.group < 2 || got.median() > 1e-3 {
		t.Errorf("an empty call: %+v, %v", got, err)
	}
	even := Timing{ms: []float64{1, 2, 4, 8}}
	if even.median() != 3 || even.percentile(10) != 1 || even.percentile(90) != 8 {
		t.Errorf("median %v, 10th %v, 90th %v", even.median(), even.percentile(10), even.percentile(90))
	}
}

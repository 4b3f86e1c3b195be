package writing

import (
	"testing"
)

// Monotonic attention copies what is as long as what it learnt from, and never goes back, on
// sequences four times as long, too. By location, with a softmax or with sigmoids over their sum,
// a network finds its way through twice the length; by content it does not.
func TestStretch(t *testing.T) {
	result := long(t, Stretch, 0).result
	of := func(name, what string) (at8, at16, at32 float64) {
		numbers := result[name].(map[string]any)[what].(map[string]any)
		return numbers["8"].(float64), numbers["16"].(float64), numbers["32"].(float64)
	}
	if at8, _, _ := of("copy, monotonic", "exact"); !(at8 >= 0.9) {
		t.Errorf("monotonic, %v of 8 are copied", at8)
	}
	if at8, at16, at32 := of("copy, monotonic", "forwards"); at8 != 1 || at16 != 1 || at32 != 1 {
		t.Errorf("monotonic, %v, %v and %v of the steps do not go back", at8, at16, at32)
	}
	if _, at16, _ := of("twice, by content", "exact"); !(at16 <= 0.7) {
		t.Errorf("by content %v of 16 are right", at16)
	}
	for _, name := range []string{"twice, by location", "the same, smoothed"} {
		if at8, at16, _ := of(name, "exact"); !(at8 >= 0.95) || !(at16 >= 0.9) {
			t.Errorf("%s: %v of 8 are right, %v of 16", name, at8, at16)
		}
	}
}

package grad_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
)

// Steps of many sizes share their memory: a step whose size has none takes what a somewhat
// larger one has left.
func TestTapeOfManySizes(t *testing.T) {
	tape, rows := grad.NewTape(1), grad.NewParam(200, 64)
	for step := range 60 {
		tape.Reset()
		x := tape.Use(rows).Rows(make([]int32, 200-step*37%101))
		for range 10 {
			x = x.Scale(0.5).Add(x)
		}
	}
	if s := tape.Stats(); s.Held > 2*s.Peak {
		t.Errorf("the tape holds %d bytes after a largest step that had at most %d in use", s.Held, s.Peak)
	}
}

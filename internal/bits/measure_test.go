package bits

import (
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/sparing"
)

// TestMeasure compares what Measure predicts of every operation, message and layer of the book
// with what the arena of a tape then holds: no byte differs, in training and in an evaluation.
func TestMeasure(t *testing.T) {
	every, n := 11, 0
	if sparing.Full() {
		every = 1
	}
	b := &book{t: t, visit: func(name string, f func(m *maker) []*grad.Var) {
		if n++; n%every != 0 {
			return
		}
		loss := func(t *grad.Tape) *grad.Var {
			sum := t.Watch(makerOn(t, name).normal(1)).Sum()
			for _, y := range f(makerOn(t, name)) {
				if y.Needs() {
					sum = sum.Add(y.Square().Sum())
				}
			}
			return sum
		}
		tape, eval := grad.NewTape(11), grad.NewEval()
		tape.Backward(loss(tape))
		if want, got := grad.Measure(loss), tape.Stats(); want != got {
			t.Errorf("%s: predicted %+v, needed %+v", name, want, got)
		}
		loss(eval)
		if want, got := grad.MeasureEval(func(t *grad.Tape) { loss(t) }), eval.Stats(); want != got {
			t.Errorf("%s, evaluated: predicted %+v, needed %+v", name, want, got)
		}
	}}
	for _, g := range groups {
		b.prefix = g.name
		g.fill(b)
	}
	t.Logf("%d of %d entries", n/every, n)
}

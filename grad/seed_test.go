package grad_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestRestart: a tape that starts again drops what a new one drops.
func TestRestart(t *testing.T) {
	x := tensor.New(8, 8)
	x.Fill(1)
	drop := func(tape *grad.Tape) []tensor.Float {
		tape.Reset()
		return slices.Clone(tape.Dropout(grad.Const(x), 0.5).Value().Data)
	}
	old, fresh := grad.NewTape(1), grad.NewTape(2)
	first := drop(old)
	drop(old)
	old.Restart(2)
	if old.Seed() != 2 || old.Step() != 0 {
		t.Errorf("seed %d, step %d", old.Seed(), old.Step())
	}
	if got := drop(old); !slices.Equal(got, drop(fresh)) || slices.Equal(got, first) {
		t.Error("it drops other elements than a new tape")
	}
}

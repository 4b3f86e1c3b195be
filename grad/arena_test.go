package grad_test

import (
	"runtime"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// step is one training step of a small network on n rows.
func step(tape *grad.Tape, x *grad.Var, labels []int32, w, b *grad.Param) {
	tape.Reset()
	h := tape.Dropout(x, 0.3).MatMul(tape.Use(w)).Add(tape.Use(b)).ELU()
	h = grad.Concat(h.Columns(0, 2), h.Columns(2, 4).Softmax()).Reshape(-1, 4)
	tape.Backward(h.CrossEntropy(labels))
}

// TestArenaSteady shows that after the first step a training step allocates
// nothing that grows with the data.
func TestArenaSteady(t *testing.T) {
	w, b := param(1, 5, 4), param(2, 4)
	var counts [2]float64
	for i, n := range []int{10, 10_000} {
		tape, x, labels := grad.NewTape(1), grad.Const(param(3, n, 5).Value), make([]int32, n)
		step(tape, x, labels, w, b)
		held := tape.Stats()
		if held.Held < n*4*4 || held.Peak < held.InUse || held.Ops == 0 {
			t.Errorf("%d rows: after a step %+v", n, held)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		counts[i] = testing.AllocsPerRun(5, func() { step(tape, x, labels, w, b) })
		runtime.ReadMemStats(&after)
		if got := tape.Stats(); got != held {
			t.Errorf("%d rows: %+v after the first step, then %+v", n, held, got)
		}
		if bytes := (after.TotalAlloc - before.TotalAlloc) / 6; bytes > 20_000 {
			t.Errorf("%d rows: a step allocates %d bytes", n, bytes)
		}
	}
	slack := 4.0
	if sparing.Raced { // then pools forget at random
		slack = 30
	}
	if counts[1] > counts[0]+slack || counts[0] > 100 {
		t.Errorf("a step allocates %v times on 10 rows and %v on 10000", counts[0], counts[1])
	}
}

// TestArenaZeroed shows that recycled memory is clean.
func TestArenaZeroed(t *testing.T) {
	tape := grad.NewTape(1)
	for range 3 {
		tape.Reset()
		op := grad.Begin("test", tape.Input(ones(1)))
		for n := range 40 {
			x, f, ints := op.New(n, 3), op.Floats(n), op.Ints(n)
			if len(x.Value().Data) != 3*n || len(f) != n || len(ints) != n {
				t.Fatal("wrong lengths")
			}
			op.Scratch(n, func(s []tensor.Float) {
				for i := range n {
					if x.Value().Data[i] != 0 || f[i] != 0 || ints[i] != 0 || s[i] != 0 {
						t.Fatal("memory is handed out dirty")
					}
					s[i] = 4
				}
			})
			x.Value().Fill(1)
			for i := range n {
				f[i], ints[i] = 2, 3
			}
		}
	}
}

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

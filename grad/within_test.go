package grad_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// stopper is an operation that counts its runs, and cancels a context in one of them.
type stopper struct {
	cancel  func()
	at, ran int
}

func (s *stopper) run() {
	if s.ran++; s.ran == s.at {
		s.cancel()
	}
}

func (s *stopper) of(x *grad.Var) *grad.Var {
	op := grad.Begin("stopper", x)
	y := op.New(x.Shape()...)
	copy(y.Value().Data, x.Value().Data)
	s.run()
	return op.Record(y, func(dy *tensor.Dense) {
		s.run()
		if g := x.Grad(); g != nil {
			g.Add(dy)
		}
	})
}

// A computation that is cancelled at any operation or pullback, in a loop and in a checkpointed
// function too, runs none after it and updates nothing. The tape then serves for
// the next one, to the same bits.
func TestWithin(t *testing.T) {
	w := param(1, 6, 6)
	mean := &grad.Param{Value: tensor.New(6), Frozen: true}
	x := grad.Const(param(2, 8, 6).Value)
	step := func(tp *grad.Tape, s *stopper) []tensor.Float {
		tp.Reset()
		tp.SetStep(1)
		h := tp.Dropout(s.of(x.MatMul(tp.Use(w))), 0.3)
		tp.Update(mean, h.MeanAxis(0))
		h = tp.Checkpoint(func(xs ...*grad.Var) *grad.Var { return s.of(xs[0].Tanh()).MatMul(tp.Use(w)) }, h)
		loop := tape.BeginLoop(24, h, tp.Use(w))
		for range 3 {
			h = s.of(h.MatMul(tp.Use(w)).Sigmoid())
		}
		loop.End()
		return slices.Clone(tp.Backward(h.Sum()).Param(w).Data)
	}
	whole := &stopper{cancel: func() {}}
	want, updated := step(grad.NewTape(3), whole), slices.Clone(mean.Value.Data)
	tp := grad.NewTape(3)
	for at := 1; at <= whole.ran; at++ {
		ctx, cancel := context.WithCancel(context.Background())
		s := &stopper{cancel: cancel, at: at}
		clear(mean.Value.Data)
		if err := tp.Within(ctx, func() { step(tp, s) }); !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled at %d of %d: %v", at, whole.ran, err)
		}
		if s.ran != at || slices.ContainsFunc(mean.Value.Data, func(v tensor.Float) bool { return v != 0 }) {
			t.Errorf("cancelled at %d of %d: %d ran, the running mean is %v", at, whole.ran, s.ran, mean.Value.Data)
		}
		if err := tp.Within(ctx, func() { t.Error("it was called after the end") }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		var got []tensor.Float
		if err := tp.Within(context.Background(), func() { got = step(tp, &stopper{cancel: func() {}}) }); err != nil || !slices.Equal(got, want) || !slices.Equal(mean.Value.Data, updated) {
			t.Errorf("after the one cancelled at %d: %v, other bits", at, err)
		}
	}
}

// A panic of another kind passes, one that is caught on the way is still an error, and the
// inner of two ends alone.
func TestWithinPanics(t *testing.T) {
	tp, p := grad.NewEval(), param(1, 2, 2)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if got := func() (got any) {
		defer func() { got = recover() }()
		return tp.Within(ctx, func() { panic("mine") })
	}(); got != any("mine") {
		t.Errorf("recovered %v", got)
	}
	inner, stop := context.WithCancel(ctx)
	if err := tp.Within(ctx, func() {
		stop()
		if err := tp.Within(inner, func() {}); !errors.Is(err, context.Canceled) {
			t.Error("inside:", err)
		}
		tp.Use(p).Tanh()
	}); err != nil {
		t.Error("around it:", err)
	}
	around, end := context.WithCancel(ctx)
	if err := tp.Within(around, func() { // whose context counts again after the inner one
		if err := tp.Within(around, func() {}); err != nil {
			t.Error("inside:", err)
		}
		end()
		tp.Use(p).Tanh()
		t.Error("it ran after its end")
	}); !errors.Is(err, context.Canceled) {
		t.Error("around one that was not cancelled:", err)
	}
	if err := tp.Within(ctx, func() {
		defer func() { _ = recover() }()
		cancel()
		tp.Use(p).Tanh()
		t.Error("it ran")
	}); !errors.Is(err, context.Canceled) {
		t.Error("caught on the way:", err)
	}
	if err := (*grad.Tape)(nil).Within(context.Background(), func() { p.Value.Data[0] = 7 }); err != nil || p.Value.Data[0] != 7 {
		t.Error("no tape:", err)
	}
}

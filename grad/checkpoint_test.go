package grad_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// block is a part of a network with everything in it that a checkpoint has to
// repeat: Params, dropout, running statistics, views and a nested call.
type block struct {
	W, B, Mean, Variance *grad.Param
}

func newBlock(d int) *block {
	b := &block{W: param(1, d, d), B: param(2, d), Mean: grad.NewParam(d), Variance: grad.NewParam(d)}
	b.Mean.Frozen, b.Variance.Frozen = true, true
	return b
}

func (b *block) forward(t *grad.Tape, x *grad.Var) *grad.Var {
	h := t.Dropout(x, 0.3).Linear(t.Use(b.W), t.Use(b.B), grad.Tanh)
	h = t.BatchNorm(h, grad.Affine{}, &grad.RunningStats{Mean: b.Mean, Variance: b.Variance}, 1e-5)
	h = t.Dropout(h, 0.2).GELU()
	return x.Add(h.Reshape(-1, 1).Reshape(x.Shape()...).Softmax())
}

// plain calls a function as Checkpoint does.
func plain(_ *grad.Tape, f func(xs ...*grad.Var) *grad.Var, xs ...*grad.Var) *grad.Var {
	return f(xs...)
}

type caller func(t *grad.Tape, f func(xs ...*grad.Var) *grad.Var, xs ...*grad.Var) *grad.Var

// train takes two steps through four blocks and returns all that they leave.
func train(call caller, n, d int) (bits []tensor.Float, stats grad.Stats) {
	p, b := param(3, n, d), newBlock(d)
	tape := grad.NewTape(7)
	for range 2 {
		tape.Reset()
		x := tape.Use(p)
		for range 2 {
			x = call(tape, func(xs ...*grad.Var) *grad.Var {
				y := b.forward(tape, xs[0])
				return call(tape, func(ys ...*grad.Var) *grad.Var { return b.forward(tape, ys[0].Mul(ys[1])) }, y, xs[0])
			}, x)
			x = tape.Dropout(x, 0.1)
		}
		loss := weigh(x)
		g := tape.Backward(loss)
		bits = append(bits, loss.Value().Data...)
		for _, g := range g {
			bits = append(bits, g.Value.Data...)
		}
		bits = append(append(bits, b.Mean.Value.Data...), b.Variance.Value.Data...)
		again := tape.Backward(loss)
		for i, g := range g {
			bits = append(bits, again[i].Value.Data...)
			if g.Param != again[i].Param {
				panic("the gradients changed their order")
			}
		}
	}
	return bits, tape.Stats()
}

// TestCheckpoint has the bits and the dropouts of no checkpoint, and less memory.
func TestCheckpoint(t *testing.T) {
	want, without := train(plain, 40, 9)
	got, with := train((*grad.Tape).Checkpoint, 40, 9)
	if !slices.Equal(got, want) {
		t.Error("loss, gradients or statistics are not those of no checkpoint")
	}
	if with.Ops >= without.Ops || with.Peak > without.Peak*3/4 || with.Held > without.Held*3/4 {
		t.Errorf("with checkpoints %+v, without %+v", with, without)
	}
}

// TestCheckpointEdges covers what is not recorded, and what is not allowed.
func TestCheckpointEdges(t *testing.T) {
	double := func(xs ...*grad.Var) *grad.Var { return xs[0].Scale(2) }
	x := ones(2)
	for _, tape := range []*grad.Tape{nil, grad.NewEval()} {
		if y := tape.Checkpoint(double, tape.Input(x)); y.Value().Data[1] != 2 {
			t.Errorf("an eval tape gives %v", y.Value())
		}
	}
	tape := grad.NewTape(1)
	if y := tape.Checkpoint(double, tape.Input(x)); y.Needs() || y.Value().Data[0] != 2 || tape.Stats().Ops != 0 {
		t.Error("a function of constants is recorded")
	}
	w := tape.Watch(x)
	same := tape.Checkpoint(func(xs ...*grad.Var) *grad.Var { return xs[0] }, w)
	if g := tape.Backward(same.Mul(w).Sum()).Of(w); g.Data[0] != 2 {
		t.Errorf("the gradient through the identity is %v", g)
	}
	outer := w.Scale(3)
	free := tape.Checkpoint(func(...*grad.Var) *grad.Var { return outer.Mul(outer) }) // caught, not passed
	if g := tape.Backward(free.Sum()).Of(w); g.Data[0] != 18 {
		t.Errorf("the gradient by a captured Var is %v", g)
	}
	var escaped *grad.Var
	tape.Checkpoint(func(xs ...*grad.Var) *grad.Var { escaped = xs[0].Scale(2); return escaped.Scale(2) }, w)
	misuse(t, "inside a checkpointed function", func() { escaped.Exp() })
	misuse(t, "inside a checkpointed function", func() { escaped.Value() })
	misuse(t, "cannot be watched", func() {
		tape.Checkpoint(func(...*grad.Var) *grad.Var { return tape.Watch(x) })
	})
	misuse(t, "another tape", func() { grad.NewTape(1).Checkpoint(double, w) })
	misuse(t, "another tape", func() {
		other := grad.NewTape(1).Watch(x)
		tape.Checkpoint(func(...*grad.Var) *grad.Var { return other })
	})
	if g := tape.Backward(tape.Watch(x).Sum()); len(g) != 2 {
		t.Error("after a panic in a checkpoint the tape does not record")
	}
}

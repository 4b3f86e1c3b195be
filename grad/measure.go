package grad

// Measure predicts what a training step needs: the Stats of a tape after its
// first step, forwards and backwards, without the step. f makes the loss, as in
// training; nothing but shapes is worked out, so f must not depend on values,
// which are zeros.
//
// Held and Peak count the tape's arena: activations, gradients and scratch of
// operations. Params, optimisers, graphs, constants and the Go heap come on top.
// They are exact for operations that say [Op.Dry] or ask [Op.Measuring], as this
// package's do and those of messages. Another package's operation that does
// neither is run, on zeros: then the prediction is as good but takes that
// operation's time. Address space is taken as in a step, but most of it is never
// touched, so resident memory stays small.
func Measure(f func(t *Tape) *Var) Stats {
	t := newDry(false)
	t.Backward(f(t))
	return t.Stats()
}

// MeasureEval is [Measure] for inference: f runs on a tape like that of
// [NewEval], and there is no Backward.
func MeasureEval(f func(t *Tape)) Stats {
	t := newDry(true)
	f(t)
	return t.Stats()
}

func newDry(eval bool) *Tape {
	t := NewTape(0)
	t.eval, t.never, t.dry, t.traced = eval, eval, true, true
	return t
}

// Dry reports whether the operation is to leave out its arithmetic: under
// [Measure] only the shapes of results count. An operation takes every array that
// it keeps before it asks. Its pullback does not run either; it is taken to need
// the gradients of the operands and scratch elements more.
func (op Op) Dry(scratch int) bool {
	if !op.Measuring() {
		return false
	}
	if op.trace != nil {
		op.trace.skip, op.trace.scratch = true, scratch
	}
	return true
}

// Measuring reports whether the operation runs under [Measure]. It is [Op.Dry] for
// an operation whose pullback needs more memory than a number says: that runs
// then, takes its memory, asks as well and leaves out its arithmetic.
func (op Op) Measuring() bool { return op.tape != nil && op.tape.dry }

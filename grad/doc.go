// Package grad differentiates computations on arrays.
//
// Three types say three things. A [Param] is a place that is trained. A [Var]
// is a value in one computation. A [Tape] is that computation's record.
//
//	t := grad.NewTape(seed)
//	for range steps {
//		t.Reset()                                  // begins a step, reuses all memory
//		loss := x.MatMul(t.Use(w)).CrossEntropy(labels)
//		grads := t.Backward(loss)                  // of every Param that was used
//		grads.ClipNorm(1)
//		…
//	}
//
// A Param enters a computation only through [Tape.Use]. Data enter as [Const],
// which belongs to no tape and is good on all of them.
//
// Operations are methods of the Var they work on. Where several arrays have equal
// parts they are functions ([Concat], [Stack], [Where]); where the seed or the mode of
// the tape matters they are methods of the tape ([Tape.Dropout], [Tape.BatchNorm]);
// where there are options these are the fields of a struct ([CrossEntropy], [Loss], [BCE],
// [Hinge], [PairNorm]), whose zero value is the plain formula. A reduction removes its
// axis; [Var.InsertAxis] puts it back.
//
// An operation of your own begins, makes its result and records how gradients flow back:
//
//	func Double(x *grad.Var) *grad.Var {
//		op := grad.Begin("Double", x)
//		y := op.New(x.Shape()...)
//		for i, v := range x.Value().Data {
//			y.Value().Data[i] = 2 * v
//		}
//		return op.Record(y, func(dy *tensor.Dense) {
//			for i, g := range dy.Data {
//				x.Grad().Data[i] += 2 * g // of several operands: of each that x.Needs() it
//			}
//		})
//	}
//
// Memory that it needs until Reset is [Op.Floats], or until it is done [Op.Scratch].
// Package grad/gradtest checks its gradient.
//
// Every value and gradient of a step lives in the tape's arena and is valid until the
// tape's next Reset; a Var that is used later is recognised, and the operation panics
// with a [*TapeError], and so are [Grads] from before the last Reset or Backward. What
// must live longer is copied by [Var.Keep]. Without a Reset the memory of every step is
// kept: Backward panics after a hundred whole computations without one. An inference
// tape gets no such warning; [Tape.Stats] says what it holds. Nobody frees a tape by
// hand: the collector does when the tape and its Vars are no longer reachable.
//
// Formulas are written as they stand in papers. A result may wait for the operation
// that comes next, so that both run as one, where that saves a pass over memory: a sum
// over edges for the bias of its layer, a bias with an ELU for a dropout. Results do
// not depend on it; time, memory and [Tape.Operations] do.
//
// A tape serves one goroutine; a model may be used by any number of goroutines,
// each with a tape of its own, as long as none changes its Params. Two goroutines
// on one tape are usually detected: the operation panics with a [*TapeError].
//
// A model is whatever holds Params. [Params] names those that it finds,
// [CheckParams] one that it would miss.
//
// [NewEval] is the tape of inference: it records nothing and drops nothing. A
// nil *Tape does the same without an arena. [Weights] are packed copies of Params, which the
// tapes of a server share.
//
// [Measure] says what memory a step will need, [Tape.Checkpoint] trades it for
// time, [Tape.Operations] names what was recorded, [Tape.FirstNonFinite] the
// operation that made the first NaN, and [Tape.Profile] labels profiles.
//
// Wrong shapes, and labels that are no class, panic with a [*tensor.ShapeError]
// that names the operation. NaN in data is carried through to the loss; a NaN
// target means a missing label only where [Loss].SkipMissing says so.
package grad

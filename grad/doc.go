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
// Operations are methods of the Var they work on: dense mathematics, losses. Where
// several arrays have equal parts they are functions ([Concat], [Stack], [Where]); where
// the seed or the mode of the tape matters they are methods of the tape
// ([Tape.Dropout], [Tape.BatchNorm]); where there are options these are the fields
// of a struct ([CrossEntropy], [Loss], [BCE], [Hinge], [PairNorm]), whose zero value
// is the plain formula. A reduction removes its axis; [Var.InsertAxis] puts it
// back.
//
// Every value and gradient of a step lives in the tape's arena and is valid
// until the tape's next Reset; a Var that is used later is recognised, and the
// operation panics with a [*TapeError]. What must live longer is copied by
// [Var.Keep]. Gradients are valid until the next Reset or Backward, and [Grads]
// that are older are recognised too. Without a Reset the memory of every step is
// kept: Backward panics after a hundred whole computations without one. An
// inference tape gets no such warning; [Tape.Stats] says what it holds. Nobody
// frees a tape by hand: Reset keeps its memory for the next step, Backward hands
// gradients back early, and the collector frees all of it when the tape and its
// Vars are no longer reachable. An arena does not shrink.
//
// Formulas are written as they stand in papers. A result may wait for the operation
// that comes next, so that both run as one, where that saves a pass over memory: a sum
// over edges for the bias of its layer, a bias with an ELU for a dropout. Results do
// not depend on it; time, memory and [Tape.Operations] do. [Op.RecordLate] is how an
// operation takes part.
//
// A tape serves one goroutine; a model may be used by any number of goroutines,
// each with a tape of its own, as long as none changes its Params. Two goroutines
// on one tape are usually detected: the operation panics with a [*TapeError] that
// says so.
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
// operation that made the first NaN, and [Tape.Profile] labels profiles with layers
// and operations.
//
// Wrong shapes, and labels that are no class, panic with a [*tensor.ShapeError]
// that names the operation. NaN in data is carried through to the loss; a NaN
// target means a missing label only where [Loss].SkipMissing says so.
package grad

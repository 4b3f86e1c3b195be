// Package tape is the part of package grad that only this module's own kernels use. It lets an operation keep its
// pullback without garbage, wait for the next operation, run many rounds as one entry of the tape, or overwrite an operand.
// What every operation needs is in package grad: Begin, and the methods of Op.
//
// An operation that is run often notes what its pullback needs in a struct, which the tape uses again in the next step:
//
//	op := grad.Begin("Double", x)
//	y := op.Fresh(x.Shape()...)
//	if !tape.Dry(op, 0) {
//		… set y.Value() …
//	}
//	return tape.RecordBy(op, y, tape.Note(op, doubleNotes{x})) // whose Pull(dy) adds to the gradient of x
//
// A [Late] is an operation whose result may wait, so that the next operation and it run as one. A [Loop] is a computation
// in rounds, whose states are a [Frame]. [Rounds] are the products of an operation that computes all rounds by itself. A
// [Projection] is a product that is not held.
//
// No version promises any of this. The types of package grad stay there, with the methods that users see, and this package
// reaches the rest through grad.Machinery, which nothing else calls.
package tape

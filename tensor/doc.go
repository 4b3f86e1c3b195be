// Package tensor holds dense row-major arrays and the products and pointwise
// functions on them: no gradients, no graphs.
//
// Its one noun is [Dense]: a slice of [Float] with a shape of one to four axes.
// The first axis counts rows, and views of rows are free:
//
//	x := tensor.New(3, 2)          // zeros
//	x.Row(1)[0] = 5
//	y := tensor.New(3, 4)
//	tensor.MatMul(y, x, w, 0)      // y += xw
//
// Products, [MulAdd], [ScatterAddRows], [DropoutAdd], [RollAdd], gradients (named
// Grad) and methods that add do so to their destination, so that a gradient can
// be gathered from several of them; a new array is zero. All else sets it. The
// destination comes first, and must not overlap an operand unless the function
// says that it may be one.
//
// In all packages bad data, such as a file, is an error, and a bad program panics with a
// [Mistake] that names what was called, the values and what to write; [Try] makes it an error.
// Here a wrong shape and an overlap panic with a [*ShapeError]. docs/library/mistakes.md says
// the rule, with examples.
//
// What is long runs on several threads, in chunks that follow from the shapes
// alone, so no bit depends on their number. Nothing here is safe for use by
// several goroutines while one of them writes.
package tensor

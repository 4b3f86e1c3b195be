package grad

import "github.com/edgewise-ml/edgewise/tensor"

// Names that internal/tape replaces, until their callers have moved there.
type (
	// Late is deferred.
	Late = deferred
	// Pullback is pullback.
	Pullback = pullback
	// Loop is loop.
	Loop = loop
	// Frame is frame.
	Frame = frame
	// Projection is projection.
	Projection = projection
	// Rounds are the products of rounds.
	Rounds struct{ ahead, back *tensor.Packed }
)

// Notes is notes.
func Notes[T any](op Op) *T { return notes[T](op) }

// BeginLoop is beginLoop.
func BeginLoop(rows int, xs ...*Var) *Loop { return beginLoop(rows, xs...) }

// BeginOver is beginOver.
func BeginOver(name string, x *Var, xs ...*Var) (Op, []tensor.Float) {
	return beginOver(name, x, xs...)
}

// Read is roundOf.
func (l *loop) Read(x *Var) *Var {
	if l != nil {
		return x
	}
	return roundOf(x)
}

// Begin is beginWithout.
func (p *projection) Begin(name string, xs ...*Var) Op {
	if p == nil {
		return Begin(name, xs...)
	}
	return beginWithout(name, nil, p.out, xs)
}

// RecordBy is recordBy.
func (op Op) RecordBy(y *Var, p Pullback) *Var { return op.recordBy(y, p) }

// RecordAllBy is recordAllBy.
func (op Op) RecordAllBy(ys []*Var, p Pullback) { op.recordAllBy(ys, p) }

// RecordLate is recordLate.
func (op Op) RecordLate(y *Var, l Late) *Var { return op.recordLate(y, l) }

// Own is own.
func (op Op) Own(xs []*Var) bool { return op.own(xs) }

// NewFrame is newFrame.
func (op Op) NewFrame(shape ...int) *Frame { return op.newFrame(shape...) }

// FreshFloats is freshFloats.
func (op Op) FreshFloats(n int) []tensor.Float { return op.freshFloats(n) }

// FreshScratch is freshScratch.
func (op Op) FreshScratch(n int, f func(buf []tensor.Float)) { op.freshScratch(n, f) }

// Dry is dry.
func (op Op) Dry(scratch int) bool { return op.dry(scratch) }

// Measuring is measuring.
func (op Op) Measuring() bool { return op.measuring() }

// FreshGrad is freshGrad.
func (x *Var) FreshGrad() (g *tensor.Dense, fresh bool) { return x.freshGrad() }

// Projected is projected.
func (x *Var) Projected() *Projection { return x.projected() }

// KeepProducts is keepProducts.
func (t *Tape) KeepProducts(x tensor.Array) { t.keepProducts(x) }

// Rounds are packings.
func (op Op) Rounds(w *Var) Rounds {
	ahead, back := op.packings(w)
	return Rounds{ahead, back}
}

// Multiply is that of tape.Rounds.
func (r Rounds) Multiply(y, x []tensor.Float, rows int, set bool) {
	multiplyRows(y, x, rows, r.ahead, set)
}

// MultiplyBack is that of tape.Rounds.
func (r Rounds) MultiplyBack(dx, dy []tensor.Float, rows int) {
	multiplyRows(dx, dy, rows, r.back, false)
}

func multiplyRows(y, x []tensor.Float, rows int, w *tensor.Packed, set bool) {
	var dst, src tensor.Dense
	dst.Set(y[:rows*w.Shape()[1]], rows, w.Shape()[1])
	src.Set(x[:rows*w.Shape()[0]], rows, w.Shape()[0])
	if set {
		tensor.MatMulPackedThen(&dst, &src, w, 0, tensor.Epilogue{})
	} else {
		tensor.MatMulPacked(&dst, &src, w, 0)
	}
}

package grad

import "github.com/edgewise-ml/edgewise/tensor"

// Machinery is for the kernels of this module, which reach it through internal/tape. It is no part of what versions
// promise. T is what an operation notes for its pullback.
func Machinery[T any]() machinery[T] { return machinery[T]{} }

// machinery is what kernels need of a tape beside what every operation does; internal/tape says what each method is for.
type machinery[T any] struct{}

func (machinery[T]) Notes(op Op) *T                                        { return notes[T](op) }
func (machinery[T]) RecordBy(op Op, y *Var, p pullback) *Var               { return op.recordBy(y, p) }
func (machinery[T]) RecordAllBy(op Op, ys []*Var, p pullback)              { op.recordAllBy(ys, p) }
func (machinery[T]) RecordLate(op Op, y *Var, l deferred) *Var             { return op.recordLate(y, l) }
func (machinery[T]) Own(op Op, xs []*Var) bool                             { return op.own(xs) }
func (machinery[T]) FreshFloats(op Op, n int) []tensor.Float               { return op.freshFloats(n) }
func (machinery[T]) FreshScratch(op Op, n int, f func(buf []tensor.Float)) { op.freshScratch(n, f) }
func (machinery[T]) FreshGrad(x *Var) (g *tensor.Dense, fresh bool)        { return x.freshGrad() }
func (machinery[T]) Dry(op Op, scratch int) bool                           { return op.dry(scratch) }
func (machinery[T]) Measuring(op Op) bool                                  { return op.measuring() }
func (machinery[T]) Packings(op Op, w *Var) (ahead, back *tensor.Packed)   { return op.packings(w) }
func (machinery[T]) NewFrame(op Op, shape ...int) *frame                   { return op.newFrame(shape...) }
func (machinery[T]) BeginLoop(rows int, xs ...*Var) *loop                  { return beginLoop(rows, xs...) }
func (machinery[T]) RoundOf(x *Var) *Var                                   { return roundOf(x) }
func (machinery[T]) BeginOver(name string, x *Var, xs ...*Var) (op Op, z []tensor.Float) {
	return beginOver(name, x, xs...)
}
func (machinery[T]) BeginWithout(name string, aside *Var, xs ...*Var) Op {
	return beginWithout(name, nil, aside, xs)
}
func (machinery[T]) Projected(x *Var) *projection         { return x.projected() }
func (machinery[T]) KeepProducts(t *Tape, x tensor.Array) { t.keepProducts(x) }

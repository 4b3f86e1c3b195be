package grad

import "github.com/edgewise-ml/edgewise/tensor"

// KeepWeights says that no Param changes until it is called again or the tapes are no
// longer used. A Param that t or one of the others, which must be of [NewEval], multiplies
// with more than once is packed once for all their products, across Resets: what
// generates a token at a time spends much of its time in packing, or in products of few
// rows with what is not packed. No bit changes. The copies take as much memory as the
// Params, until the tapes are collected.
func (t *Tape) KeepWeights(others ...*Tape) {
	if t == nil {
		return
	}
	if t.kept == nil {
		t.kept = &keptWeights{}
	}
	for _, k := range t.kept.of {
		k.calls = 0
	}
	for _, o := range append(others, t) {
		if !o.never {
			panic(&TapeError{Op: "KeepWeights", Why: "the tape records, and training changes its Params; call it on one of NewEval"})
		}
		o.kept = t.kept
	}
}

// keptWeights are the packed copies of Params.
type keptWeights struct{ of map[keptAs]*keptWeight }

// keptAs is where a Param's elements begin, and whether it is packed transposed.
type keptAs struct {
	at *tensor.Float
	f  tensor.Flags
}

// keptWeight is one of them, there from the second product on.
type keptWeight struct {
	calls, rows, columns int
	packed               tensor.Packed
}

// kept returns the packed copy of w, with [tensor.TransB] of its transpose, or nil.
func (op Op) kept(w *Var, f tensor.Flags) *tensor.Packed {
	t := op.tape
	if t == nil || t.kept == nil || !w.param || w.val.Axes() != 2 || len(w.val.Data) == 0 {
		return nil
	}
	if t.kept.of == nil {
		t.kept.of = map[keptAs]*keptWeight{}
	}
	at, rows, columns := keptAs{&w.val.Data[0], f}, w.val.Dim(0), w.val.Dim(1)
	k := t.kept.of[at]
	if k == nil {
		k = &keptWeight{rows: rows, columns: columns}
		t.kept.of[at] = k
	}
	if k.rows != rows || k.columns != columns { // a part of it is a Param of its own
		return nil
	}
	if k.calls++; k.calls == 2 {
		k.packed.Set(&w.val, f)
	}
	if k.calls == 1 {
		return nil
	}
	return &k.packed
}

// multiply sets y to x·w, and does what then says; x is dense.
func (op Op) multiply(y *tensor.Dense, x, w *Var, then tensor.Epilogue) {
	if p := op.kept(w, 0); p != nil {
		tensor.MatMulPackedThen(matrix(y), matrix(&x.val), p, 0, then)
		return
	}
	tensor.MatMulThen(matrix(y), matrix(&x.val), &w.val, 0, then)
}

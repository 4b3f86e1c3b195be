package grad

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Weights are packed copies of the matrices of a model, with which products of few rows are
// faster: an inference of one sentence, or a token at a time. Any number of tapes, on
// any number of goroutines, share one set:
//
//	var packed grad.Weights // one for all
//	…
//	t := grad.NewEval() // one for each goroutine
//	t.UseWeights(&packed)
//
// A Param is packed when it is multiplied with for the second time, on whichever tape, and so is
// its transpose. So a set takes as much memory as the Params that are used in one of these ways,
// and twice that of those used in both, however many tapes there are. No bit of a result changes.
// The copies live until the set is collected.
//
// A Param that has changed is packed anew when it is next multiplied with: after a step of
// an optimiser, an update of a running statistic, an EMA.Swap or a Load. A program
// that writes elements of p.Value itself calls [Param.Changed]. If it does not, a change
// of most elements is noticed, and one of a few may not be. As with every inference,
// nothing may write to a Param while a tape uses it.
//
// The zero value is an empty set. A set must not be copied.
type Weights struct {
	of sync.Map // from a *Param to its *packedParam
}

// UseWeights has t multiply with the packed copies of w, from the next [Tape.Use] of each
// Param on and across Resets. t is one of [NewEval]. If w is nil, t does without again.
func (t *Tape) UseWeights(w *Weights) {
	if t == nil {
		return
	}
	if !t.never {
		panic(&TapeError{Op: "UseWeights", Why: "the tape records, and training changes its Params; call it on one of NewEval"})
	}
	t.weights = w
}

// param returns what w has of p, or nil if p is no matrix.
func (w *Weights) param(p *Param) *packedParam {
	if w == nil || p.Value.Axes() != 2 || len(p.Value.Data) == 0 {
		return nil
	}
	if known, ok := w.of.Load(p); ok {
		return known.(*packedParam)
	}
	entry, _ := w.of.LoadOrStore(p, &packedParam{param: p})
	return entry.(*packedParam)
}

// packedParam is a Param in a set, as it is and transposed.
type packedParam struct {
	param         *Param
	ahead, turned packedSide
}

// packedSide is a Param as one kind of product reads it. What is in now is never written to again.
type packedSide struct {
	used atomic.Bool // in a product
	busy sync.Mutex  // of the goroutine that packs
	now  atomic.Pointer[packing]
}

// packing is a packed copy, and what its Param was when it was made.
type packing struct {
	copy    tensor.Packed
	of      *tensor.Float // where the elements began
	shape   [2]int
	changes uint64
	samples [sampled]tensor.Float
}

// sampled is of how many elements a packed copy remembers the values.
const sampled = 64

// packed returns the packed copy of v, the value of w's Param, with [tensor.TransB] of its transpose, or nil. Of no Param it
// is nil.
func (w *packedParam) packed(v *tensor.Dense, f tensor.Flags) *tensor.Packed {
	if w == nil {
		return nil
	}
	s := &w.ahead
	if f == tensor.TransB {
		s = &w.turned
	}
	if now := s.now.Load(); now != nil && now.is(w.param, v) {
		return &now.copy
	}
	if !s.used.Swap(true) || !s.busy.TryLock() { // one product alone is not worth a copy, nor is one to be waited for
		return nil
	}
	defer s.busy.Unlock()
	if now := s.now.Load(); now != nil && now.is(w.param, v) { // another goroutine has just made it
		return &now.copy
	}
	made := newPacking(w.param, v, f)
	s.now.Store(made)
	return &made.copy
}

// newPacking packs v, the value of p.
func newPacking(p *Param, v *tensor.Dense, f tensor.Flags) *packing {
	k := &packing{of: &v.Data[0], shape: [2]int{v.Dim(0), v.Dim(1)}, changes: p.changes}
	for i := range k.samples {
		k.samples[i] = v.Data[sampleAt(i, len(v.Data))]
	}
	k.copy.Set(v, f)
	return k
}

// is reports whether v, the value of p, is as it was when k was made, as far as can be seen.
func (k *packing) is(p *Param, v *tensor.Dense) bool {
	if k.changes != p.changes || k.shape != [2]int{v.Dim(0), v.Dim(1)} || k.of != &v.Data[0] {
		return false
	}
	for i, was := range k.samples {
		if now := v.Data[sampleAt(i, len(v.Data))]; now != was && (now == now || was == was) {
			return false
		}
	}
	return true
}

// sampleAt returns the place of sample i among n elements. The golden ratio spreads them
// evenly and over all columns, whatever their number.
func sampleAt(i, n int) int {
	at, _ := bits.Mul64(uint64(i)*0x9E3779B97F4A7C15, uint64(n))
	return int(at)
}

// multiply sets y to x·w, and does what then says; x is dense.
func (op Op) multiply(y *tensor.Dense, x, w *Var, then tensor.Epilogue) {
	if p := w.packs.packed(&w.val, 0); p != nil {
		tensor.MatMulPackedThen(matrix(y), matrix(&x.val), p, 0, then)
		return
	}
	tensor.MatMulThen(matrix(y), matrix(&x.val), &w.val, 0, then)
}

// kept are products of an array with Params, which outlive Resets.
type kept struct {
	of       tensor.Array
	products []keptProduct
}

// keptProduct is a(x·w + b). What w and b are is said by where their elements begin and by w's shape.
type keptProduct struct {
	w, b *tensor.Float
	cols int
	act  string
	y    *tensor.Dense
}

// keepProducts has t, one of [NewEval], work out the products of x with Params once and keep them across Resets: for layers that
// run on the same rows again and again, with another part of a graph each time. x, a [*tensor.Dense] or a [*sparse.CSR], and the
// Params must stay as they are. Each product takes memory of its own until keepProducts is called again; if x is nil, t keeps none.
// No bit of a result changes.
func (t *Tape) keepProducts(x tensor.Array) {
	if !t.never {
		panic(&TapeError{Op: "KeepProducts", Why: "the tape records, and training changes its Params; call it on one of NewEval"})
	}
	t.kept = kept{of: x}
}

// keeps reports whether products of x are kept.
func (t *Tape) keeps(x *Var) bool {
	if t == nil {
		return false
	}
	switch of := t.kept.of.(type) {
	case *sparse.CSR:
		return of == x.csr
	case *tensor.Dense:
		return x.csr == nil && len(of.Data) > 0 && len(x.val.Data) > 0 && &of.Data[0] == &x.val.Data[0] && slices.Equal(of.Shape(), x.val.Shape())
	}
	return false
}

// keptProduct returns a(x·w + b), without b if that is nil, which of works out; or nil if it is not kept.
func (x *Var) keptProduct(w, b *Var, a string, of func(x, w, b *Var) *Var) *Var {
	if x == nil || w == nil || !w.tape.keeps(x) {
		return nil
	}
	t, sh := w.tape, x.Shape()
	if !t.isParam(w) || b != nil && !t.isParam(b) || w.val.Axes() != 2 || sh[len(sh)-1] != w.Dim(0) || len(w.val.Data) == 0 {
		return nil
	}
	t.heed()
	k := keptProduct{w: &w.val.Data[0], cols: w.Dim(1), act: a}
	if b != nil {
		k.b = &b.val.Data[0]
	}
	for _, p := range t.kept.products {
		if k.y = p.y; p == k {
			return t.Input(p.y)
		}
	}
	if b != nil {
		b = Const(&b.val)
	}
	k.y = of(Const(t.kept.of), Const(&w.val), b).Value()
	t.kept.products = append(t.kept.products, k)
	return t.Input(k.y)
}

// isParam reports whether w is a Param on t, or a part of one.
func (t *Tape) isParam(w *Var) bool {
	root, _ := w.origin()
	for _, v := range t.uses {
		if v.body == root.body {
			return true
		}
	}
	return false
}

package grad

import (
	"math/bits"
	"sync"
	"sync/atomic"

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

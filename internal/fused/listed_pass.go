package fused

import (
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// listedStage is which of the three walks is made.
type listedStage int

const (
	listedAttend  listedStage = iota // forward, of destinations
	listedRetrace                    // backward, of destinations
	listedReturn                     // backward, of sources
)

// listedPass is a walk of all nodes, in parts.
type listedPass struct {
	k     *Listed
	stage listedStage
	edges *sparse.CSR    // of destinations or, transposed, of sources
	perm  []int32        // of sources: the numbers of their edges
	walk  attend.DotWalk // of all nodes
	slow  bool           // every node is done alone, the slow way
	odd   atomic.Bool    // one was
	cuts  []int
}

var listedPasses = sync.Pool{New: func() any { return new(listedPass) }}

func newListedPass(k *Listed, edges *sparse.CSR, stage listedStage) *listedPass {
	t := listedPasses.Get().(*listedPass)
	t.k, t.slow = k, false
	t.odd.Store(false)
	t.walk = attend.DotWalk{Q: k.Q, K: k.K, V: k.V, Scale: k.Scale}
	t.begin(edges, stage)
	return t
}

// begin makes t a walk of nodes with other edges.
func (t *listedPass) begin(edges *sparse.CSR, stage listedStage) {
	t.edges, t.stage, t.walk.Cols = edges, stage, edges.Cols
}

func (t *listedPass) release() {
	t.k, t.edges, t.perm, t.walk = nil, nil, nil, attend.DotWalk{}
	listedPasses.Put(t)
}

// Chunk does one part.
func (t *listedPass) Chunk(i int) {
	w := t.walk
	work := scratch.Borrow(attend.DotWork)
	defer scratch.Repay(work)
	w.Work = *work
	if t.k.Drop != nil && (*vec.Dropout)(t.k.Drop).On() {
		kept := scratch.Borrow(8 * (attend.DotMost + 1))
		defer scratch.Repay(kept)
		w.Kept = *kept
	}
	for v, end := t.cuts[i], t.cuts[i+1]; v < end; {
		done := 0
		if !t.slow {
			t.nodes(&w, v)
			w.Offsets = t.edges.Offsets[v : min(end, v+attend.DotMost)+1]
			done = t.call(&w)
		}
		if done == 0 {
			t.alone(&w, v)
			done = 1
		}
		v += done
	}
}

// nodes tells w where the rows of nodes from v on are.
func (t *listedPass) nodes(w *attend.DotWalk, v int) {
	from := func(x []tensor.Float, n int) []tensor.Float {
		if x == nil {
			return nil
		}
		return x[v*n:]
	}
	const row = attend.DotRow
	switch t.stage {
	case listedAttend:
		w.Q, w.Y, w.Add, w.Rec = from(t.walk.Q, row), from(t.walk.Y, row), from(t.walk.Add, row), from(t.walk.Rec, attend.DotRecord)
		w.Stream = len(t.walk.Y) >= cpu.StreamFrom
	case listedRetrace:
		w.Q, w.R, w.DQ = from(t.walk.Q, row), from(t.walk.R, row), from(t.walk.DQ, row)
		w.Rec = from(t.walk.Rec, attend.DotRecord)
	default:
		w.K, w.V, w.DK, w.DV = from(t.walk.K, row), from(t.walk.V, row), from(t.walk.DK, row), from(t.walk.DV, row)
	}
}

// call takes as many of w's nodes as one call does, and returns their number.
func (t *listedPass) call(w *attend.DotWalk) int {
	lo, hi := w.Offsets[0], w.Offsets[len(w.Offsets)-1]
	t.keep(w.Kept, int(lo), int(min(hi, lo+attend.DotMost)))
	switch t.stage {
	case listedAttend:
		return w.Attend()
	case listedRetrace:
		return w.Retrace()
	}
	return w.Return()
}

// keep sets kept to what dropout multiplies the weights of edges from lo up to hi with, if there
// is any.
func (t *listedPass) keep(kept []tensor.Float, lo, hi int) {
	if kept == nil {
		return
	}
	d, x := (*vec.Dropout)(t.k.Drop), kept[:8*(hi-lo)]
	for i := range x {
		x[i] = 1
	}
	clear(kept[len(x) : len(x)+8])
	if t.stage != listedReturn {
		d.Set(x, x, lo, 8)
		return
	}
	for i, edge := range t.perm[lo:hi] {
		d.Set(x[8*i:8*i+8], x[8*i:8*i+8], int(edge), 8)
	}
}

// alone does node v, of which a call has too many edges, or a score that it does not take.
func (t *listedPass) alone(w *attend.DotWalk, v int) {
	t.nodes(w, v)
	lo, hi := t.edges.Offsets[v], t.edges.Offsets[v+1]
	if !t.slow && hi-lo > attend.DotMost && t.long(w, lo, hi) {
		return
	}
	t.odd.Store(true)
	all := *w
	all.Offsets = t.edges.Offsets[v : v+2]
	if w.Kept != nil {
		kept := scratch.Borrow(8 * int(hi-lo+1))
		defer scratch.Repay(kept)
		t.keep(*kept, int(lo), int(hi))
		all.Kept = *kept
	}
	switch t.stage {
	case listedAttend:
		all.AttendOdd()
	case listedRetrace:
		all.RetraceOdd()
	default:
		all.ReturnOdd()
	}
}

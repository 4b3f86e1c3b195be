package exec

import (
	"sync"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// worker is one thread's scratch in a pass over the edges.
type worker struct {
	pass   *pass
	plan   *plan.Plan   // the pass's
	graph  *graph.Graph // the pass's
	window *window      // takes gradients of leaves; nil: forward, or none does now
	limit  int          // the most edges of a tile

	scratch  []tensor.Float
	values   [][]tensor.Float // of each step, for one tile
	grads    [][]tensor.Float // gradients of the values, where they are at the moment
	gradRoom [][]tensor.Float // and where each has room of its own
	hasGrad  []bool           // a gradient has come in
	fixedFor [2]int           // the pass and the edges for which steps that are fixed have been computed

	dst    []int32        // the destination of each edge of the tile
	dstOf  tile           // of which dst tells
	rows   []int32        // the row that each edge reads
	kinds  []int32        // the kind of each edge of the tile,
	kindOf pickedTile     // of which kinds tells
	tmp    []tensor.Float // of the widest step, for one tile
	mix    []tensor.Float // three messages, and more
	carry  []tensor.Float // what reducers carry from one part of a destination to the next

	edgeRows attend.EdgeRows // of the edges of a tile
	span     [2]int64        // its Offsets, of a part

	operand  ops.Tile // what an operation is handed, and
	room     ops.Room
	arrivals ops.Arrivals                  // a reducer;
	arriving arriving                      // where these are
	again    func(f func(d *ops.Arrivals)) // seeAgain, once it has been asked for

	chunk       chunk          // backward: what is being done,
	partial     []tensor.Float // and its partial sums
	inEdgeSums  []tensor.Float // at the destination in parts: what the gradients across its edges sum
	messageGrad []tensor.Float // a row for each destination of a tile: the gradient of its messages,
	scaledGrad  []tensor.Float // and its product with what all share
	walkScratch []tensor.Float // of walkBack

	unwantedTile  []tensor.Float // gradients that are not wanted: of leaves now,
	unwantedEdges []tensor.Float // of edges
	unwantedRows  []tensor.Float // and of destinations
}

var workers = sync.Pool{New: func() any { return new(worker) }}

// newWorker returns a worker for edges that are no more than most; see readyWorker.
func (p *pass) newWorker(most int) *worker {
	w := workers.Get().(*worker)
	w.pass, w.plan, w.graph, w.window, w.dstOf = p, p.plan, p.graph, nil, tile{hi: -1}
	limit := min(p.limit, max(most, 1))
	w.limit = limit
	wide := p.stats.columns
	for i := range w.plan.Steps {
		wide = max(wide, w.plan.Steps[i].Width)
	}
	size := w.plan.Width
	if p.backward {
		size = w.plan.BackWidth
	}
	n := len(w.plan.Steps)
	w.scratch = resize(w.scratch, size*limit)
	w.values, w.grads, w.gradRoom, w.hasGrad = resize(w.values, n), resize(w.grads, n), resize(w.gradRoom, n), resize(w.hasGrad, n)
	w.dst, w.rows, w.kinds, w.kindOf = resize(w.dst, limit), resize(w.rows, limit), resize(w.kinds, limit), pickedTile{}
	w.tmp, w.mix = resize(w.tmp, wide*limit), resize(w.mix, wide*max(limit, 4))
	w.operand.Room, w.room.Tmp, w.room.Mix = &w.room, w.tmp, w.mix
	w.inEdgeSums = resize(w.inEdgeSums, p.stats.columns)
	w.layOut()
	return w
}

// layOut gives the values and gradients of all steps their places in scratch.
func (w *worker) layOut() {
	limit := w.limit
	for i := range w.plan.Steps {
		s := &w.plan.Steps[i]
		at := s.At
		if w.pass.backward {
			at, w.gradRoom[i] = s.BackAt, nil
			if s.GradAt >= 0 {
				w.gradRoom[i] = w.scratch[s.GradAt*limit : (s.GradAt+s.Width)*limit]
			}
		}
		if !s.InArray() && !(w.pass.backward && s.Skipped) {
			w.values[i] = w.scratch[at*limit : (at+s.Width)*limit]
		}
	}
}

// spoil spoils what holds anything until it is set; what is fixed for a pass is made next.
// All but the largest may become longer on the way: of those as much as such a pass uses is
// spoilt, and not the megabytes that one of many edges has left behind.
func (w *worker) spoil() {
	spoil.Floats(w.scratch)
	spoil.Floats(w.tmp)
	used := max(len(w.scratch)+len(w.tmp), 1<<12)
	for _, x := range [...][]tensor.Float{w.mix, w.unwantedTile, w.inEdgeSums, w.unwantedEdges, w.unwantedRows, w.walkScratch, w.messageGrad, w.scaledGrad} {
		spoil.Floats(x[:min(cap(x), used)])
	}
	spoil.Ints(w.dst)
	spoil.Ints(w.rows)
	spoil.Ints(w.kinds)
}

// release hands a worker back. After a panic it is left to the collector.
func (w *worker) release() {
	w.pass, w.plan, w.graph, w.window, w.partial, w.edgeRows, w.kindOf = nil, nil, nil, nil, nil, attend.EdgeRows{}, pickedTile{}
	w.operand, w.arrivals = ops.Tile{}, ops.Arrivals{}
	w.room.Forget()
	clear(w.values)
	clear(w.grads)
	clear(w.gradRoom)
	workers.Put(w)
}

// pickedTile is a step that picks, and a tile.
type pickedTile struct {
	step *plan.Step
	tile tile
}

// kindsOf returns which of the rows of its row each edge of a tile takes.
func (w *worker) kindsOf(s *plan.Step, t tile) []int32 {
	if x := w.pass.eval.attribute(s); !x.ByOffset {
		return x.Rows[t.lo:t.hi]
	}
	if now := (pickedTile{s, t}); w.kindOf != now {
		w.kindOf = now
		w.pass.kindsOf(s, chunk{lo: t.lo, hi: t.hi, r0: t.r0, r1: t.r1}, w.kinds)
	}
	return w.kinds[:t.hi-t.lo]
}

// destinations returns the destination of each edge of a tile.
func (w *worker) destinations(t tile) []int32 {
	if w.dstOf != t {
		w.dstOf = t
		w.pass.eachRow(t, func(v, lo, hi int) {
			for e := lo; e < hi; e++ {
				w.dst[e] = int32(v)
			}
		})
	}
	return w.dst[:t.hi-t.lo]
}

// gradOf returns where the gradient of step i is added to. If fresh is set,
// nothing is there yet, and the caller writes it.
func (w *worker) gradOf(i int) (dx []tensor.Float, fresh bool) {
	fresh = !w.hasGrad[i]
	w.hasGrad[i] = true
	return w.grads[i], fresh
}

// handOn makes dy the gradient of step i, or adds it. Where nothing else is added
// to that, it is the same array.
func (w *worker) handOn(i int, dy []tensor.Float) {
	if !w.hasGrad[i] && w.plan.Steps[i].Uses == 1 && !w.plan.Steps[i].Gathers() { // as in plan.Plan.handsOn
		w.hasGrad[i], w.grads[i] = true, dy
		return
	}
	dx, fresh := w.gradOf(i)
	if fresh {
		copy(dx, dy)
		return
	}
	vec.Add.Forward(dx, dx, dy, 1, 1)
}

// arriving is where the columns that arrive stand: in a message, in a row of the result, and among
// the arrays that are kept.
type arriving struct{ v, at, out, floats, edges int }

// array returns what a leaf's step reads.
func (w *worker) array(i int) []tensor.Float { return w.pass.data[w.plan.Steps[i].Var] }

// toSum returns where gradients of W are added.
func (w *worker) toSum(i int) []tensor.Float {
	n := w.plan.Steps[i].Width
	if k := w.window.leafOf[i]; k != nil {
		return w.partial[k.at : k.at+n]
	}
	w.mix = resize(w.mix, max(n, cap(w.mix)))
	return w.mix[:n]
}

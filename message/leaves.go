package message

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// sink is where the gradient of a leaf goes.
type sink struct {
	*step
	run *run
	i   int            // of the step
	dx  []tensor.Float // the gradient of the leaf's array
	row int            // elements of one row there
	win []tensor.Float // gathers: a row for each edge of the window, or with two the numbers for each place
	to  []int32        // gathers: where in dx that belongs, in rows of the leaf's width
	at  int            // sums: where in a chunk's partial sums
	add []tensor.Float // dx of another leaf with other rows in the same memory, to which dx is added at last
	new bool           // dx holds anything until a chunk clears the rows of its destinations
	two *step          // the score of which edges keep two numbers a head, instead of a row; see backPass.give
}

// gathers reports whether the rows that a leaf reads lie anywhere, so that two
// chunks may want to add to one of them.
func (s *step) gathers() bool { return s.kind == leafU || s.kind == leafW && s.taken }

// keeps is how many numbers of an edge are kept in the window.
func (k *sink) keeps() int {
	if k.two != nil {
		return 2 * k.two.width
	}
	return k.width
}

// sums reports whether chunks may have to add to the same row of a leaf, each
// for a run of its edges: W to its one row, V to that of a destination in parts.
func (s *step) sums() bool { return s.kind == leafV || s.kind == leafW && !s.taken }

// aim finds the leaves whose gradients are wanted, and the number of partial sums
// that a chunk needs for them.
func (b *backPass) aim() {
	r := b.run
	b.sinks, b.sinkOf, b.width = resize(b.sinks, len(r.steps))[:0], resize(b.sinkOf, len(r.steps)), 0
	for i := range r.steps {
		s := &r.steps[i]
		b.sinkOf[i] = nil
		if s.kind > leafW || !s.needs {
			continue
		}
		b.sinks = append(b.sinks, sink{step: s, run: r, i: i, row: s.width})
		k := &b.sinks[len(b.sinks)-1]
		k.open()
		b.sinkOf[i] = k
		if s.taken {
			k.row *= s.from
			k.countable()
		}
		if s.sums() {
			k.at = b.width
			b.width += k.row
		}
		k.avoid(r.op, b.sinks[:len(b.sinks)-1])
	}
	if r.both >= 0 {
		b.sinkOf[r.out().a].two = &r.steps[r.both]
	}
	b.clearShared()
}

// clearShared clears now what two leaves will add to.
func (b *backPass) clearShared() {
	for i := range b.sinks {
		k := &b.sinks[i]
		shared := func(o sink) bool { return o.i != k.i && overlap(o.dx, k.dx) }
		if k.new && slices.ContainsFunc(b.sinks, shared) {
			k.clear(0, b.run.g.NumDst())
			k.new = false
		}
	}
}

// open finds the gradient of the leaf's array. Rows of destinations need not be
// zero yet.
func (k *sink) open() {
	x := k.run.vars[k.leaf]
	if k.kind != leafV || k.moved || k.taken {
		k.dx = x.Grad().Data
		return
	}
	g, fresh := x.FreshGrad()
	if k.dx, k.new = g.Data, fresh; fresh { // on a block there may be more rows than destinations
		n := k.run.g.NumDst()
		k.clear(n, len(k.dx)/max(k.row, 1))
	}
}

// clear empties the rows of the destinations from r0 to r1 if they are new.
func (k *sink) clear(r0, r1 int) {
	if k.new && !k.run.op.Measuring() {
		clear(k.dx[r0*k.row : r1*k.row])
	}
}

// countable panics if the rows of a picked leaf cannot be counted in 32 bits.
func (k *sink) countable() {
	if n := len(k.dx) / max(k.width, 1); n > math.MaxInt32 {
		panic(&tensor.ShapeError{Op: "message.Pick", Shapes: [][]int{slices.Clone(k.run.vars[k.leaf].Shape())}, Why: fmt.Sprintf("%d rows to pick from, more than 2³¹−1", n)})
	}
}

// avoid gives a sink memory of its own if chunks would otherwise add to one
// element through two leaves: the rows of V and of E, or of two views.
func (k *sink) avoid(op grad.Op, others []sink) {
	if k.kind != leafV && k.kind != leafE {
		return
	}
	for i := range others {
		o := &others[i]
		if (o.kind == leafV || o.kind == leafE) && overlap(k.dx, o.dx) {
			k.add, k.dx = k.dx, op.Floats(len(k.dx))
			return
		}
	}
}

func overlap(x, y []tensor.Float) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	start := func(s []tensor.Float) uintptr { return uintptr(unsafe.Pointer(&s[0])) }
	end := func(s []tensor.Float) uintptr { return uintptr(unsafe.Pointer(&s[len(s)-1])) }
	return start(x) <= end(y) && start(y) <= end(x)
}

// deliver adds the gradients of a tile to the leaves' arrays, those of sums to
// the chunk's partial sums, or puts them into the window.
func (k *sink) deliver(w *worker, t tile, c chunk, partial []tensor.Float) {
	x := w.adj[k.i]
	switch {
	case k.two != nil: // pullScore has
	case k.gathers():
		if !w.has[k.i] {
			clear(x)
		}
	case !w.has[k.i]:
	case k.kind == leafW:
		simd.AddRows(partial[k.at:k.at+k.width], x)
	case k.kind == leafV:
		k.deliverV(w, t, c, partial)
	case !k.taken:
		add(k.dx[t.lo*k.width:t.hi*k.width], x)
	default:
		for e := range t.hi - t.lo {
			at := w.leafAt(k.step, t, e)
			add(k.dx[at:at+k.width], x[e*k.width:(e+1)*k.width])
		}
	}
}

func (k *sink) deliverV(w *worker, t tile, c chunk, partial []tensor.Float) {
	x, n := w.adj[k.i], k.width
	if c.hub < 0 && !k.taken && !k.moved {
		w.sumRows(k.dx, x, t, n)
		return
	}
	w.eachRow(t, func(v, lo, hi int) {
		dx := k.rowOf(v)
		if c.hub >= 0 {
			dx = partial[k.at : k.at+k.row]
		}
		if !k.taken {
			simd.AddRows(dx, x[lo*n:hi*n])
			return
		}
		for e := lo; e < hi; e++ {
			at := int(w.kinds(k.step)[t.lo+e]) * n
			add(dx[at:at+n], x[e*n:e*n+n])
		}
	})
}

// rowOf returns the gradient of the row that V reads at v.
func (k *sink) rowOf(v int) []tensor.Float {
	if k.moved {
		v = int(k.run.drow[v])
	}
	return k.dx[v*k.row : (v+1)*k.row]
}

// collect adds a chunk's partial sums.
func (k *sink) collect(c chunk, partial []tensor.Float) {
	switch part := partial[k.at : k.at+k.row]; {
	case k.kind == leafW:
		add(k.dx, part)
	case c.hub >= 0:
		add(k.rowOf(c.r0), part)
	}
}

package sequence

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Chains do not depend on each other. So a recurrence over chains whose step is a product with U and otherwise works
// row by row need not go level by level, as a Sweep does, with a loop of microseconds for each: it is one operation, in
// which a thread takes some chains through all of their steps. Values and gradients have the bits of the Sweep.

// chainPlan is where the nodes of chains stand. Row r of a level follows row r of the level before.
type chainPlan struct {
	*graph.Levels
	roots  int
	first  []int32 // of each row of level 0, the number of its root
	shared []int32 // zeros, for one state before all roots
	equal  bool    // all chains are of one length
}

type chainKey struct{}

// chainPlanOf returns the plan of g, or nil if it is no chains.
func chainPlanOf(g *graph.Graph) *chainPlan {
	return graph.Derive(g, chainKey{}, func() *chainPlan {
		levels, _ := g.Levels()
		out, _ := g.Out()
		for v := range g.NumNodes() {
			if g.InDegree(v) > 1 || out.Offsets[v+1]-out.Offsets[v] > 1 {
				return (*chainPlan)(nil)
			}
		}
		n := len(g.Roots())
		p := &chainPlan{levels, n, make([]int32, n), make([]int32, n), n*levels.Len() == g.NumNodes()}
		for i, v := range g.Roots() {
			p.first[levels.Rank[v]] = int32(i)
		}
		return p
	})
}

// span returns the rows of level n in chains lo to hi, without hi.
func (p *chainPlan) span(n, lo, hi int) span {
	at, next := p.Offsets, 0
	if n+2 < len(at) {
		next = at[n+2] - at[n+1]
	}
	s := span{lo: at[n] + lo, hi: min(at[n]+hi, at[n+1]), last: at[n] + max(next, lo), from: lo, to: p.roots + at[n] + lo}
	if n > 0 {
		s.from += p.roots + at[n-1]
	}
	return s
}

// span is rows lo to hi, without hi, of a level, of which those from last on end their chains. In a frame of states the
// rows before them begin at from, and their own at to.
type span struct{ lo, hi, last, from, to int }

// chainLevels is from how many levels on a recurrence is one operation: of fewer U is not worth packing. Tests set it.
var chainLevels = 4

const (
	chainWeight = 1 << 18 // elements of U: what the second cache keeps. Of a larger one the threads share out the columns
	chainWork   = 1 << 17 // multiply-adds of a step that a chunk has at least: some microseconds
	chainLeast  = 4       // chains in a chunk: so many rows multiply as long as U takes to come from the second cache
	chainMost   = 16
)

// recurrence is a recurrence over chains. What stands first is what its layer says.
type recurrence struct {
	like  cell
	plan  *chainPlan     // nil: g is no chains
	u     *grad.Var      // what the states are multiplied with
	xp    *grad.Var      // the share of the input in the order of the levels
	init  message.State  // before the roots
	drop  membersDropout // of what u reads
	apart bool           // the products with u are not added to xp
	bias  *grad.Var      // what else the cell reads, or nil

	op         grad.Op
	cell       chainCell
	w          tape.Rounds
	m, width   int  // columns of a state, and of a product
	blank      bool // the states before the roots are zeros that want no gradient
	back       bool
	by         int            // chains in a chunk, at least 2; no bit depends on it
	frames     []tape.Frame   // of each state, first those before the roots
	all        []*grad.Var    // and all that is in it
	h, read    []tensor.Float // the first state, and what u reads of it, row by row, if it is not all
	a, z       []tensor.Float // xp's elements, which the cell may overwrite, and the products: one unless they are apart
	dh, da, dz []tensor.Float
	rest       []tensor.Float // a row for each chain, and a few
}

// chainCell is what a step of a recurrence does behind its product.
type chainCell interface {
	// begin runs before forward of any rows, and again before backward.
	begin(r *recurrence)
	// forward makes the states of rows.
	forward(r *recurrence, s span)
	// backward sets da and dz of rows, and adds to the gradients of the states before. rest is room for two rows.
	backward(r *recurrence, s span, rest []tensor.Float)
	// end runs after backward of all rows.
	end(r *recurrence)
}

// run computes all chains, and returns the states in the graph's order; or nil where the levels are to be swept.
func (r *recurrence) run(t *grad.Tape, by chainCell) message.State {
	if t == nil || r.plan == nil || r.plan.Len() < chainLevels || len(r.u.Value().Data) > chainWeight || len(r.xp.Shape()) != 2 || !r.fits() {
		return nil
	}
	r.m, r.width = r.like.hidden, r.like.hidden*r.like.gates
	loop := tape.BeginLoop(len(r.plan.Order), r.u) // so that all of it is one entry of the tape
	defer func() { loop.End() }()
	r.begin()
	r.cell = by
	r.cell.begin(r)
	r.loop()
	out, rows := make(message.State, len(r.frames)), r.plan.roots+len(r.plan.Order)
	for i, f := range r.frames {
		out[i] = f.Room(r.plan.roots, rows)
	}
	tape.RecordAllBy(r.op, out, r)
	for i, f := range r.frames {
		f.Write(r.plan.roots, out[i])
		r.all = append(r.all, f.View(0, rows))
	}
	loop.End()
	for i, f := range slices.Backward(r.frames) { // as Sweep does: the first is the last on the tape
		sorted := f.SortedLater
		if i == 0 {
			sorted = f.Sorted
		}
		out[i] = sorted(r.plan.roots, r.plan.Order, r.plan.Rank)
	}
	return out
}

// fits reports whether init is as Sweep wants it, which says what is wrong with another.
func (r *recurrence) fits() bool {
	return !slices.ContainsFunc(r.init, func(x *grad.Var) bool {
		return x == nil || len(x.Shape()) != 2 || x.Dim(0) != r.init[0].Dim(0) || x.Dim(0) != 1 && x.Dim(0) != r.plan.roots
	})
}

// begin makes room and puts init where it belongs.
func (r *recurrence) begin() {
	p, n, rows := r.plan, len(r.plan.Order), r.plan.first
	if r.init[0].Dim(0) == 1 {
		rows = p.shared
	}
	operands, op := []*grad.Var{r.u}, grad.Begin(r.like.op, r.u)
	if r.bias != nil {
		operands = append(operands, r.bias)
	}
	for _, x := range r.init {
		f := tape.NewFrame(op, p.roots+n, r.m)
		f.Write(0, x.Rows(rows))
		r.frames, operands = append(r.frames, f), append(operands, f.View(0, p.roots))
	}
	before := operands[len(operands)-len(r.init)]
	r.op, r.a = tape.BeginOver(r.like.op, r.xp, operands...)
	if r.z = r.a; r.apart {
		r.z = tape.FreshFloats(r.op, n*r.width)
	}
	if r.drop.mask != nil {
		r.read = tape.FreshFloats(r.op, n*r.m)
	}
	for r.by = min(max(chainLeast, chainWork/(r.m*r.width)), chainMost); r.by > 3 && p.roots < r.by*par.Threads(); {
		r.by /= 2 // else a thread has none; two rows take little more than one
	}
	r.h, r.w = r.states(0), tape.NewRounds(r.op, r.u)
	r.blank = !before.Needs() && !slices.ContainsFunc(before.Value().Data, func(v tensor.Float) bool { return v != 0 })
}

// states returns state i of all rows, behind those before the roots.
func (r *recurrence) states(i int) []tensor.Float {
	return r.frames[i].Room(0, r.plan.roots+len(r.plan.Order)).Value().Data
}

// loop goes through all chains, and none under Measure.
func (r *recurrence) loop() {
	if !tape.Measuring(r.op) {
		par.Run((r.plan.roots+r.by-1)/r.by, r)
	}
}

// Chunk takes some chains through all of their steps.
func (r *recurrence) Chunk(i int) {
	lo := i * r.by
	hi, levels := min(lo+r.by, r.plan.roots), r.plan.Len()
	for n := range levels {
		if r.back {
			n = levels - 1 - n
		}
		switch s := r.plan.span(n, lo, hi); {
		case s.lo >= s.hi:
		case r.back:
			r.backward(n, s, r.rest[lo*r.m:(lo+r.by)*r.m])
		default:
			r.forward(n, s)
		}
	}
}

// forward makes the states of rows of level n.
func (r *recurrence) forward(n int, s span) {
	x, z := r.h[s.from*r.m:], r.z[s.lo*r.width:s.hi*r.width]
	if r.drop.mask != nil {
		from := x
		x = r.read[s.lo*r.m : s.hi*r.m]
		r.dropped(s, func(mask *vec.Dropout, lo, hi, row int) { mask.Set(x[lo:hi], from[lo:hi], row, r.m) })
	}
	if n > 0 || !r.blank {
		r.w.Multiply(z, x, s.hi-s.lo, r.apart)
	} else if r.apart {
		clear(z)
	}
	r.cell.forward(r, s)
}

// backward makes the gradients of rows of level n, and adds to those of the level before.
func (r *recurrence) backward(n int, s span, rest []tensor.Float) {
	r.cell.backward(r, s, rest)
	dz, dx := r.dz[s.lo*r.width:], r.dh[s.from*r.m:]
	switch {
	case n == 0 && r.blank:
	case r.drop.mask == nil:
		r.w.MultiplyBack(dx, dz, s.hi-s.lo)
	default:
		clear(rest)
		r.w.MultiplyBack(rest, dz, s.hi-s.lo)
		r.dropped(s, func(mask *vec.Dropout, lo, hi, row int) { mask.Add(dx[lo:hi], rest[lo:hi], row, r.m) })
	}
	if r.read == nil && !r.plan.equal { // so that one product can read it; the gradients there are done with
		copy(r.dh[s.to*r.m:(s.to+s.hi-s.lo)*r.m], r.h[s.from*r.m:])
	}
}

// dropped calls f for each row of s, whose elements are lo to hi of those of all: its mask is that of row row.
func (r *recurrence) dropped(s span, f func(mask *vec.Dropout, lo, hi, row int)) {
	for i, row := range r.drop.of[s.lo:s.hi] {
		f((*vec.Dropout)(r.drop.mask), i*r.m, (i+1)*r.m, int(row))
	}
}

// Pull runs backwards.
func (r *recurrence) Pull(*tensor.Dense) {
	r.dh, r.back = r.all[0].Grad().Data, true
	r.cell.begin(r)
	dx, fresh := tape.FreshGrad(r.xp)
	rest, size := (r.plan.roots+chainMost)*r.m, len(r.z)
	room := rest
	for _, own := range []bool{!fresh, r.apart} {
		if own {
			room += size
		}
	}
	tape.FreshScratch(r.op, room, func(buf []tensor.Float) {
		if r.rest, buf = buf[:rest], buf[rest:]; fresh {
			r.da = dx.Data
		} else {
			r.da, buf = buf[:size], buf[size:]
		}
		if r.dz = r.da; r.apart {
			r.dz = buf
		}
		r.loop()
		if r.pullWeight(); dx != nil && !fresh && !tape.Measuring(r.op) {
			vec.Add.Forward(dx.Data, dx.Data, r.da, 1, 1)
		}
		r.cell.end(r)
	})
}

// pullWeight adds to the gradient of U, as one product over all levels. States of zeros add nothing, but a long sum is
// cut by its length, so there they stay.
func (r *recurrence) pullWeight() {
	du, x, n, skip := r.u.Grad(), r.read, len(r.plan.Order), 0
	if du == nil || tape.Measuring(r.op) {
		return
	}
	if x == nil {
		if x = r.h; !r.plan.equal {
			x = r.dh[r.plan.roots*r.m:]
		}
	}
	if r.blank && n < tensor.SplitRows(r.width) {
		skip = r.plan.roots
	}
	var xs, dz tensor.Dense
	xs.Set(x[skip*r.m:n*r.m], n-skip, r.m)
	dz.Set(r.dz[skip*r.width:], n-skip, r.width)
	tensor.MatMul(du, &xs, &dz, tensor.TransA)
}

package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// loop is a computation that runs one body round by round, as a sweep over
// levels does. It is one operation on the tape, however many rounds it has, and
// a product with a matrix from outside adds to that matrix's gradient once,
// after the last round.
type loop struct {
	tape    *Tape
	outer   *loop
	rows    int    // of all rounds together, as far as is known
	nodes   []node // what the rounds recorded
	weights []*weight
	used    int // weights of this step; the others are kept for their memory
	sealed  bool
}

// beginLoop begins a loop on the tape of xs, in which rows rows are computed. It
// returns nil if none of xs is of a tape. Whatever the tape's Vars do from now
// on belongs to the loop, until End.
func beginLoop(rows int, xs ...*Var) *loop {
	t := Begin("Loop", xs...).tape
	if t == nil {
		return nil
	}
	l := t.newLoop()
	l.rows, l.outer = rows, t.loop
	t.loop = l
	return l
}

// End ends the loop. It may be called twice.
func (l *loop) End() {
	if l.tape.loop != l {
		return
	}
	l.tape.settle()
	l.tape.loop = l.outer
	if len(l.nodes) > 0 {
		l.tape.push("Loop", (*loopPull)(l))
	}
}

// roundOf returns x as the rounds of a loop on no tape read it: these tell the products
// that they make of it from others.
func roundOf(x *Var) *Var {
	if x.tape != nil {
		return x
	}
	y := x.Detach()
	y.step = true
	return y
}

// Seal says that no Var of the loop leaves it but through a [frame].
func (l *loop) Seal() { l.sealed = true }

// around reports whether l is a loop or one that this stands in.
func (l *loop) around(inner *loop) bool {
	for ; inner != nil; inner = inner.outer {
		if inner == l {
			return true
		}
	}
	return false
}

// loopPull is the pullback of a loop.
type loopPull loop

// Pull runs the pullbacks of the rounds, the last first, and then the products
// for the gradients of the weights.
func (l *loopPull) Pull(*tensor.Dense) {
	l.tape.pullNodes(l.nodes)
	for _, w := range l.weights[:l.used] {
		w.pull(l.tape)
	}
}

// newLoop returns an empty loop, which lives until the tape's next Reset.
func (t *Tape) newLoop() *loop {
	if t.loopsUsed == len(t.loops) {
		t.loops = append(t.loops, &loop{tape: t})
	}
	t.loopsUsed++
	return t.loops[t.loopsUsed-1]
}

// resetLoops takes back all loops, with their memory.
func (t *Tape) resetLoops() {
	for _, l := range t.loops[:t.loopsUsed] {
		clear(l.nodes)
		l.nodes, l.outer, l.sealed = l.nodes[:0], nil, false
		for _, w := range l.weights[:l.used] {
			w.reset()
		}
		l.used = 0
	}
	t.loop, t.loopsUsed = nil, 0
}

// weight is a matrix with which the rounds of a loop multiply.
type weight struct {
	w       *Var
	rows    int            // of all rounds together, as far as is known
	ahead   tensor.Packed  // w, from the second product on or, if more will come, the first
	shared  *tensor.Packed // w in the tape's Weights, instead of ahead
	back    tensor.Packed  // its transpose
	calls   int
	packed  bool // ahead is there
	turned  bool // and back
	factors []factor
	rooms   []*Var // for the products of all rounds, one behind the other
	filled  int    // elements in use of the last room
}

// factor is one round's product: y, or what was added to y, is x·w.
type factor struct{ x, y *Var }

// shares reports whether products with w are of all rounds: it comes from
// outside. A function that runs for its value alone gives its memory back in
// between, so that its rounds share nothing.
func (t *Tape) shares(w *Var) bool {
	return t != nil && t.loop != nil && w.made != t.loop && w.base == nil && t.inside != forward
}

// weight returns what the rounds share of products with w.
func (l *loop) weight(w *Var) *weight {
	for _, p := range l.weights[:l.used] {
		if p.w == w {
			return p
		}
	}
	if l.used == len(l.weights) {
		l.weights = append(l.weights, new(weight))
	}
	l.used++
	p := l.weights[l.used-1]
	p.w, p.rows = w, l.rows
	return p
}

// reset forgets everything but the memory.
func (p *weight) reset() {
	clear(p.factors)
	clear(p.rooms)
	*p = weight{ahead: p.ahead, back: p.back, factors: p.factors[:0], rooms: p.rooms[:0]}
}

// times returns x·w or, with z, z + x·w, in z's memory if that is free.
func (p *weight) times(op Op, x, z *Var) *Var {
	onto := z != nil && z.free() && (z.needs || !op.needs)
	var y *Var
	if onto {
		y = op.view(z, 0, z.Shape()...)
	} else {
		var room extents
		shape := append(room[:0], x.Shape()...)
		shape[len(shape)-1] = p.w.Dim(1)
		y = p.place(op, shape)
	}
	if !op.dry(0) {
		if z != nil && !onto {
			copy(y.val.Data, z.val.Data)
		}
		p.multiply(&y.val, x, z == nil)
	}
	p.note(op, x, y)
	n := note(op, roundNotes{p: p, x: x, sum: z != nil})
	if !onto {
		if n.z = z; z != nil {
			op.pulls(z, x)
		} else {
			op.pulls(x)
		}
		return op.recordBy(y, n)
	}
	op.pulls(x)
	y.sum, op.tape.sum = sumInPlace, y
	z.late.Store(givenUp)
	return op.recordBy(y, n)
}

// roundNotes is the pullback of a round's product, to which z was added unless
// it is nil.
type roundNotes struct {
	p    *weight
	x, z *Var
	sum  bool // something was added, z or what the product lies on
}

// took implements [taker].
func (n *roundNotes) took() string {
	if n.sum {
		return "MatMul"
	}
	return ""
}

// Pull adds to the gradients of x and z.
func (n *roundNotes) Pull(dy *tensor.Dense) {
	if n.z != nil {
		if dz := n.z.Grad(); dz != nil {
			addTo(dz.Data, dy.Data)
		}
	}
	n.p.pullX(n.x, dy)
}

// note keeps a product whose gradient w takes a part in.
func (p *weight) note(op Op, x, y *Var) {
	if op.needs && p.w.needs {
		p.factors = append(p.factors, factor{x, y})
	}
}

// place returns a Var for a product of the given shape. Those of all rounds lie
// one behind the other, and so do their gradients.
func (p *weight) place(op Op, shape []int) *Var {
	if !p.w.needs {
		return op.Fresh(shape...)
	}
	n, last := tensor.Size(shape...), len(p.rooms)-1
	if last < 0 || p.filled+n > len(p.rooms[last].val.Data) {
		room := op.Fresh(max(op.tape.loop.rows, leading(shape)), shape[len(shape)-1])
		room.needs, p.filled = true, 0
		p.rooms = append(p.rooms, room)
		last++
	}
	y := op.view(p.rooms[last], p.filled, shape...)
	p.filled += n
	return y
}

// multiply adds x·w to y, or sets y to it. One product alone is not worth a copy
// of w.
func (p *weight) multiply(sum *tensor.Dense, of *Var, set bool) {
	if of.isBlank() {
		if set {
			clear(sum.Data)
		}
		return
	}
	p.calls++
	y, x := matrix(sum), matrix(&of.val)
	w := p.packing(x.Rows())
	switch {
	case w == nil && set:
		tensor.MatMulThen(y, x, &p.w.val, 0, tensor.Epilogue{})
	case w == nil:
		tensor.MatMul(y, x, &p.w.val, 0)
	case set:
		tensor.MatMulPackedThen(y, x, w, 0, tensor.Epilogue{})
	default:
		tensor.MatMulPacked(y, x, w, 0)
	}
}

// packing returns what the next product, of so many rows, reads instead of w, or nil.
func (p *weight) packing(rows int) *tensor.Packed {
	if p.packed {
		return &p.ahead
	}
	if p.shared != nil {
		return p.shared
	}
	more := 3*rows < p.rows
	if p.shared = p.w.packs.packed(&p.w.val, 0); p.shared == nil && more {
		p.shared = p.w.packs.packed(&p.w.val, 0) // which counts as its second product
	}
	if p.shared != nil || p.calls != 2 && !more {
		return p.shared
	}
	p.ahead.Set(&p.w.val, 0)
	p.packed = true
	return &p.ahead
}

// pullX adds the gradient of a product to its x.
func (p *weight) pullX(x *Var, dy *tensor.Dense) {
	dx := x.Grad()
	if dx == nil || x.isBlank() {
		return
	}
	if p.calls == 1 {
		tensor.MatMul(matrix(dx), matrix(dy), &p.w.val, tensor.TransB)
		return
	}
	if !p.turned {
		p.back.Set(&p.w.val, tensor.TransB)
		p.turned = true
	}
	tensor.MatMulPacked(matrix(dx), matrix(dy), &p.back, 0)
}

// pull adds to w's gradient, as one product over all rounds.
func (p *weight) pull(t *Tape) {
	dw := p.w.Grad()
	if dw == nil || !slices.ContainsFunc(p.factors, func(f factor) bool { return f.y.asked() }) {
		return
	}
	factors, rows := p.counted()
	x := joined{t: t, n: rows * dw.Dim(0)}
	dy := joined{t: t, n: rows * dw.Dim(1)}
	for _, f := range factors {
		root, at := f.x.origin()
		x.add(root, root.val.Data, at, len(f.x.val.Data))
		root, at = f.y.origin()
		dy.add(root, root.Grad().Data, at, len(f.y.val.Data))
	}
	if !t.dry && rows > 0 {
		var xm, ym tensor.Dense
		xm.Set(x.data, rows, dw.Dim(0))
		ym.Set(dy.data, rows, dw.Dim(1))
		tensor.MatMul(dw, &xm, &ym, tensor.TransA)
	}
	x.end()
	dy.end()
	for _, y := range p.rooms {
		t.drop(y)
	}
}

// counted returns the products of which w's gradient is the sum, and their rows. The first
// adds nothing if its x is blank. But MatMul cuts a long sum into parts by its length, so
// there it stays.
func (p *weight) counted() (factors []factor, rows int) {
	for _, f := range p.factors {
		rows += leading(f.x.Shape())
	}
	if first := p.factors[0].x; first.isBlank() && rows < tensor.SplitRows(p.w.Dim(1)) {
		return p.factors[1:], rows - leading(first.Shape())
	}
	return p.factors, rows
}

// joined is the elements of several Vars one behind the other: where they lie,
// if they lie so, else in a copy.
type joined struct {
	t      *Tape
	n      int // of all together
	data   []tensor.Float
	root   *Var // of the last one, and the element behind it
	next   int
	copied bool
}

// add joins n elements of root from at on; all are root's elements, or their
// gradients.
func (j *joined) add(root *Var, all []tensor.Float, at, n int) {
	part := all[at : at+n]
	switch {
	case j.copied:
		j.data = append(j.data, part...)
	case j.root == nil:
		j.data = part
	case j.root == root && j.next == at:
		j.data = j.data[:len(j.data)+n]
	default:
		room, _ := j.t.lend(j.n)
		j.data = append(room[:0], j.data...)
		j.data, j.copied = append(j.data, part...), true
	}
	j.root, j.next = root, at+n
}

// end gives the copy back.
func (j *joined) end() {
	if j.copied {
		j.t.recycle(j.data)
	}
}

// packings packs w, a matrix, and where gradients are wanted its transpose, as a [loop] packs it: for an operation that
// computes all rounds of a recurrence by itself.
func (op Op) packings(w *Var) (ahead, back *tensor.Packed) {
	if op.measuring() {
		return nil, nil
	}
	p := &weight{w: w}
	if op.tape != nil {
		p = op.tape.newLoop().weight(w)
	}
	p.rows = 1 << 10 // for so many it is worth packing
	if ahead = p.packing(1); op.needs {
		p.back.Set(&w.val, tensor.TransB)
		back = &p.back
	}
	return ahead, back
}

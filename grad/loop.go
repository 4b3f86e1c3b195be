package grad

import "github.com/edgewise-ml/edgewise/tensor"

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

// Seal says that no Var of the loop leaves it but through a [frame]: one that is used after
// End is noticed, as a stale one is. Its header is used again, so after the tape's next
// Reset it would be another value.
func (l *loop) Seal() {
	l.sealed = true
}

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

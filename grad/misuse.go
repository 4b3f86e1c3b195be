package grad

import (
	"strings"
	"sync/atomic"
	"time"
)

// TapeError reports a mistake in the use of a tape, such as a Var of another one, of an
// option, or of something that is nil. Like a wrong shape it is a bug of the program, so
// operations panic with it; [tensor.Try] makes it an error.
type TapeError struct {
	Op  string // what was called, such as "layers.GATConv"; without a package, of grad
	Why string
}

// Mistake says that the program is wrong.
func (e *TapeError) Mistake() {}

func (e *TapeError) Error() string {
	if strings.Contains(e.Op, ".") {
		return e.Op + ": " + e.Why
	}
	return "grad." + e.Op + ": " + e.Why
}

// owner notices two goroutines on one tape. It cannot see every one of their
// meetings without a lock an operation, but it sees the usual ones, and what
// they would break says so, too, rather than that an index is out of range.
type owner struct {
	ticks uint32      // sections that are over
	open  int32       // operations that have begun and are not recorded; one that panicked stays
	once  atomic.Bool // a section runs that is rare enough for a lock
	back  atomic.Bool // Backward runs
}

// A section is a few instructions that change the tape. It begins with
//
//	at := t.ticks
//
// and ends with t.tick(at), which costs less than a nanosecond. Sections do not
// nest. One that panics leaves nothing behind.
func (o *owner) tick(at uint32) {
	if o.ticks != at {
		panic(shared("an operation"))
	}
	o.ticks = at + 1
}

// lock begins a section that no other goroutine can begin, and unlock ends it.
func (o *owner) lock(op string) {
	if !o.once.CompareAndSwap(false, true) {
		panic(shared(op))
	}
}

func (o *owner) unlock() { o.once.Store(false) }

// begin opens an operation.
func (o *owner) begin(op string) {
	o.open++
	if o.once.Load() {
		panic(shared(op))
	}
}

// alone panics if another goroutine is in the middle of an operation, whose
// operands Reset is about to take. Where an operation is open it looks for two
// microseconds whether anything moves: if not, that one has panicked.
func (o *owner) alone(op string) {
	at, begin := o.ticks, time.Now()
	for wait := 100 * time.Nanosecond; time.Since(begin) < wait; {
		if o.ticks != at {
			panic(shared(op))
		}
		if o.open != 0 {
			wait = 2 * time.Microsecond
		}
	}
	o.open = 0
}

// shared is the error of two goroutines on one tape.
func shared(op string) *TapeError {
	return &TapeError{Op: op, Why: "two goroutines use one tape; give each a tape of its own, the model may be the same"}
}

// rounds counts computations that are recorded one behind the other because Reset
// is not called between them.
type rounds struct {
	first int // operations that the first Backward met
	seen  int // and the last
	again int // Backwards that met as many new ones as the first
}

// forgotten is of how many rounds without a Reset it is said that it was forgotten.
const forgotten = 100

// count is called by each Backward on a tape of so many operations. Several
// losses of one computation, as for the rows of a Jacobian matrix, share most of
// it, and are no rounds.
func (r *rounds) count(op string, operations int) {
	if r.first == 0 {
		r.first = max(1, operations)
	} else if operations-r.seen >= r.first {
		r.again++
	}
	if r.seen = operations; r.again >= forgotten {
		panic(&TapeError{Op: op, Why: "the whole computation was recorded a hundred times without a Reset, so memory grows for ever; call the tape's Reset at the beginning of each step"})
	}
}

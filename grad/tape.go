package grad

import (
	"context"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Tape records a computation so that it can be differentiated. It serves one
// goroutine. A nil *Tape is valid: it records nothing and drops nothing. It has no memory of
// its own either: each operation allocates, and a large inference needs less with [NewEval].
type Tape struct {
	owner
	arena arena
	nodes []node // in the order they were made, so that backwards is topological
	eval  bool   // it records nothing now
	never bool   // nor ever

	seed, step uint64
	op         uint32 // dropouts so far in this step
	gen        uint32
	passes     uint32 // Backwards
	rounds     rounds

	uses    map[*Param]*Var
	leaves  []leaf // Params used and values watched, in that order
	updates []update

	loop      *loop // to which operations belong
	loops     []*loop
	loopsUsed int
	pulling   bool // pullbacks run, which read what loops made

	weights *Weights // nil: Params are not packed across Resets
	kept    kept     // products that outlive Resets

	waiting *late // the result that was not worked out yet, or nil
	sum     *Var  // the result of the last operation, if an activation may lie in its memory

	heads   []Var      // not in use yet
	bodies  slab[body] // of Vars
	vars    slab[Var]  // made in loops
	notes   []pile     // one of each type; they are few
	results []*Var     // of operations with several

	cancelled   <-chan struct{} // closed when the context of Within ends; nil: never
	interrupted bool            // and an operation has seen it

	label  string   // of the operations that follow
	prof   *profile // nil: no pprof labels
	inside section  // of a checkpointed function
	again  bool     // a checkpointed function runs for the second time
	runs   []uint32 // of checkpointed functions, one inside the other
	ran    uint32   // how many there were
	dry    bool     // kernels do not run
	traced bool     // nodes keep their operands
	bad    string   // the first operation whose pullback made a NaN or infinity
}

// node is one recorded operation, of one result or of several.
type node struct {
	op    string
	label string
	out   *Var   // nil of several
	outs  []*Var // if there are several
	by    pullback
	trace *trace
}

// trace is what an operation keeps on a tape that traces or runs dry.
type trace struct {
	xs      []*Var // its operands
	skip    bool   // its kernels do not run, nor does its pullback
	scratch int    // elements that the pullback borrows
	over    *Var   // the operand to which the result's gradient is handed over; nil: none
}

type leaf struct {
	param *Param
	v     *Var
	at    int // operations recorded before it: those read it that come after
}

type update struct {
	param *Param
	value *Var
}

// section is where a tape is in a checkpointed function.
type section uint8

const (
	outside section = iota
	forward         // runs for its value; nothing is recorded
	replay          // runs again, for its gradient
)

// NewTape returns a tape. Dropout is a function of the seed and the step.
func NewTape(seed uint64) *Tape {
	return &Tape{seed: seed, uses: map[*Param]*Var{}}
}

// NewEval returns a tape for inference: it records nothing and drops nothing,
// but recycles memory at each Reset.
func NewEval() *Tape { return &Tape{eval: true, never: true, uses: map[*Param]*Var{}} }

// Reset begins the next step. It takes back the memory of every Var of the last
// one; using such a Var from now on panics.
func (t *Tape) Reset() {
	if t == nil {
		return
	}
	if t.back.Load() {
		panic(shared("Reset while Backward runs"))
	}
	t.lock("Reset")
	defer t.unlock()
	t.alone("Reset")
	for i := range t.leaves {
		t.forget(t.leaves[i].v)
	}
	t.waiting, t.sum = nil, nil
	clear(t.nodes)
	clear(t.leaves)
	clear(t.updates)
	clear(t.uses)
	t.nodes, t.leaves, t.updates = t.nodes[:0], t.leaves[:0], t.updates[:0]
	t.resetLoops()
	t.resetNotes()
	t.resetVars()
	t.arena.reset()
	t.gen++
	t.step++
	t.op = 0
	t.bad = ""
	t.rounds = rounds{}
	t.eval = t.never
}

// ResetEval is [Tape.Reset] for an evaluation: until the next Reset t records
// nothing and drops nothing, as a tape of [NewEval] does, and it works in the
// memory of the step before, which is still near the processor. Steps do not
// count it.
func (t *Tape) ResetEval() {
	if t == nil {
		return
	}
	t.Reset()
	t.step--
	t.eval = true
}

// Seed returns the seed of the tape's dropouts.
func (t *Tape) Seed() uint64 { return t.seed }

// Restart makes t what [NewTape] returns for a seed, but keeps its memory: the
// next Reset begins the first step of another run.
func (t *Tape) Restart(seed uint64) { t.seed, t.step = seed, 0 }

// Step returns the number of the step, which counts Resets.
func (t *Tape) Step() uint64 { return t.step }

// SetStep makes n the number of the step, to resume a run after its n-th Reset.
func (t *Tape) SetStep(n uint64) { t.step = n }

// Recording reports whether t records: whether it trains rather than evaluates.
func (t *Tape) Recording() bool { return t != nil && !t.eval }

// Stats says what t holds at the moment.
func (t *Tape) Stats() Stats {
	if t == nil {
		return Stats{}
	}
	a := &t.arena
	return Stats{Held: a.held, InUse: a.inUse, Peak: a.peak, Ops: len(t.nodes)}
}

// Use returns p's value in t's computation. Using a Param several times is
// legal: its gradient is the sum. The value is not copied: what changes it, such as a
// step of an optimiser, comes after Backward, which reads it again.
func (t *Tape) Use(p *Param) *Var {
	if p == nil || p.Value == nil {
		panic(&TapeError{Op: "Use", Why: "the Param is nil or has no value; was the layer's Init called?"})
	}
	if t == nil {
		return Const(p.Value)
	}
	t.outsideBackward("Use")
	t.lock("Use")
	v := t.uses[p]
	if v == nil {
		v = t.leaf(p.Value, p, !t.eval && !p.Frozen)
		v.packs = t.weights.param(p)
		t.uses[p] = v
	}
	t.unlock()
	return v
}

// Input returns x in t's computation: operations on it use t's arena. It has no
// gradient.
func (t *Tape) Input(x *tensor.Dense) *Var {
	if t == nil {
		return Const(x)
	}
	return t.leaf(x, nil, false)
}

// Watch is Input that also asks for the gradient; see [Grads.Of].
func (t *Tape) Watch(x *tensor.Dense) *Var {
	if t == nil {
		return Const(x)
	}
	if t.inside != outside {
		panic(&TapeError{Op: "Watch", Why: "a value cannot be watched inside a checkpointed function, which runs twice; watch it before and pass it in"})
	}
	return t.leaf(x, nil, !t.eval)
}

func (t *Tape) leaf(x *tensor.Dense, p *Param, needs bool) *Var {
	v := (*Tape)(nil).newVar() // its body is its own, in a loop and a checkpointed function too
	v.tape, v.gen = t, t.gen
	v.val, v.needs, v.hold = *x, needs, true
	if needs {
		t.leaves = append(t.leaves, leaf{p, v, len(t.nodes)})
	}
	return v
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

// push records an operation whose pullback is by, except while a checkpointed
// function runs for its value alone: then it returns nil.
func (t *Tape) push(op string, by pullback) *node {
	if t.inside == forward {
		return nil
	}
	t.outsideBackward(op)
	now := t.ticks
	to := &t.nodes
	if t.loop != nil {
		to = &t.loop.nodes
	}
	nodes := *to
	at := len(nodes)
	if at == cap(nodes) {
		nodes = append(nodes, node{})
	}
	nodes = nodes[:at+1]
	*to = nodes
	n := &nodes[at] // zero, as what was recorded there was cleared
	n.op, n.label, n.by = op, t.label, by
	t.tick(now)
	return n
}

// last returns the last node, or nil if there is none, or none is recorded.
func (t *Tape) last() *node {
	nodes := t.nodes
	if t.loop != nil {
		nodes = t.loop.nodes
	}
	if len(nodes) == 0 || t.inside == forward {
		return nil
	}
	return &nodes[len(nodes)-1]
}

// record records an operation of one result.
func (t *Tape) record(op string, y *Var, by pullback) *node {
	n := t.push(op, by)
	if n != nil {
		n.out = y
	}
	return n
}

// takenAlong says that y, which may be a leaf, is read by the operation before its own: that has taken its
// own along.
func (t *Tape) takenAlong(y *Var) {
	root, _ := y.origin()
	for i := range t.leaves {
		if l := &t.leaves[i]; l.v == root {
			l.at = min(l.at, len(t.nodes)-1)
		}
	}
}

// Update gives a frozen Param a new value, such as a running mean. It takes
// effect at the end of Backward, and never under an eval tape. Of several
// updates of one Param the last counts.
func (t *Tape) Update(p *Param, value *Var) {
	if !p.Frozen {
		panic(&TapeError{Op: "Update", Why: "the Param is trained; only a frozen one is updated by a layer"})
	}
	if len(p.Value.Data) != len(value.Value().Data) {
		panic(tensor.Mismatch("grad.Update", p.Value, value))
	}
	if !t.Recording() || t.again {
		return
	}
	if t.inside == forward {
		value = value.Keep() // its memory is taken back before Backward
	}
	t.updates = append(t.updates, update{p, value})
}

// Within calls f, whose operations are on t, and ends it when ctx is cancelled: the next
// operation that begins on t does not run, nor does the next one of Backward. Then Within
// returns ctx.Err(), and t must be Reset before it is used again.
//
//	var y *tensor.Dense
//	err := t.Within(r.Context(), func() { y = net.Forward(t, g, x).Value() })
//
// f ends by a panic that Within recovers, so a layer knows nothing of it, and what f has
// deferred runs. Params are as they were: running statistics, too, which Backward updates at
// its end. A kernel that has begun is not interrupted, nor is work that begins no
// operation on t. f does its operations on the goroutine of Within, as nothing else could
// recover the panic. The ctx of a Within inside another is derived from the outer one's.
func (t *Tape) Within(ctx context.Context, f func()) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if t == nil {
		f()
		return nil
	}
	outer := t.cancelled
	t.cancelled = ctx.Done()
	defer func() {
		t.cancelled = outer
		if !t.interrupted { // not ours, if it is a panic
			return
		}
		t.interrupted, err = false, ctx.Err()
		if r := recover(); r != nil && r != any(interruption{t}) {
			panic(r)
		}
	}()
	f()
	return nil
}

// interruption is what the functions called by Within panic with.
type interruption struct{ of *Tape }

// Heed ends the function that [Tape.Within] calls, if its context is cancelled: for a loop
// of it that begins no operation on t.
func (t *Tape) Heed() {
	if t != nil {
		t.heed()
	}
}

// heed is what every operation does.
func (t *Tape) heed() {
	if t.cancelled != nil {
		t.look()
	}
}

// look is heed where there is a context; heed is inlined.
func (t *Tape) look() {
	select {
	case <-t.cancelled:
		t.interrupted = true
		panic(interruption{t})
	default:
	}
}

package grad

import "github.com/edgewise-ml/edgewise/tensor"

// Checkpoint returns f(xs…) and forgets what f worked out on the way: Backward
// runs f again when it needs it. That takes the time of f once more and frees
// the memory of its intermediate values. Value and gradients have the same bits
// as without.
//
// f must do the same each time and must not let its Vars escape except the one
// that it returns, which is dense. It may Use Params and draw dropouts, whose
// masks are the same both times; an Update in it counts once.
func (t *Tape) Checkpoint(f func(xs ...*Var) *Var, xs ...*Var) *Var {
	if !t.Recording() {
		return f(xs...)
	}
	op := Begin("Checkpoint", xs...)
	if op.tape != nil && op.tape != t {
		panic(&TapeError{Op: "Checkpoint", Why: "the operands are of another tape"})
	}
	op.tape = t
	c := note(op, checkpoint{t: t, f: f, xs: t.several(xs), op: t.op, label: t.label})
	y := c.forward()
	if y.needs {
		t.record("Checkpoint", y, c)
	}
	return y
}

// checkpoint is a function to run again.
type checkpoint struct {
	t     *Tape
	f     func(xs ...*Var) *Var
	xs    []*Var
	op    uint32 // dropouts drawn before it
	label string
}

// run calls the function in a section, with the dropouts it had at first.
func (c *checkpoint) run(s section) *Var {
	t := c.t
	old, again, op, label := t.inside, t.again, t.op, t.label
	defer func() { t.inside, t.again, t.label = old, again, label }()
	t.inside, t.again = s, again || s == replay
	t.op, t.label = c.op, c.label
	y := c.f(c.xs...)
	t.settle()
	if s == replay {
		t.op = op
	}
	return y
}

// visit is a run of the function, whose Vars are good until leave is called.
type visit struct {
	t             *Tape
	memory        mark
	outer, bodies int // runs around it, and what Vars held before
}

// enter begins a run.
func (c *checkpoint) enter() visit {
	t := c.t
	v := visit{t, t.arena.mark(), len(t.runs), t.bodies.used}
	t.ran++
	t.runs = append(t.runs, t.ran)
	return v
}

func (v visit) leave() {
	v.t.waiting, v.t.sum = nil, nil // of a function that has panicked
	v.t.runs = v.t.runs[:v.outer]
	v.t.arena.release(v.memory)
	v.t.bodies.cut(v.bodies)
}

// forward returns a copy of the function's value and takes its memory back.
func (c *checkpoint) forward() *Var {
	t := c.t
	y := t.newVar()
	in := c.enter()
	defer func() {
		in.leave()
		if y.val.Data != nil {
			t.own(y.val.Data)
		}
	}()
	v := c.run(forward)
	v.alive("Checkpoint")
	if v.tape != nil && v.tape != t {
		panic(&TapeError{Op: "Checkpoint", Why: "the result is of another tape"})
	}
	y.needs = v.needs
	room, _ := t.lend(len(v.Value().Data))
	y.val.Set(room, v.Shape()...)
	if !t.dry {
		copy(y.val.Data, v.val.Data)
	}
	return y
}

// Pull records the function, runs its pullbacks and forgets it again.
func (c *checkpoint) Pull(dy *tensor.Dense) {
	t := c.t
	defer c.enter().leave()
	first := len(t.nodes)
	v := c.run(replay)
	if g := v.Grad(); !t.dry {
		addTo(g.Data, dy.Data)
	}
	t.pullFrom(first)
	clear(t.nodes[first:])
	t.nodes = t.nodes[:first]
}

package grad

// headers is how many Vars are made at a time.
const headers = 32

// newVar returns a zero Var of t that is made now.
func (t *Tape) newVar() *Var {
	if t == nil {
		v := new(lone)
		v.Var.body = &v.body
		return &v.Var
	}
	now := t.ticks
	v := t.header()
	v.body, v.tape = t.bodies.take(), t
	*v.body = body{}
	t.stamp(v)
	t.tick(now)
	return v
}

// header returns a Var without a body. Those of a loop, which must not leave it,
// are used again after the tape's next Reset; until then they tell that they are
// stale.
func (t *Tape) header() *Var {
	if t.loop != nil {
		return t.vars.take()
	}
	heads := t.heads
	if len(heads) == 0 {
		heads = make([]Var, headers)
	}
	t.heads = heads[1:]
	return &heads[0]
}

// stamp says where and when v was made.
func (t *Tape) stamp(v *Var) {
	v.gen, v.made, v.run = t.gen, t.loop, 0
	if n := len(t.runs); n > 0 {
		v.run = t.runs[n-1]
	}
}

// resetVars takes back what Vars hold, and the Vars of loops. What they hold is
// theirs until it is another's: a goroutine that is in the middle of an operation
// finds out at its end.
func (t *Tape) resetVars() {
	t.bodies.used = 0
	t.vars.used = 0
}

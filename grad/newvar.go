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
	v := t.header()
	v.body, v.tape = t.bodies.take(), t
	t.stamp(v)
	return v
}

// header returns a Var without a body. Those of a loop, which must not leave it,
// are used again after the tape's next Reset; until then they tell that they are
// stale.
func (t *Tape) header() *Var {
	if t.loop != nil {
		return t.vars.take()
	}
	if len(t.heads) == 0 {
		t.heads = make([]Var, headers)
	}
	v := &t.heads[0]
	t.heads = t.heads[1:]
	return v
}

// stamp says where and when v was made.
func (t *Tape) stamp(v *Var) {
	v.gen, v.made, v.run = t.gen, t.loop, 0
	if n := len(t.runs); n > 0 {
		v.run = t.runs[n-1]
	}
}

// resetVars takes back what Vars hold, and the Vars of loops.
func (t *Tape) resetVars() {
	t.bodies.empty()
	t.vars.used = 0
}

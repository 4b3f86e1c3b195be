package grad

import "context"

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

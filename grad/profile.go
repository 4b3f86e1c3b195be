package grad

import (
	"context"
	"runtime/pprof"
	"sync"
)

// profile labels the goroutine for runtime/pprof, with a context kept for each
// pair of labels, so that an operation costs a look-up.
type profile struct {
	sync.Mutex
	contexts map[place]context.Context
}

// place is an operation in a layer.
type place struct{ layer, op string }

// Label names the operations that follow, until undo is called: of a layer, of a
// block. Labels nest ("Encoder.Attention"). They name operations in
// [Tape.FirstNonFinite] and, if the tape is told to [Tape.Profile], in profiles.
//
//	defer t.Label("Encoder")()
func (t *Tape) Label(name string) (undo func()) {
	if t == nil {
		return func() {}
	}
	old := t.label
	t.relabel(join(old, name))
	return func() { t.relabel(old) }
}

func (t *Tape) relabel(label string) {
	t.label = label
	if t.prof != nil {
		t.prof.enter(label, "")
	}
}

// Profile says whether operations, also in Backward, carry the pprof labels
// "layer" and "op" from now on, so that
//
//	go tool pprof -tagroot layer,op cpu.out
//
// shows the time of each. The labels are those of the goroutine that owns the
// tape: of a kernel that runs on several threads they cover that goroutine's
// share.
func (t *Tape) Profile(on bool) {
	switch {
	case t == nil:
	case on && t.prof == nil:
		t.prof = &profile{contexts: map[place]context.Context{}}
		t.prof.enter(t.label, "")
	case !on && t.prof != nil:
		t.prof = nil
		pprof.SetGoroutineLabels(context.Background())
	}
}

// enter labels the goroutine.
func (p *profile) enter(layer, op string) {
	p.Lock()
	defer p.Unlock()
	at := place{layer, op}
	ctx, ok := p.contexts[at]
	if !ok {
		ctx = context.Background()
		if layer != "" {
			ctx = pprof.WithLabels(ctx, pprof.Labels("layer", layer))
		}
		if op != "" {
			ctx = pprof.WithLabels(ctx, pprof.Labels("op", op))
		}
		p.contexts[at] = ctx
	}
	pprof.SetGoroutineLabels(ctx)
}

package grad

import "github.com/edgewise-ml/edgewise/tensor"

// frame is an array that is written a range of rows at a time and read in views, the states
// of a sweep: see tape.Frame.
type frame struct{ all *Var }

// newFrame returns a frame on the operation's tape.
func (op Op) newFrame(shape ...int) *frame {
	f := &frame{all: op.Fresh(shape...)}
	f.all.made = nil // it is read outside of the loop, too
	f.record()
	return f
}

// record puts the frame on its tape, below everything that reads it: once
// Backward is there, the frame's gradient can be handed back.
func (f *frame) record() {
	if t := f.all.tape; t.Recording() {
		t.record("Frame", f.all, nothing{})
	}
}

// nothing is the pullback of what others have set.
type nothing struct{}

// Pull does nothing.
func (nothing) Pull(*tensor.Dense) {}

// Room returns rows lo to hi, which were not written yet, for an operation that makes them.
func (f *frame) Room(lo, hi int) *Var {
	t := f.all.tape
	if t == nil {
		return nil
	}
	var room extents
	shape := append(room[:0], f.all.val.Shape()...)
	shape[0] = hi - lo
	y := Op{tape: t}.view(f.all, lo*f.all.val.RowLen(), shape...)
	y.needs = false // that is its operation's to say
	return y
}

// Write sets rows lo, lo+1, … to the rows of y.
func (f *frame) Write(lo int, y *Var) {
	op := Begin("Frame.Write", f.all, y)
	if f.all.tape == nil && y.tape != nil {
		f.all.tape = y.tape
		y.tape.stamp(f.all)
		f.all.made = nil
		f.record()
	}
	at := lo * f.all.val.RowLen()
	n := len(y.Value().Data)
	inPlace := y.base == f.all && y.at == at
	if !op.dry(0) && !inPlace {
		copy(f.all.val.Data[at:at+n], y.val.Data)
	}
	if !y.needs {
		if lo == 0 && (y.isBlank() || (y.leaf() || !op.measuring()) && allZero(y.val.Data)) {
			f.all.blank = n
		}
		return
	}
	if f.all.needs = true; inPlace {
		return
	}
	if y.base == nil && !y.hold && y.made != nil && y.made == y.tape.loop {
		y.base, y.at = f.all, at // y belongs to this loop: its gradient is the frame's
		return
	}
	op.tape.push(op.name, pullAll(func() {
		if f.all.has {
			addTo(y.Grad().Data, f.all.gradFrom(at)[at:at+n])
		}
	}))
}

// View returns rows lo to hi, without hi.
func (f *frame) View(lo, hi int) *Var {
	y := f.all.RowRange(lo, hi)
	y.step = y.tape == nil
	return y
}

// Sorted returns the rows from number skip on in another order.
func (f *frame) Sorted(skip int, order, rank []int32) *Var {
	return f.all.sorted(skip, order, rank, false)
}

// SortedLater is [frame.Sorted] of rows that are moved when they are first read.
func (f *frame) SortedLater(skip int, order, rank []int32) *Var {
	return f.all.sorted(skip, order, rank, true)
}

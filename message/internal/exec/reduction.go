package exec

import (
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/tensor"
)

// What a reducer does.
func taking(r *ops.Reducer) func(d *ops.Arrivals)    { return r.Take }
func finishing(r *ops.Reducer) func(d *ops.Arrivals) { return r.Finish }
func pulling(r *ops.Reducer) func(d *ops.Arrivals)   { return r.Pull }

// reduce has every reducer do something at the destinations of a tile: with its messages m and,
// backward, their gradients dm.
func (w *worker) reduce(do func(r *ops.Reducer) func(d *ops.Arrivals), t tile, m, dm []tensor.Float) {
	r, d := &w.pass.reduction, &w.arrivals
	if r.width == 0 {
		return
	}
	*d = ops.Arrivals{Stride: r.width, Tmp: w.mix, Again: w.again}
	w.arriving = arriving{}
	for i, by := range r.rs {
		f := do(by)
		for at := 0; at < r.width && f != nil; at += r.last {
			w.arriving.at, w.arriving.out = at, at*len(r.rs)+i*r.last
			d.Carry = nil
			if by.Carry && m != nil && dm == nil { // it is gone when the last message has been taken
				w.carry = resize(w.carry, max(r.width*len(r.rs), cap(w.carry)))
				d.Carry = w.carry[w.arriving.out:][:r.last]
			}
			for v := t.r0; v < t.r1; v++ {
				if w.arrive(by, v, t) {
					w.showMessages(d, t, m, dm)
					f(d)
				}
			}
		}
		w.arriving.floats += by.Floats
		w.arriving.edges += by.Edges
	}
}

// arrive aims the worker's arrivals at destination v of a tile, under one reducer. It reports
// whether the tile has edges of it.
func (w *worker) arrive(by *ops.Reducer, v int, t tile) bool {
	r, d, a := &w.pass.reduction, &w.arrivals, &w.arriving
	lo, hi := max(int(r.off[v]), t.lo), min(int(r.off[v+1]), t.hi)
	if lo >= hi {
		return false
	}
	a.v = v
	d.Messages, d.Before, d.Count, d.Lo = hi-lo, lo-int(r.off[v]), int(r.off[v+1]-r.off[v]), lo
	out := v*r.width*len(r.rs) + a.out
	d.Out = r.out[out : out+r.last]
	if w.pass.backward {
		d.DOut = w.pass.dOut[out : out+r.last]
	}
	size, at := (len(r.off)-1)*r.width, v*r.width+a.at
	for k := range by.Floats {
		d.Kept[k] = r.kept[(a.floats+k)*size+at:][:r.last]
	}
	for k := range by.Edges {
		d.Edge[k] = r.edges[(a.edges+k)*size+at:][:r.last]
	}
	return true
}

// showMessages shows d the messages of a tile, and their gradients.
func (w *worker) showMessages(d *ops.Arrivals, t tile, m, dm []tensor.Float) {
	from, to := (d.Lo-t.lo)*d.Stride+w.arriving.at, (d.Lo-t.lo+d.Messages)*d.Stride
	if m != nil {
		d.M = m[from:to]
	}
	if dm != nil {
		d.DM = dm[from:to]
	}
}

// finish completes the results of the destinations from r0 to r1.
func (w *worker) finish(r0, r1 int) {
	switch r := &w.pass.reduction; {
	case len(r.rs) == 0:
	case !w.plan.Plain():
		w.reduce(finishing, tile{lo: int(r.off[r0]), hi: int(r.off[r1]), r0: r0, r1: r1}, nil, nil)
	case r.rs[0].Share != nil:
		y := w.pass.resultRows(r0, r1)
		r.rs[0].Share(y, y, r.width, r.off[r0:r1+1])
	}
}

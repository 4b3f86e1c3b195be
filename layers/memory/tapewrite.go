package memory

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// write sets next to mem after all writing heads have erased, and then all have added; at is
// where they are, t a row of scratch:
//
//	next_i = mem_i·Π_h (1 − w_hi·erase_h) + Σ_h w_hi·add_h
func (l *tapeLayout) write(next, mem, at, told, t []tensor.Float) {
	copy(next, mem)
	for d := range l.width {
		y := l.slotsOf(next, d)
		for h := range l.writes {
			vec.Mul.Forward(t, l.slotsOf(at, h), y, 1, 1)
			vec.Axpy(y, -l.erase(told, h)[d], t)
		}
		for h := range l.writes {
			vec.Axpy(y, l.add(told, h)[d], l.slotsOf(at, h))
		}
	}
}

// writeBack takes the gradient dnext back to mem (dmem may be nil), to the weights and to what
// the writing heads were told. partly is scratch: a row for each head, and one more.
func (l *tapeLayout) writeBack(dnext, mem, at, told, dmem, dat, dtold, partly []tensor.Float) {
	t := l.slotsOf(partly, l.writes)
	for d := range l.width {
		g := l.slotsOf(dnext, d)
		for h := range l.writes {
			dadd, w := l.add(dtold, h), l.slotsOf(at, h)
			dadd[d] += vec.Dot(w, g)
			vec.Axpy(l.slotsOf(dat, h), l.add(told, h)[d], g)
		}
		y := l.slotsOf(mem, d) // before each erase
		for h := range l.writes - 1 {
			erased := l.slotsOf(partly, h)
			vec.Mul.Forward(t, l.slotsOf(at, h), y, 1, 1)
			copy(erased, y)
			vec.Axpy(erased, -l.erase(told, h)[d], t)
			y = erased
		}
		for h := l.writes - 1; h >= 0; h-- {
			y = l.slotsOf(mem, d)
			if h > 0 {
				y = l.slotsOf(partly, h-1)
			}
			e := l.erase(told, h)[d]
			vec.Mul.Forward(t, g, y, 1, 1)
			l.erase(dtold, h)[d] -= vec.Dot(t, l.slotsOf(at, h))
			vec.Axpy(l.slotsOf(dat, h), -e, t)
			vec.Mul.Forward(t, g, l.slotsOf(at, h), 1, 1)
			vec.Axpy(g, -e, t)
		}
		if dmem != nil {
			vec.Axpy(l.slotsOf(dmem, d), 1, g)
		}
	}
}

// pull takes the gradients of row r's results back to its operands.
func (k *tape) pull(r int, rest []tensor.Float) {
	n, d := k.slots, k.width
	dnext, rest := rest[:n*d], rest[n*d:]
	dat, rest := rest[:n*k.heads()], rest[n*k.heads():]
	own, a, b, partly := rest[:n], rest[n:2*n], rest[2*n:3*n], rest[3*n:]
	told, dtold := k.row(k.told, r), k.row(k.dtold, r)
	mem, next, last, at := k.row(k.values[ofMem], r), k.row(k.values[ofNext], r), k.row(k.values[ofLast], r), k.row(k.values[ofAt], r)
	dmem, dlast, dread := k.row(k.grads[ofMem], r), k.row(k.grads[ofLast], r), k.row(k.grads[ofRead], r)
	before, after := k.inverses(r)
	copyOrClear(dnext, k.row(k.grads[ofNext], r))
	copyOrClear(dat, k.row(k.grads[ofAt], r))
	of := func(h int) []tensor.Float {
		if dlast == nil {
			return nil
		}
		return k.slotsOf(dlast, h)
	}

	clear(own)
	for i := range k.reads {
		h := k.writes + i
		w, dw := k.slotsOf(at, h), k.slotsOf(dat, h)
		for j := range d {
			if dread == nil {
				break
			}
			g := dread[i*d+j]
			vec.Axpy(dw, g, k.slotsOf(next, j))
			vec.Axpy(k.slotsOf(dnext, j), g, w)
		}
		k.addressBack(dw, w, k.stages(r, h), k.said(told, h), k.said(dtold, h), next, after, k.slotsOf(last, h), of(h), dnext, own, a, b)
	}
	k.ownBack(dnext, next, own)
	k.writeBack(dnext, mem, at, told, dmem, dat, dtold, partly)
	if dmem == nil { // the memory is a constant: what is its goes nowhere
		dmem = dnext
	}
	clear(own)
	for h := range k.writes {
		k.addressBack(k.slotsOf(dat, h), k.slotsOf(at, h), k.stages(r, h), k.said(told, h), k.said(dtold, h), mem, before, k.slotsOf(last, h), of(h), dmem, own, a, b)
	}
	k.ownBack(dmem, mem, own)
	if dsays := k.row(k.grads[ofSays], r); dsays != nil {
		k.activateBack(dsays, dtold, told)
	}
}

// copyOrClear sets y to x, or to zeros where there is none.
func copyOrClear(y, x []tensor.Float) {
	if x == nil {
		clear(y)
		return
	}
	copy(y, x)
}

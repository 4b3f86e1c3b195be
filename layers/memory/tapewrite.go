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

// written is what a row's writing heads did, and its gradients.
type written struct {
	mem, at, told           []tensor.Float
	dnext, dmem, dat, dtold []tensor.Float // dmem may be nil; dnext is used up
}

// writeBack takes the gradient of what was written back to the memory before, to the weights
// and to what the writing heads were told. partly is scratch: a row for each of them, and one
// more.
func (l *tapeLayout) writeBack(x written, partly []tensor.Float) {
	t := l.slotsOf(partly, l.writes)
	for d := range l.width {
		g := l.slotsOf(x.dnext, d)
		for h := range l.writes {
			l.add(x.dtold, h)[d] += vec.Dot(l.slotsOf(x.at, h), g)
			vec.Axpy(l.slotsOf(x.dat, h), l.add(x.told, h)[d], g)
		}
		y := l.slotsOf(x.mem, d) // before each erase
		for h := range l.writes - 1 {
			erased := l.slotsOf(partly, h)
			vec.Mul.Forward(t, l.slotsOf(x.at, h), y, 1, 1)
			copy(erased, y)
			vec.Axpy(erased, -l.erase(x.told, h)[d], t)
			y = erased
		}
		for h := l.writes - 1; h >= 0; h-- {
			y = l.slotsOf(x.mem, d)
			if h > 0 {
				y = l.slotsOf(partly, h-1)
			}
			w, e := l.slotsOf(x.at, h), l.erase(x.told, h)[d]
			vec.Mul.Forward(t, g, y, 1, 1)
			l.erase(x.dtold, h)[d] -= vec.Dot(t, w)
			vec.Axpy(l.slotsOf(x.dat, h), -e, t)
			vec.Mul.Forward(t, g, w, 1, 1)
			vec.Axpy(g, -e, t)
		}
		if x.dmem != nil {
			vec.Axpy(l.slotsOf(x.dmem, d), 1, g)
		}
	}
}

// pull takes the gradients of row r's results back to its operands.
func (k *turn) pull(r int, rest []tensor.Float) {
	n, d := k.slots, k.width
	dnext, rest := rest[:n*d], rest[n*d:]
	dat, rest := rest[:n*k.heads()], rest[n*k.heads():]
	own, a, b, partly := rest[:n], rest[n:2*n], rest[2*n:3*n], rest[3*n:]
	next := k.row(k.values[ofNext], r)
	x := written{
		mem: k.row(k.values[ofMem], r), at: k.row(k.values[ofAt], r), told: k.row(k.told, r),
		dnext: dnext, dmem: k.row(k.grads[ofMem], r), dat: dat, dtold: k.row(k.dtold, r),
	}
	before, after := k.inverses(r)
	copyOrClear(dnext, k.row(k.grads[ofNext], r))
	copyOrClear(dat, k.row(k.grads[ofAt], r))

	clear(own)
	for i := range k.reads {
		h := k.turned(r, k.writes+i, x)
		h.m, h.inv, h.dm, h.own = next, after, dnext, own
		if dread := k.row(k.grads[ofRead], r); dread != nil {
			for j, g := range dread[i*d : (i+1)*d] {
				vec.Axpy(h.dw, g, k.slotsOf(next, j))
				vec.Axpy(k.slotsOf(dnext, j), g, h.w)
			}
		}
		k.addressBack(&h, a, b)
	}
	k.ownBack(dnext, next, own)
	k.writeBack(x, partly)
	if x.dmem == nil { // the memory is a constant: what is its goes nowhere
		x.dmem = dnext
	}
	clear(own)
	for i := range k.writes {
		h := k.turned(r, i, x)
		h.m, h.inv, h.dm, h.own = x.mem, before, x.dmem, own
		k.addressBack(&h, a, b)
	}
	k.ownBack(x.dmem, x.mem, own)
	if dsays := k.row(k.grads[ofSays], r); dsays != nil {
		k.activateBack(dsays, x.dtold, x.told)
	}
}

// turned is head number i of row r, for its way back, but for the memory that it addressed.
func (k *turn) turned(r, i int, x written) head {
	h := head{
		stages: k.stages(r, i), said: k.said(x.told, i), dsaid: k.said(x.dtold, i),
		w: k.slotsOf(x.at, i), dw: k.slotsOf(x.dat, i), last: k.slotsOf(k.row(k.values[ofLast], r), i),
	}
	if dlast := k.row(k.grads[ofLast], r); dlast != nil {
		h.dlast = k.slotsOf(dlast, i)
	}
	return h
}

// copyOrClear sets y to x, or to zeros where there is none.
func copyOrClear(y, x []tensor.Float) {
	if x == nil {
		clear(y)
		return
	}
	copy(y, x)
}

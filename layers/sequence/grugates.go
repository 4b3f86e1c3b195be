package sequence

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// GRUGates is the part of a GRU that follows the products with its weights, as
// one operation. With a = [a_r a_z a_n] of the input and q = [q_r q_z q_n] of the
// state, both N×3m, the old state h, N×m, and b of m elements:
//
//	r = σ(a_r + q_r)      z = σ(a_z + q_z)      n = tanh(a_n + r·(q_n + b))
//	next = (1−z)·n + z·h
//
// A nil b is zero.
func GRUGates(a, q, h, b *grad.Var) (next *grad.Var) {
	return gruOperands{a, q, h, b}.apply(gruForm{}, nil)
}

// gruForm says how the gates of a GRU are computed.
type gruForm struct {
	over    bool // nothing else reads a and q, which may be overwritten
	admits  bool // next = (1−z)·h + z·n
	minimal bool // r is z, which admits: a has the columns of z and n
}

// blocks is how many parts a and q have.
func (f gruForm) blocks() int {
	if f.minimal {
		return 2
	}
	return 3
}

// gruOperands are the operands of GRUGates.
type gruOperands struct{ a, q, h, b *grad.Var }

// apply computes the gates, with their result in to unless that is nil.
func (g gruOperands) apply(form gruForm, to *grad.Var) (next *grad.Var) {
	a, q, h, b := g.a, g.q, g.h, g.b
	vars := [...]*grad.Var{a, q, h, b}
	last := len(vars)
	if b == nil {
		last--
	}
	op := grad.Begin("sequence.GRUGates", vars[:last]...)
	n, m, blocks := h.Value().Rows(), h.Value().RowLen(), form.blocks()
	for _, x := range vars[:2] {
		if x.Value().Rows() != n || x.Value().RowLen() != blocks*m {
			panic(&tensor.ShapeError{Op: "sequence.GRUGates", Shapes: [][]int{slices.Clone(x.Shape()), slices.Clone(h.Shape())}, Why: fmt.Sprintf("a and q want %d columns for each of h", blocks)})
		}
	}
	k := tape.Note(op, gruGates{op: op, of: g, a: a.Value(), q: q.Value(), h: h.Value(), m: m, blocks: blocks, form: form})
	if b != nil {
		if k.b = b.Value().Data; len(k.b) != m {
			panic(&tensor.ShapeError{Op: "sequence.GRUGates", Shapes: [][]int{slices.Clone(b.Shape()), slices.Clone(h.Shape())}, Why: "b wants an element for each column of h"})
		}
	}
	next = room{to}.fill(op, 0, n, m)
	k.next = next.Value()
	k.act, k.inner = k.a.Data, k.q
	if !form.over {
		k.act, k.inner = op.Fresh(n, blocks*m).Value().Data, op.Fresh(n, blocks*m).Value()
	}
	k.rows = vec.GRURows{M: m, Gates: k.act, Q: k.inner.Data, Old: k.h.Data, Next: k.next.Data, Bias: k.b, Admits: form.admits}
	k.run(n)
	return tape.RecordBy(op, next, k)
}

// Pull runs backwards.
func (k *gruGates) Pull(dy *tensor.Dense) {
	n, m, b := k.h.Rows(), k.m, k.of.b
	k.da, k.set = tape.FreshGrad(k.of.a)
	if k.form.over { // so q is not a, nor a part of it
		k.dq, k.setQ = tape.FreshGrad(k.of.q)
	} else {
		k.dq, k.setQ = k.of.q.Grad(), false
	}
	k.dh, k.dnext, k.back = k.of.h.Grad(), dy, true
	own := chunks(n, k.blocks*m) * (k.blocks + 1) * m
	size := own
	if k.form.minimal {
		size += n * m
	} else {
		for _, there := range []bool{k.set, k.setQ} {
			if !there {
				size += n * 3 * m
			}
		}
		if k.dh == nil {
			size += n * m
		}
	}
	k.op.Scratch(size, func(buf []tensor.Float) {
		k.rest, buf = buf[:own], buf[own:]
		if k.form.minimal {
			k.inners = buf
		} else {
			k.aim(buf)
		}
		k.run(n)
		if b != nil && b.Needs() {
			db := b.Grad().Data
			if tape.Measuring(k.op) {
				return
			}
			for r := range n {
				vec.Add.Forward(db, db, k.dinner(r), 1, 1)
			}
		}
	})
}

// aim has the gradients of rows go where they belong or, where they are added to something or
// nobody asks for them, to buf.
func (k *gruGates) aim(buf []tensor.Float) {
	g, size := &k.rows, k.h.Rows()*k.m
	if k.set {
		g.DGates = k.da.Data
	} else {
		g.DGates, buf = buf[:3*size], buf[3*size:]
	}
	if k.setQ {
		g.DQ = k.dq.Data
	} else {
		g.DQ, buf = buf[:3*size], buf[3*size:]
	}
	if g.DNext = k.dnext.Data; k.dh != nil {
		g.DOld = k.dh.Data
	} else {
		if g.DOld = buf[:size]; !tape.Measuring(k.op) {
			clear(g.DOld)
		}
	}
}

// gruGates is one run of GRUGates, forwards or backwards. Of the gradients da,
// dq and dh may be nil.
type gruGates struct {
	op grad.Op
	of gruOperands

	a, q, h *tensor.Dense
	b       []tensor.Float
	next    *tensor.Dense
	m       int
	blocks  int
	form    gruForm
	back    bool
	rows    vec.GRURows // which computes all forms but the minimal one

	act   []tensor.Float // r, z, n of each row
	inner *tensor.Dense  // q_n + b, in the last m columns of each row

	da, dq, dh, dnext *tensor.Dense
	rest              []tensor.Float // blocks + 1 rows for each chunk, for what is between
	set, setQ         bool           // da and dq hold anything
	inners            []tensor.Float // of the minimal form: dinner of each row
}

// dinner is the gradient of a row's inner.
func (k *gruGates) dinner(row int) []tensor.Float {
	if k.form.minimal {
		return k.inners[row*k.m : (row+1)*k.m]
	}
	return k.rows.DQ[(3*row+2)*k.m : 3*(row+1)*k.m]
}

// run does n rows on several threads, and none under Measure.
func (k *gruGates) run(n int) {
	if !tape.Measuring(k.op) {
		par.Run(chunks(n, k.blocks*k.m), k)
	}
}

// Chunk does some rows.
func (k *gruGates) Chunk(i int) {
	step, own := chunkRows(k.blocks*k.m), (k.blocks+1)*k.m
	lo, hi := i*step, min((i+1)*step, k.h.Rows())
	switch w := k.blocks * k.m; {
	case k.form.minimal:
		for r := lo; r < hi; r++ {
			if k.back {
				k.pullMinimal(r, k.rest[i*own:(i+1)*own])
			} else {
				k.minimal(r)
			}
		}
	case k.back:
		k.rows.Backward(lo, hi, k.rest[i*own:(i+1)*own])
		if !k.set {
			addRows(k.da, k.rows.DGates, lo, hi)
		}
		if !k.setQ {
			addRows(k.dq, k.rows.DQ, lo, hi)
		}
	default:
		if !k.form.over {
			copy(k.act[lo*w:hi*w], k.a.Data[lo*w:])
			copy(k.inner.Data[lo*w:hi*w], k.q.Data[lo*w:])
		}
		k.rows.Forward(lo, hi)
	}
}

// addRows adds rows lo to hi of d to those of to, which may be nil.
func addRows(to *tensor.Dense, d []tensor.Float, lo, hi int) {
	if to != nil {
		w := to.RowLen()
		vec.Add.Forward(to.Data[lo*w:hi*w], to.Data[lo*w:hi*w], d[lo*w:hi*w], 1, 1)
	}
}

// minimal computes a row of the minimal form.
func (k *gruGates) minimal(row int) {
	m := k.m
	act, inner := k.act[row*2*m:(row+1)*2*m], k.inner.Row(row)[m:]
	a, q, h, y := k.a.Row(row), k.q.Row(row), k.h.Row(row), k.next.Row(row)
	z, n := act[:m], act[m:]
	vec.Add.Forward(z, a[:m], q[:m], 1, 1)
	vec.Sigmoid.Forward(z, z, 0)
	copy(inner, q[m:])
	if k.b != nil {
		vec.Add.Forward(inner, inner, k.b, 1, 1)
	}
	copy(n, a[m:]) // itself, if a may be overwritten
	vec.Mul.BackwardX(n, z, inner, inner, 1, 1)
	vec.Tanh.Forward(n, n, 0)
	vec.Sub.Forward(y, n, h, 1, 1)
	vec.Mul.Forward(y, y, z, 1, 1)
	vec.Add.Forward(y, y, h, 1, 1)
}

// pullMinimal adds a row's gradients to those of a, q and h. rest is room for three rows.
func (k *gruGates) pullMinimal(row int, rest []tensor.Float) {
	m := k.m
	act, inner, dinner := k.act[row*2*m:(row+1)*2*m], k.inner.Row(row)[m:], k.dinner(row)
	z, n := act[:m], act[m:]
	h, dy := k.h.Row(row), k.dnext.Row(row)
	d, y := rest[:2*m], rest[2*m:]
	if k.set {
		d = k.da.Row(row)
	}
	clear(d)
	dz, dn := d[:m], d[m:]

	vec.Mul.Forward(y, dy, z, 1, 1) // what goes to n
	vec.Tanh.Backward(dn, y, n, n, 0)
	if k.dh != nil {
		vec.Sub.Forward(y, dy, y, 1, 1)
		dh := k.dh.Row(row)
		vec.Add.Forward(dh, dh, y, 1, 1)
	}
	vec.Sub.Forward(y, n, h, 1, 1)
	vec.Mul.Forward(y, y, dy, 1, 1)
	vec.Sigmoid.Backward(dz, y, z, z, 0)
	vec.Mul.Forward(y, dn, inner, 1, 1)
	vec.Sigmoid.Backward(dz, y, z, z, 0)
	vec.Mul.Forward(dinner, dn, z, 1, 1)
	if k.da != nil && !k.set {
		da := k.da.Row(row)
		vec.Add.Forward(da, da, d, 1, 1)
	}
	switch {
	case k.dq == nil:
	case k.setQ:
		dq := k.dq.Row(row)
		copy(dq, dz)
		copy(dq[m:], dinner)
	default:
		dq := k.dq.Row(row)
		vec.Add.Forward(dq[:m], dq[:m], dz, 1, 1)
		vec.Add.Forward(dq[m:], dq[m:], dinner, 1, 1)
	}
}

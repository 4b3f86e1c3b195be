package sequence

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
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
	k := grad.Notes[gruGates](op)
	*k = gruGates{op: op, of: g, a: a.Value(), q: q.Value(), h: h.Value(), m: m, blocks: blocks, form: form}
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
	if !op.Dry(0) {
		k.run(n)
	}
	return op.RecordBy(next, k)
}

// Pull runs backwards.
func (k *gruGates) Pull(dy *tensor.Dense) {
	n, m, b := k.h.Rows(), k.m, k.of.b
	k.op.Scratch((n+chunks(n, k.blocks*m)*(k.blocks+1))*m, func(buf []tensor.Float) {
		k.dh, k.dnext, k.inners, k.rest, k.back = k.of.h.Grad(), dy, buf[:n*m], buf[n*m:], true
		if k.form.over { // so q is not a, nor a part of it
			k.dq, k.setQ = k.of.q.FreshGrad()
		} else {
			k.dq = k.of.q.Grad()
		}
		k.da, k.set = k.of.a.FreshGrad()
		k.run(n)
		if b != nil && b.Needs() {
			db := b.Grad().Data
			for r := range n {
				vec.Add.Forward(db, db, k.dinner(r), 1, 1)
			}
		}
	})
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

	act   []tensor.Float // r, z, n of each row
	inner *tensor.Dense  // q_n + b, in the last m columns of each row

	da, dq, dh, dnext *tensor.Dense
	inners            []tensor.Float // of dinner, where it has no other place
	rest              []tensor.Float // blocks + 1 rows for each chunk, for what is between
	set, setQ         bool           // da and dq hold anything
}

// dinner is the gradient of a row's inner: where dq is set it is a part of that.
func (k *gruGates) dinner(row int) []tensor.Float {
	if k.setQ {
		return k.dq.Row(row)[(k.blocks-1)*k.m:]
	}
	return k.inners[row*k.m : (row+1)*k.m]
}

// run does n rows on several threads.
func (k *gruGates) run(n int) { par.Run(chunks(n, k.blocks*k.m), k) }

// Chunk does some rows.
func (k *gruGates) Chunk(i int) {
	step := chunkRows(k.blocks * k.m)
	for r := i * step; r < min((i+1)*step, k.h.Rows()); r++ {
		if k.back {
			k.pull(r, k.rest[i*(k.blocks+1)*k.m:(i+1)*(k.blocks+1)*k.m])
		} else {
			k.forward(r)
		}
	}
}

// split returns what x, a row of all gates, has for each.
func (k *gruGates) split(x []tensor.Float) (r, z, n []tensor.Float) {
	m := k.m
	if k.blocks == 3 {
		return x[:m], x[m : 2*m], x[2*m:]
	}
	return x[:m], x[:m], x[m:]
}

func (k *gruGates) forward(row int) {
	m, w := k.m, k.blocks*k.m
	act, inner := k.act[row*w:(row+1)*w], k.inner.Row(row)[w-m:]
	a, q, h, y := k.a.Row(row), k.q.Row(row), k.h.Row(row), k.next.Row(row)
	r, z, n := k.split(act)
	vec.Add.Forward(act[:w-m], a[:w-m], q[:w-m], 1, 1)
	vec.Sigmoid.Forward(act[:w-m], act[:w-m], 0)
	copy(inner, q[w-m:])
	if k.b != nil {
		vec.Add.Forward(inner, inner, k.b, 1, 1)
	}
	copy(n, a[w-m:]) // itself, if a may be overwritten
	vec.Mul.BackwardX(n, r, inner, inner, 1, 1)
	vec.Tanh.Forward(n, n, 0)
	from, to := k.ends(h, n)
	vec.Sub.Forward(y, to, from, 1, 1)
	vec.Mul.Forward(y, y, z, 1, 1)
	vec.Add.Forward(y, y, from, 1, 1)
}

// ends returns where z leads from, at 0, and to, at 1.
func (k *gruGates) ends(h, n []tensor.Float) (from, to []tensor.Float) {
	if k.form.admits || k.form.minimal {
		return h, n
	}
	return n, h
}

// pull adds row's gradients to those of a, q and h. rest is room for blocks + 1 rows.
func (k *gruGates) pull(row int, rest []tensor.Float) {
	m, w := k.m, k.blocks*k.m
	act, inner, dinner := k.act[row*w:(row+1)*w], k.inner.Row(row)[w-m:], k.dinner(row)
	r, z, n := k.split(act)
	h, dy := k.h.Row(row), k.dnext.Row(row)
	d, y := rest[:w], rest[w:]
	if k.set {
		d = k.da.Row(row)
	}
	clear(d)
	dr, dz, dn := k.split(d)

	vec.Mul.Forward(y, dy, z, 1, 1) // what goes to z's end, of the two that it leads between
	admits := k.form.admits || k.form.minimal
	if admits {
		vec.Tanh.Backward(dn, y, n, n, 0)
		vec.Sub.Forward(y, dy, y, 1, 1)
	}
	if k.dh != nil {
		dh := k.dh.Row(row)
		vec.Add.Forward(dh, dh, y, 1, 1)
	}
	if !admits {
		vec.Sub.Forward(y, dy, y, 1, 1)
		vec.Tanh.Backward(dn, y, n, n, 0)
	}
	from, to := k.ends(h, n)
	vec.Sub.Forward(y, to, from, 1, 1)
	vec.Mul.Forward(y, y, dy, 1, 1)
	vec.Sigmoid.Backward(dz, y, z, z, 0)
	vec.Mul.Forward(y, dn, inner, 1, 1)
	vec.Sigmoid.Backward(dr, y, r, r, 0)
	vec.Mul.Forward(dinner, dn, r, 1, 1)
	if k.da != nil && !k.set {
		da := k.da.Row(row)
		vec.Add.Forward(da, da, d, 1, 1)
	}
	switch {
	case k.dq == nil:
	case k.setQ:
		copy(k.dq.Row(row), d[:w-m])
	default:
		dq := k.dq.Row(row)
		vec.Add.Forward(dq[:w-m], dq[:w-m], d[:w-m], 1, 1)
		vec.Add.Forward(dq[w-m:], dq[w-m:], dinner, 1, 1)
	}
}

package sequence

import (
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
	return gruOperands{a, q, h, b}.apply(false)
}

// gruOperands are the operands of GRUGates.
type gruOperands struct{ a, q, h, b *grad.Var }

// apply computes the gates, over the values of a and q if nothing else reads
// those.
func (g gruOperands) apply(over bool) (next *grad.Var) {
	a, q, h, b := g.a, g.q, g.h, g.b
	vars := [...]*grad.Var{a, q, h, b}
	last := len(vars)
	if b == nil {
		last--
	}
	op := grad.Begin("sequence.GRUGates", vars[:last]...)
	n, m := h.Value().Rows(), h.Value().RowLen()
	for _, x := range vars[:2] {
		if x.Value().Rows() != n || x.Value().RowLen() != 3*m {
			panic(&tensor.ShapeError{Op: "sequence.GRUGates", Shapes: [][]int{slices.Clone(x.Shape()), slices.Clone(h.Shape())}, Why: "a and q want three columns for each of h"})
		}
	}
	k := grad.Notes[gruGates](op)
	*k = gruGates{op: op, of: g, a: a.Value(), q: q.Value(), h: h.Value(), m: m}
	if b != nil {
		if k.b = b.Value().Data; len(k.b) != m {
			panic(&tensor.ShapeError{Op: "sequence.GRUGates", Shapes: [][]int{slices.Clone(b.Shape()), slices.Clone(h.Shape())}, Why: "b wants an element for each column of h"})
		}
	}
	next = op.Fresh(n, m)
	k.next = next.Value()
	k.act, k.inner = k.a.Data, k.q
	if !over {
		k.act, k.inner = op.Fresh(n, 3*m).Value().Data, op.Fresh(n, 3*m).Value()
	}
	if !op.Dry(0) {
		k.run(n)
	}
	return op.RecordBy(next, k)
}

// Pull runs backwards.
func (k *gruGates) Pull(dy *tensor.Dense) {
	n, m, b := k.h.Rows(), k.m, k.of.b
	k.op.Scratch((n+chunks(n, 3*m)*4)*m, func(buf []tensor.Float) {
		k.dq, k.dh, k.dnext, k.dinner, k.rest, k.back = k.of.q.Grad(), k.of.h.Grad(), dy, buf[:n*m], buf[n*m:], true
		k.da, k.set = k.of.a.FreshGrad()
		k.run(n)
		if b != nil && b.Needs() {
			db := b.Grad().Data
			for r := range n {
				vec.Add.Forward(db, db, buf[r*m:(r+1)*m], 1, 1)
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
	back    bool

	act   []tensor.Float // r, z, n of each row
	inner *tensor.Dense  // q_n + b, in the last third of each row

	da, dq, dh, dnext *tensor.Dense
	dinner            []tensor.Float
	rest              []tensor.Float // four rows for each chunk, for what is between
	set               bool           // da holds anything
}

// run does n rows on several threads.
func (k *gruGates) run(n int) { par.Run(chunks(n, 3*k.m), k) }

// Chunk does some rows.
func (k *gruGates) Chunk(i int) {
	step := chunkRows(3 * k.m)
	for r := i * step; r < min((i+1)*step, k.h.Rows()); r++ {
		if k.back {
			k.pull(r, k.rest[i*4*k.m:(i+1)*4*k.m])
		} else {
			k.forward(r)
		}
	}
}

func (k *gruGates) forward(row int) {
	m := k.m
	act, inner := k.act[row*3*m:(row+1)*3*m], k.inner.Row(row)[2*m:]
	a, q, h, y := k.a.Row(row), k.q.Row(row), k.h.Row(row), k.next.Row(row)
	r, z, n := act[:m], act[m:2*m], act[2*m:]
	vec.Add.Forward(act[:2*m], a[:2*m], q[:2*m], 1, 1)
	vec.Sigmoid.Forward(act[:2*m], act[:2*m], 0)
	copy(inner, q[2*m:])
	if k.b != nil {
		vec.Add.Forward(inner, inner, k.b, 1, 1)
	}
	copy(n, a[2*m:]) // itself, if a may be overwritten
	vec.Mul.BackwardX(n, r, inner, inner, 1, 1)
	vec.Tanh.Forward(n, n, 0)
	vec.Sub.Forward(y, h, n, 1, 1)
	vec.Mul.Forward(y, y, z, 1, 1)
	vec.Add.Forward(y, y, n, 1, 1)
}

// pull adds row's gradients to those of a, q and h. rest is room for four rows.
func (k *gruGates) pull(row int, rest []tensor.Float) {
	m := k.m
	act, inner, dinner := k.act[row*3*m:(row+1)*3*m], k.inner.Row(row)[2*m:], k.dinner[row*m:(row+1)*m]
	r, z, n := act[:m], act[m:2*m], act[2*m:]
	h, dy := k.h.Row(row), k.dnext.Row(row)
	d, y := rest[:3*m], rest[3*m:]
	clear(d)

	vec.Mul.Forward(y, dy, z, 1, 1) // what goes to h
	if k.dh != nil {
		dh := k.dh.Row(row)
		vec.Add.Forward(dh, dh, y, 1, 1)
	}
	vec.Sub.Forward(y, dy, y, 1, 1)
	vec.Tanh.Backward(d[2*m:], y, n, n, 0)
	vec.Sub.Forward(y, h, n, 1, 1)
	vec.Mul.Forward(y, y, dy, 1, 1)
	vec.Sigmoid.Backward(d[m:2*m], y, z, z, 0)
	vec.Mul.Forward(y, d[2*m:], inner, 1, 1)
	vec.Sigmoid.Backward(d[:m], y, r, r, 0)
	vec.Mul.Forward(dinner, d[2*m:], r, 1, 1)
	switch {
	case k.da == nil:
	case k.set:
		copy(k.da.Row(row), d)
	default:
		da := k.da.Row(row)
		vec.Add.Forward(da, da, d, 1, 1)
	}
	if k.dq != nil {
		dq := k.dq.Row(row)
		vec.Add.Forward(dq[:2*m], dq[:2*m], d[:2*m], 1, 1)
		vec.Add.Forward(dq[2*m:], dq[2*m:], dinner, 1, 1)
	}
}

package sequence

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// LSTMGates is the part of an LSTM that follows the products with its weights,
// as one operation of two results. With z = [z_i z_f z_g z_o], N×4m, and the old
// cell c, N×m:
//
//	i = σ(z_i + p_i·c)   f = σ(z_f + p_f·c)   g = tanh(z_g)
//	next = f·c + i·g
//	o = σ(z_o + p_o·next)                     h = o·tanh(next)
//
// p = [p_i; p_f; p_o], 3×m, are diagonal peepholes; nil means none. With old the
// output gate sees c in place of next.
func LSTMGates(z, c, p *grad.Var, old bool) (h, next *grad.Var) {
	vars := []*grad.Var{z, c}
	if p != nil {
		vars = append(vars, p)
	}
	op := grad.Begin("sequence.LSTMGates", vars...)
	n, m := c.Value().Rows(), c.Value().RowLen()
	if z.Value().Rows() != n || z.Value().RowLen() != 4*m {
		panic(&tensor.ShapeError{Op: "sequence.LSTMGates", Shapes: [][]int{slices.Clone(z.Shape()), slices.Clone(c.Shape())}, Why: "z wants four columns for each of c"})
	}
	if p != nil && (p.Value().Rows() != 3 || p.Value().RowLen() != m) {
		panic(&tensor.ShapeError{Op: "sequence.LSTMGates", Shapes: [][]int{slices.Clone(p.Shape()), slices.Clone(c.Shape())}, Why: "peepholes want three rows as long as c's"})
	}
	h, next = op.New(n, m), op.New(n, m)
	k := &gates{z: z, c: c, p: p, h: h, next: next, m: m, old: old}
	k.act, k.tanh = op.Floats(n*4*m), op.Floats(n*m)
	for r := range n {
		k.forward(r)
	}
	op.RecordAll([]*grad.Var{h, next}, k.backward)
	return h, next
}

// gates is one run of LSTMGates.
type gates struct {
	z, c, p *grad.Var
	h, next *grad.Var
	m       int
	old     bool

	act  []tensor.Float // i, f, g, o of each row
	tanh []tensor.Float // tanh(next)
}

// row returns the values of row r: its gates, its old and its new cell.
func (k *gates) row(r int) (act, c, next, th []tensor.Float) {
	m := k.m
	return k.act[r*4*m : (r+1)*4*m], k.c.Value().Row(r), k.next.Value().Row(r), k.tanh[r*m : (r+1)*m]
}

// seen returns the cell that the output gate sees.
func (k *gates) seen(c, next []tensor.Float) []tensor.Float {
	if k.old {
		return c
	}
	return next
}

func (k *gates) forward(r int) {
	m := k.m
	act, c, next, th := k.row(r)
	copy(act, k.z.Value().Row(r))
	if k.p != nil {
		addProduct(act[:m], k.p.Value().Row(0), c)
		addProduct(act[m:2*m], k.p.Value().Row(1), c)
	}
	simd.Sigmoid.Forward(act[:2*m], act[:2*m], 0)
	simd.Tanh.Forward(act[2*m:3*m], act[2*m:3*m], 0)
	i, f, g, o := act[:m], act[m:2*m], act[2*m:3*m], act[3*m:]
	for j := range next {
		next[j] = f[j]*c[j] + i[j]*g[j]
	}
	if k.p != nil {
		addProduct(o, k.p.Value().Row(2), k.seen(c, next))
	}
	simd.Sigmoid.Forward(o, o, 0)
	simd.Tanh.Forward(th, next, 0)
	h := k.h.Value().Row(r)
	for j := range h {
		h[j] = o[j] * th[j]
	}
}

// backward adds to the gradients of z, c and p. Either result may have none of
// its own, which is zero then.
func (k *gates) backward() {
	op := grad.Begin("sequence.LSTMGates", k.z)
	dh, dnext := k.h.Grad(), k.next.Grad()
	op.Scratch(8*k.m, func(buf []tensor.Float) {
		d, dc, p := buf[:4*k.m], buf[4*k.m:5*k.m], buf[5*k.m:]
		if k.p != nil {
			copy(p, k.p.Value().Data)
		}
		for r := range k.c.Value().Rows() {
			k.pull(r, pulls{h: dh.Row(r), next: dnext.Row(r), z: d, c: dc, p: p})
			k.give(r, d, dc)
		}
	})
}

// pulls is one row's gradients: of the results, and to be set, of z and c. p is
// the peepholes, zeros where there are none.
type pulls struct{ h, next, z, c, p []tensor.Float }

// pull computes the gradients of row r.
func (k *gates) pull(r int, d pulls) {
	m := k.m
	act, c, _, th := k.row(r)
	for j := range m {
		i, f, g, o := act[j], act[m+j], act[2*m+j], act[3*m+j]
		do := d.h[j] * th[j] * o * (1 - o)
		dn := d.next[j] + d.h[j]*o*(1-th[j]*th[j])
		dc := do * d.p[2*m+j] // of what the output gate saw
		if !k.old {
			dn, dc = dn+dc, 0
		}
		di, df := dn*g*i*(1-i), dn*c[j]*f*(1-f)
		d.z[j], d.z[m+j], d.z[2*m+j], d.z[3*m+j] = di, df, dn*i*(1-g*g), do
		d.c[j] = dc + dn*f + di*d.p[j] + df*d.p[m+j]
	}
}

// give adds row r's gradients to those of z, c and p that are wanted.
func (k *gates) give(r int, d, dc []tensor.Float) {
	m := k.m
	if dz := k.z.Grad(); dz != nil {
		add(dz.Row(r), d)
	}
	if g := k.c.Grad(); g != nil {
		add(g.Row(r), dc)
	}
	if k.p == nil || !k.p.Needs() {
		return
	}
	_, c, next, _ := k.row(r)
	dp := k.p.Grad()
	addProduct(dp.Row(0), d[:m], c)
	addProduct(dp.Row(1), d[m:2*m], c)
	addProduct(dp.Row(2), d[3*m:], k.seen(c, next))
}

// add is dst += x.
func add(dst, x []tensor.Float) {
	for j, v := range x {
		dst[j] += v
	}
}

// addProduct is dst += x·y, element by element.
func addProduct(dst, x, y []tensor.Float) {
	for j := range dst {
		dst[j] += x[j] * y[j]
	}
}

package sequence

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
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
	return lstmGates(z, c, p, gateForm{old: old})
}

// gateForm says how gates are computed.
type gateForm struct {
	old  bool // the output gate's peephole sees the old cell
	over bool // nothing else reads the operands of gates, which may be overwritten
}

func lstmGates(z, c, p *grad.Var, form gateForm) (h, next *grad.Var) {
	vars := [...]*grad.Var{z, c, p}
	last := len(vars)
	if p == nil {
		last--
	}
	op := grad.Begin("sequence.LSTMGates", vars[:last]...)
	n, m := c.Value().Rows(), c.Value().RowLen()
	if z.Value().Rows() != n || z.Value().RowLen() != 4*m {
		panic(&tensor.ShapeError{Op: "sequence.LSTMGates", Shapes: [][]int{slices.Clone(z.Shape()), slices.Clone(c.Shape())}, Why: "z wants four columns for each of c"})
	}
	if p != nil && (p.Value().Rows() != 3 || p.Value().RowLen() != m) {
		panic(&tensor.ShapeError{Op: "sequence.LSTMGates", Shapes: [][]int{slices.Clone(p.Shape()), slices.Clone(c.Shape())}, Why: "peepholes want three rows as long as c's"})
	}
	h, next = op.Fresh(n, m), op.Fresh(n, m)
	k := grad.Notes[gates](op)
	*k = gates{op: op, of: gateVars{z, c, p, h, next}, z: z.Value(), c: c.Value(), h: h.Value(), next: next.Value(), m: m, old: form.old}
	if p != nil {
		k.p = p.Value()
	}
	k.act, k.tanh = k.z.Data, op.Fresh(n, m).Value().Data
	if !form.over {
		k.act = op.Fresh(n, 4*m).Value().Data
	}
	if !op.Dry(0) {
		k.run(n)
	}
	op.RecordAllBy([]*grad.Var{h, next}, k)
	return h, next
}

// gateVars are the operands and results of gates.
type gateVars struct{ z, c, p, h, next *grad.Var }

// Pull runs backwards.
func (k *gates) Pull(*tensor.Dense) {
	k.dh, k.dnext, k.dc, k.back = k.of.h.Grad(), k.of.next.Grad(), k.of.c.Grad(), true
	k.dz, k.set = k.of.z.FreshGrad()
	k.op.Scratch(chunks(k.c.Rows(), 4*k.m)*2*k.m, func(buf []tensor.Float) {
		k.rest = buf
		k.pullAll(k.op, k.of.p)
	})
}

// pullAll runs backwards.
func (k *gates) pullAll(op grad.Op, p *grad.Var) {
	n := k.c.Rows()
	if k.set && p != nil {
		clear(k.dz.Data)
	}
	if k.dz != nil && p == nil {
		k.d = k.dz.Data
		k.run(n)
		return
	}
	op.Scratch(n*4*k.m, func(buf []tensor.Float) {
		k.d, k.set = buf, false
		k.run(n)
		if k.dz != nil {
			vec.Add.Forward(k.dz.Data, k.dz.Data, buf, 1, 1)
		}
		if p != nil && p.Needs() {
			k.peepholes(p.Grad())
		}
	})
}

// gates is one run of LSTMGates, forwards or backwards. The gradients dz and dc
// may be nil.
type gates struct {
	op grad.Op
	of gateVars

	z, c, p *tensor.Dense
	h, next *tensor.Dense
	m       int
	old     bool
	back    bool

	act  []tensor.Float // i, f, g, o of each row
	tanh []tensor.Float // tanh(next)

	dh, dnext, dz, dc *tensor.Dense
	d                 []tensor.Float // what the gradient of z is added to
	set               bool           // d holds anything
	rest              []tensor.Float // two rows for each chunk, for what is between
}

// chunkRows is how many rows of n elements a thread takes at a time: gates of
// some microseconds.
func chunkRows(n int) int { return max(1, 4096/max(n, 1)) }

// chunks is how many times that n rows are.
func chunks(n, length int) int { return (n + chunkRows(length) - 1) / chunkRows(length) }

// run does n rows on several threads.
func (k *gates) run(n int) { par.Run(chunks(n, 4*k.m), k) }

// Chunk does some rows.
func (k *gates) Chunk(i int) {
	step := chunkRows(4 * k.m)
	for r := i * step; r < min((i+1)*step, k.c.Rows()); r++ {
		switch {
		case !k.back:
			k.forward(r)
		case k.p != nil:
			k.pullPeeping(r)
		default:
			k.pull(r, k.rest[i*2*k.m:(i+1)*2*k.m])
		}
	}
}

// row returns the values of row r: its gates, its old and its new cell.
func (k *gates) row(r int) (act, c, next, th []tensor.Float) {
	m := k.m
	return k.act[r*4*m : (r+1)*4*m], k.c.Row(r), k.next.Row(r), k.tanh[r*m : (r+1)*m]
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
	i, f, g, o := act[:m], act[m:2*m], act[2*m:3*m], act[3*m:]
	z := k.z.Row(r)
	if k.p == nil {
		vec.Sigmoid.Forward(act[:2*m], z[:2*m], 0)
		vec.Sigmoid.Forward(o, z[3*m:], 0)
	} else {
		copy(act, z) // itself, if z may be overwritten
		addProduct(i, k.p.Row(0), c)
		addProduct(f, k.p.Row(1), c)
		vec.Sigmoid.Forward(act[:2*m], act[:2*m], 0)
	}
	vec.Tanh.Forward(g, z[2*m:3*m], 0)
	vec.Mul.Forward(next, f, c, 1, 1)
	vec.Mul.BackwardX(next, i, g, g, 1, 1)
	if k.p != nil {
		addProduct(o, k.p.Row(2), k.seen(c, next))
		vec.Sigmoid.Forward(o, o, 0)
	}
	vec.Tanh.Forward(th, next, 0)
	vec.Mul.Forward(k.h.Row(r), o, th, 1, 1)
}

// pull adds row r's gradients to d and to that of c. rest is room for two rows.
func (k *gates) pull(r int, rest []tensor.Float) {
	act, c, _, th := k.row(r)
	m := k.m
	i, f, g, o := act[:m], act[m:2*m], act[2*m:3*m], act[3*m:]
	d := k.d[r*4*m : (r+1)*4*m]
	dh, dn, y := k.dh.Row(r), rest[:m], rest[m:]
	if k.set {
		clear(d)
	}

	vec.Mul.Forward(y, dh, th, 1, 1)
	vec.Sigmoid.Backward(d[3*m:], y, o, o, 0)
	copy(dn, k.dnext.Row(r))
	vec.Mul.Forward(y, dh, o, 1, 1)
	vec.Tanh.Backward(dn, y, th, th, 0)

	vec.Mul.Forward(y, dn, g, 1, 1)
	vec.Sigmoid.Backward(d[:m], y, i, i, 0)
	vec.Mul.Forward(y, dn, c, 1, 1)
	vec.Sigmoid.Backward(d[m:2*m], y, f, f, 0)
	vec.Mul.Forward(y, dn, i, 1, 1)
	vec.Tanh.Backward(d[2*m:3*m], y, g, g, 0)
	if k.dc != nil {
		vec.Mul.BackwardX(k.dc.Row(r), dn, f, f, 1, 1)
	}
}

// pullPeeping is pull with peepholes.
func (k *gates) pullPeeping(r int) {
	m := k.m
	act, c, _, th := k.row(r)
	dh, dnext, p, d := k.dh.Row(r), k.dnext.Row(r), k.p.Data, k.d[r*4*m:(r+1)*4*m]
	for j := range m {
		i, f, g, o := act[j], act[m+j], act[2*m+j], act[3*m+j]
		do := dh[j] * th[j] * o * (1 - o)
		dn := dnext[j] + dh[j]*o*(1-th[j]*th[j])
		dc := do * p[2*m+j] // of what the output gate saw
		if !k.old {
			dn, dc = dn+dc, 0
		}
		di, df := dn*g*i*(1-i), dn*c[j]*f*(1-f)
		d[j], d[m+j], d[2*m+j], d[3*m+j] = di, df, dn*i*(1-g*g), do
		if k.dc != nil {
			k.dc.Row(r)[j] += dc + dn*f + di*p[j] + df*p[m+j]
		}
	}
}

// peepholes adds to the gradient of p, row after row.
func (k *gates) peepholes(dp *tensor.Dense) {
	m := k.m
	for r := range k.c.Rows() {
		_, c, next, _ := k.row(r)
		d := k.d[r*4*m : (r+1)*4*m]
		addProduct(dp.Row(0), d[:m], c)
		addProduct(dp.Row(1), d[m:2*m], c)
		addProduct(dp.Row(2), d[3*m:], k.seen(c, next))
	}
}

// addProduct is dst += x·y, element by element.
func addProduct(dst, x, y []tensor.Float) {
	for j := range dst {
		dst[j] += x[j] * y[j]
	}
}

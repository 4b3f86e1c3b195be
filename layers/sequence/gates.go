package sequence

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message"
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
	return gateOperands{z: z, c: c, p: p}.apply(gateForm{old: old})
}

// gateForm says how gates are computed.
type gateForm struct {
	old    bool   // the output gate's peephole sees the old cell
	over   bool   // nothing else reads the operands of gates, which may be overwritten
	forget Forget // what makes f; but for its own weights z has no z_f, and p no p_f
}

// blocks is how many parts z has.
func (f gateForm) blocks() int {
	if f.forget == OwnForget {
		return 4
	}
	return 3
}

// gateOperands are the operands of LSTMGates. With q, N×4m, LN(z)·gainX + b + LN(q)·gain
// stands for z, and h is o·tanh(LN(next)·gainC + biasC).
// With sums the gradients of the gains and biases are that of sums, see normSums.
type gateOperands struct{ z, c, p, q, gainX, b, gain, gainC, biasC, sums *grad.Var }

// list appends those that there are.
func (v gateOperands) list(to []*grad.Var) []*grad.Var {
	for _, x := range [...]*grad.Var{v.z, v.c, v.p, v.q, v.gainX, v.b, v.gain, v.gainC, v.biasC, v.sums} {
		if x != nil {
			to = append(to, x)
		}
	}
	return to
}

// check panics unless the operands have the shapes of c's.
func (v gateOperands) check(blocks int) {
	n, m := v.c.Value().Rows(), v.c.Value().RowLen()
	bad := func(x *grad.Var, why string) {
		panic(&tensor.ShapeError{Op: "sequence.LSTMGates", Shapes: [][]int{slices.Clone(x.Shape()), slices.Clone(v.c.Shape())}, Why: why})
	}
	for _, x := range [...]*grad.Var{v.z, v.q} {
		if x != nil && (x.Value().Rows() != n || x.Value().RowLen() != blocks*m) {
			bad(x, fmt.Sprintf("z wants %d columns for each of c", blocks))
		}
	}
	if p := v.p; p != nil && (p.Value().Rows() != blocks-1 || p.Value().RowLen() != m) {
		bad(p, fmt.Sprintf("peepholes want %d rows as long as c's", blocks-1))
	}
}

// apply computes the gates.
func (v gateOperands) apply(form gateForm) (h, next *grad.Var) { return v.applyTo(form, room{}) }

// room is where the states after a step are to lie, or nil.
type room [2]*grad.Var

// roomOf is that of a level.
func roomOf(lv *message.Level) room { return room{lv.Room(0), lv.Room(1)} }

// fill returns Var i, of so many rows and columns.
func (r room) fill(op grad.Op, i, rows, columns int) *grad.Var {
	if r[i] != nil {
		return r[i]
	}
	return op.Fresh(rows, columns)
}

// applyTo computes the gates, with their results where to says.
func (v gateOperands) applyTo(form gateForm, to room) (h, next *grad.Var) {
	var room [10]*grad.Var
	op := grad.Begin("sequence.LSTMGates", v.list(room[:0])...)
	blocks := form.blocks()
	v.check(blocks)
	n, m := v.c.Value().Rows(), v.c.Value().RowLen()
	h, next = to.fill(op, 0, n, m), to.fill(op, 1, n, m)
	k := tape.Note(op, gates{op: op, of: v, yh: h, ynext: next, z: v.z.Value(), c: v.c.Value(), h: h.Value(), next: next.Value(), m: m, blocks: blocks, form: form})
	if v.p != nil {
		k.p = v.p.Value()
	}
	k.act, k.tanh = k.z.Data, op.Fresh(n, m).Value().Data
	if !form.over || v.q != nil && op.Needs() { // a norm's gradient wants what it read
		k.act = op.Fresh(n, blocks*m).Value().Data
	}
	if v.q != nil {
		k.normed = tape.Notes[gateNorms](op)
		k.normed.begin(k)
	}
	if k.plain = form.forget == OwnForget && (v.p == nil || !form.old); k.plain {
		k.rows = vec.LSTMRows{M: m, Gates: k.act, Cell: k.c.Data, Next: k.next.Data, Tanh: k.tanh, H: k.h.Data, Inner: v.q != nil}
		if v.p != nil {
			k.rows.Peep = k.p.Data
		}
	}
	k.run(n)
	tape.RecordAllBy(op, []*grad.Var{h, next}, k)
	return h, next
}

// Pull runs backwards.
func (k *gates) Pull(*tensor.Dense) {
	k.dh, k.dnext, k.back = k.yh.Grad(), k.ynext.Grad(), true
	if k.rows.SetCell = false; k.plain && k.form.over { // so c is not a part of z
		k.dc, k.rows.SetCell = tape.FreshGrad(k.of.c)
	} else {
		k.dc = k.of.c.Grad()
	}
	if k.p != nil && k.of.p.Needs() {
		k.dp = k.of.p.Grad().Data
	}
	n, own := k.count(), 2*k.m+k.peepSums()
	k.op.Scratch(n*own, func(buf []tensor.Float) {
		if k.rest, k.sums = buf[:n*2*k.m], buf[n*2*k.m:]; k.normed != nil {
			k.normed.pull(k)
			return
		}
		k.dz, k.set = tape.FreshGrad(k.of.z)
		k.pullAll()
	})
}

// pullAll runs backwards. The gradients of p want those of z by themselves.
func (k *gates) pullAll() {
	if k.dz != nil && (k.p == nil || k.set) {
		k.pullOnto(k.dz.Data)
		return
	}
	k.op.Scratch(k.c.Rows()*k.blocks*k.m, func(buf []tensor.Float) {
		k.set = false
		k.pullOnto(buf)
		if k.dz != nil && !tape.Measuring(k.op) {
			vec.Add.Forward(k.dz.Data, k.dz.Data, buf, 1, 1)
		}
	})
}

// pullOnto runs backwards and adds the gradient of z to d.
func (k *gates) pullOnto(d []tensor.Float) {
	k.d = d
	if k.quick = k.plain && (k.set || k.p != nil || k.normed != nil) && k.dc != nil; k.quick {
		k.rows.DGates, k.rows.DCell, k.rows.DNext, k.rows.DH = d, k.dc.Data, k.dnext.Data, k.dh.Data
	} else if k.rows.SetCell && !tape.Measuring(k.op) {
		clear(k.dc.Data)
	}
	k.run(k.c.Rows())
	if k.dp != nil && !tape.Measuring(k.op) {
		k.addPeepSums()
	}
}

// gates is one run of LSTMGates, forwards or backwards. The gradients dz and dc
// may be nil.
type gates struct {
	op        grad.Op
	of        gateOperands
	yh, ynext *grad.Var
	normed    *gateNorms // nil: nothing is normalised

	z, c, p *tensor.Dense
	h, next *tensor.Dense
	m       int
	blocks  int
	form    gateForm
	back    bool
	plain   bool // a forget gate, and no peephole sees the old cell in place of the new: rows computes them
	quick   bool // and their gradients, which are set
	rows    vec.LSTMRows

	act  []tensor.Float // i, f, g, o of each row
	tanh []tensor.Float // tanh(next), or of that normalised

	dh, dnext, dz, dc *tensor.Dense
	d                 []tensor.Float // what the gradient of z is added to
	set               bool           // d holds anything
	rest              []tensor.Float // two rows for each chunk, for what is between
	dp                []tensor.Float // the gradient of p, nil if none is wanted
	sums              []tensor.Float // for it, of each chunk
}

// chunkRows is how many rows of n elements a thread takes at a time: gates of
// some microseconds.
func chunkRows(n int) int { return max(1, 4096/max(n, 1)) }

// chunks is how many times that n rows are.
func chunks(n, length int) int { return (n + chunkRows(length) - 1) / chunkRows(length) }

// count is how many chunks k has.
func (k *gates) count() int { return chunks(k.c.Rows(), k.blocks*k.m) }

// run does n rows on several threads, and none under Measure.
func (k *gates) run(n int) {
	if !tape.Measuring(k.op) {
		par.Run(chunks(n, k.blocks*k.m), k)
	}
}

// Chunk does some rows.
func (k *gates) Chunk(i int) {
	step := chunkRows(k.blocks * k.m)
	lo, hi := i*step, min((i+1)*step, k.c.Rows())
	var rest []tensor.Float
	if k.back {
		rest = k.rest[i*2*k.m : (i+1)*2*k.m]
	}
	if k.normed != nil {
		k.normed.before(k, lo, hi)
	}
	if k.gateRows(lo, hi, rest); k.back && k.p != nil && !k.quick {
		k.peepholes(lo, hi)
	}
	if k.normed != nil {
		k.normed.after(k, lo, hi)
	}
}

// gateRows does the gates of rows lo to hi, without hi. rest is room for two rows.
func (k *gates) gateRows(lo, hi int, rest []tensor.Float) {
	switch {
	case k.back && k.quick:
		k.rows.Backward(lo, hi, rest, k.peepSumsOf(lo))
		return
	case !k.back && k.plain:
		if n := k.blocks * k.m; !k.form.over && k.normed == nil {
			copy(k.act[lo*n:hi*n], k.z.Data[lo*n:hi*n])
		}
		k.rows.Forward(lo, hi)
		return
	}
	for r := lo; r < hi; r++ {
		switch {
		case !k.back:
			k.forward(r)
		case k.p != nil:
			k.pullPeeping(r)
		default:
			k.pull(r, rest)
		}
	}
}

// row returns the values of row r: its gates, its old and its new cell.
func (k *gates) row(r int) (act, c, next, th []tensor.Float) {
	m := k.m
	return k.part(k.act, r), k.c.Row(r), k.next.Row(r), k.tanh[r*m : (r+1)*m]
}

// part is row r of what has all gates side by side.
func (k *gates) part(x []tensor.Float, r int) []tensor.Float {
	n := k.blocks * k.m
	return x[r*n : (r+1)*n]
}

// split returns what x, a row of all gates, has for each; f is nil if it has no
// weights of its own.
func (k *gates) split(x []tensor.Float) (i, f, g, o []tensor.Float) {
	m := k.m
	if k.blocks == 4 {
		return x[:m], x[m : 2*m], x[2*m : 3*m], x[3*m:]
	}
	return x[:m], nil, x[m : 2*m], x[2*m:]
}

// seen returns the cell that the output gate sees.
func (k *gates) seen(c, next []tensor.Float) []tensor.Float {
	if k.form.old {
		return c
	}
	return next
}

func (k *gates) forward(r int) {
	act, c, next, th := k.row(r)
	i, f, g, o := k.split(act)
	z := k.z.Row(r)
	if k.normed != nil {
		z = act
	}
	_, _, zg, zo := k.split(z)
	in := act[:len(i)+len(f)] // the gates into the cell
	if k.p == nil {
		vec.Sigmoid.Forward(in, z[:len(in)], 0)
		vec.Sigmoid.Forward(o, zo, 0)
	} else {
		copy(act, z) // itself, if z may be overwritten
		vec.AddProducts(i, k.p.Row(0), c)
		if f != nil {
			vec.AddProducts(f, k.p.Row(1), c)
		}
		vec.Sigmoid.Forward(in, in, 0)
	}
	vec.Tanh.Forward(g, zg, 0)
	switch k.form.forget {
	case NoForget:
		vec.Mul.Forward(next, i, g, 1, 1)
		vec.Add.Forward(next, next, c, 1, 1)
	case CoupledForget:
		oneMinus(th, i)
		vec.Mul.Forward(next, th, c, 1, 1)
		vec.Mul.BackwardX(next, i, g, g, 1, 1)
	default:
		vec.Mul.Forward(next, f, c, 1, 1)
		vec.Mul.BackwardX(next, i, g, g, 1, 1)
	}
	if k.p != nil {
		vec.AddProducts(o, k.p.Row(k.blocks-2), k.seen(c, next))
		vec.Sigmoid.Forward(o, o, 0)
	}
	if k.normed == nil {
		vec.Tanh.Forward(th, next, 0)
		vec.Mul.Forward(k.h.Row(r), o, th, 1, 1)
	}
}

// oneMinus is dst = 1 − x.
func oneMinus(dst, x []tensor.Float) {
	vec.Neg.Forward(dst, x, 0)
	vec.Shift.Forward(dst, dst, 1)
}

func fill(dst []tensor.Float, v tensor.Float) {
	for j := range dst {
		dst[j] = v
	}
}

// pull adds row r's gradients to d and to that of c. rest is room for two rows.
func (k *gates) pull(r int, rest []tensor.Float) {
	act, c, _, th := k.row(r)
	m := k.m
	i, f, g, o := k.split(act)
	d := k.part(k.d, r)
	if k.set {
		clear(d)
	}
	di, df, dg, do := k.split(d)
	dh, dn, y := k.dh.Row(r), rest[:m], rest[m:]

	vec.Mul.Forward(y, dh, th, 1, 1)
	vec.Sigmoid.Backward(do, y, o, o, 0)
	copy(dn, k.dnext.Row(r))
	if k.normed == nil {
		vec.Mul.Forward(y, dh, o, 1, 1)
		vec.Tanh.Backward(dn, y, th, th, 0)
	}

	if k.form.forget == CoupledForget {
		vec.Sub.Forward(y, g, c, 1, 1)
		vec.Mul.Forward(y, y, dn, 1, 1)
	} else {
		vec.Mul.Forward(y, dn, g, 1, 1)
	}
	vec.Sigmoid.Backward(di, y, i, i, 0)
	if f != nil {
		vec.Mul.Forward(y, dn, c, 1, 1)
		vec.Sigmoid.Backward(df, y, f, f, 0)
	}
	vec.Mul.Forward(y, dn, i, 1, 1)
	vec.Tanh.Backward(dg, y, g, g, 0)
	if k.dc == nil {
		return
	}
	switch dc := k.dc.Row(r); k.form.forget {
	case NoForget:
		vec.Add.Forward(dc, dc, dn, 1, 1)
	case CoupledForget:
		oneMinus(y, i)
		vec.Mul.BackwardX(dc, dn, y, y, 1, 1)
	default:
		vec.Mul.BackwardX(dc, dn, f, f, 1, 1)
	}
}

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// LSTMRows are what follows the products of an LSTM, row by row: of M units the gates i,
// f, g and o, side by side, and the rest in arrays of M elements a row.
type LSTMRows struct {
	M                   int
	Gates               []Float // before Forward what they are functions of
	Cell, Next, Tanh, H []Float
	Peep                []Float // diagonal peepholes of i, f and o, M each; nil: none

	DGates, DCell, DNext, DH []Float // gradients of what the gates are functions of, and of the others
	SetCell                  bool    // Backward sets DCell

	// Inner leaves out what follows next: Forward does not make Tanh and H, and DNext is the
	// whole gradient of next when Backward reads it. Tanh is what h was o times of.
	Inner bool
}

// Forward computes rows lo to hi, without hi:
//
//	i, f, o = σ(i), σ(f), σ(o)    g = tanh(g)
//	next = f·cell + i·g           h = o·tanh(next)
//
// without h if p is Inner, with the bits of Sigmoid, Tanh and products, one after another. With
// Peep, the products of cell with two thirds of it are added to i and f before, and of next with
// the last to o.
func (p *LSTMRows) Forward(lo, hi int) {
	for r := lo; r < hi; r++ {
		from := 0
		if cpu.Fast {
			from = p.forwardFast(r)
		}
		if from < p.M {
			p.forwardGo(r, from)
		}
	}
}

// forwardGo is the truth of Forward: of row r, from an element on.
func (p *LSTMRows) forwardGo(r, from int) {
	i, f, g, o := p.gates(p.Gates, r, from)
	cell, next, th := p.part(p.Cell, r, from), p.part(p.Next, r, from), p.part(p.Tanh, r, from)
	if p.Peep != nil {
		AddProducts(i, p.part(p.Peep, 0, from), cell)
		AddProducts(f, p.part(p.Peep, 1, from), cell)
	}
	Sigmoid.Forward(i, i, 0)
	Sigmoid.Forward(f, f, 0)
	Tanh.Forward(g, g, 0)
	Mul.Forward(next, f, cell, 1, 1)
	Mul.BackwardX(next, i, g, g, 1, 1)
	if p.Peep != nil {
		AddProducts(o, p.part(p.Peep, 2, from), next)
	}
	Sigmoid.Forward(o, o, 0)
	if p.Inner {
		return
	}
	Tanh.Forward(th, next, 0)
	Mul.Forward(p.part(p.H, r, from), o, th, 1, 1)
}

// Backward sets DGates and adds to DCell, or sets it:
//
//	do = dh·tanh(next)·o·(1 − o)      dn = dnext + dh·o·(1 − tanh²(next))
//	di = dn·g·i·(1 − i)               df = dn·cell·f·(1 − f)
//	dg = dn·i·(1 − g²)                dcell += dn·f
//
// where dn is dnext alone if p is Inner, of rows lo to hi, without hi, which Forward has computed. rest is room for two rows of M.
// With Peep dn has do·peep besides, dcell is given di·peep and df·peep, too, and sums, 3·M, are added to:
//
//	sums += [di·cell  df·cell  do·next]
func (p *LSTMRows) Backward(lo, hi int, rest, sums []Float) {
	for r := lo; r < hi; r++ {
		switch {
		case p.Peep != nil:
			from := 0
			if cpu.Fast {
				from = p.peepingFast(r, sums)
			}
			p.peepingGo(r, from, sums)
		case !cpu.Fast || !p.backwardFast(r):
			p.backwardGo(r, rest)
		}
	}
}

// peepingGo is the truth of Backward with peepholes: of row r, from an element on.
func (p *LSTMRows) peepingGo(r, from int, sums []Float) {
	is, fs, gs, os := p.gates(p.Gates, r, from)
	dis, dfs, dgs, dos := p.gates(p.DGates, r, from)
	pi, pf, po := p.part(p.Peep, 0, from), p.part(p.Peep, 1, from), p.part(p.Peep, 2, from)
	si, sf, so := p.part(sums, 0, from), p.part(sums, 1, from), p.part(sums, 2, from)
	cell, next, th := p.part(p.Cell, r, from), p.part(p.Next, r, from), p.part(p.Tanh, r, from)
	dcell, dnext, dh := p.part(p.DCell, r, from), p.part(p.DNext, r, from), p.part(p.DH, r, from)
	for j, i := range is { // a product is rounded: some processors would fuse it with a sum
		f, g, o, c := fs[j], gs[j], os[j], cell[j]
		do, dn := Float(dh[j]*th[j]*o*(1-o)), dnext[j]
		if !p.Inner {
			dn += Float(dh[j] * o * (1 - Float(th[j]*th[j])))
		}
		dn += Float(do * po[j])
		di, df, dg := Float(dn*g*i*(1-i)), Float(dn*c*f*(1-f)), Float(dn*i*(1-Float(g*g)))
		dis[j], dfs[j], dgs[j], dos[j] = di+0, df+0, dg+0, do+0 // zero has no minus
		dc := Float(dn*f) + Float(di*pi[j]) + Float(df*pf[j])
		if p.SetCell {
			dcell[j] = 0
		}
		dcell[j] += dc
		si[j] += Float(di * c)
		sf[j] += Float(df * c)
		so[j] += Float(do * next[j])
	}
}

// GatedTanhGrad sets the gradient of what y = gate·tanh was the tanh of:
//
//	d[j] = dy[j]·gate[j]·(1 − tanh[j]²)
func GatedTanhGrad(d, dy, gate, tanh []Float) {
	if cpu.Fast && gatedTanhGradFast(d, dy, gate, tanh) {
		return
	}
	for j, v := range dy {
		d[j] = Float(v*gate[j]*(1-Float(tanh[j]*tanh[j]))) + 0
	}
}

// AddProducts is dst += x·y, element by element, each product rounded.
func AddProducts(dst, x, y []Float) {
	for j := range dst {
		dst[j] += Float(x[j] * y[j])
	}
}

// backwardGo is the truth of Backward, of row r.
func (p *LSTMRows) backwardGo(r int, rest []Float) {
	m := p.M
	i, f, g, o := p.gates(p.Gates, r, 0)
	di, df, dg, do := p.gates(p.DGates, r, 0)
	th, dh, dc := p.part(p.Tanh, r, 0), p.part(p.DH, r, 0), p.part(p.DCell, r, 0)
	dn, y := rest[:m], rest[m:2*m]
	clear(p.DGates[r*4*m : (r+1)*4*m])
	if p.SetCell {
		clear(dc)
	}
	Mul.Forward(y, dh, th, 1, 1)
	Sigmoid.Backward(do, y, o, o, 0)
	copy(dn, p.part(p.DNext, r, 0))
	if !p.Inner {
		Mul.Forward(y, dh, o, 1, 1)
		Tanh.Backward(dn, y, th, th, 0)
	}
	Mul.Forward(y, dn, g, 1, 1)
	Sigmoid.Backward(di, y, i, i, 0)
	Mul.Forward(y, dn, p.part(p.Cell, r, 0), 1, 1)
	Sigmoid.Backward(df, y, f, f, 0)
	Mul.Forward(y, dn, i, 1, 1)
	Tanh.Backward(dg, y, g, g, 0)
	Mul.BackwardX(dc, dn, f, f, 1, 1)
}

// gates are the four blocks of row r of x, from an element of each on.
func (p *LSTMRows) gates(x []Float, r, from int) (i, f, g, o []Float) {
	m := p.M
	x = x[r*4*m : (r+1)*4*m]
	return x[from:m], x[m+from : 2*m], x[2*m+from : 3*m], x[3*m+from:]
}

// part is row r of x, from an element on.
func (p *LSTMRows) part(x []Float, r, from int) []Float { return x[r*p.M+from : (r+1)*p.M] }

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// GRURows are what follows the products of a GRU, row by row: of M units the gates r, z and n,
// side by side, as their shares of the input and, in Q, of the state, and the rest in arrays of M
// elements a row.
type GRURows struct {
	M         int
	Gates, Q  []Float // before Forward what they are functions of
	Old, Next []Float
	Bias      []Float // of M elements; nil: none
	Admits    bool    // z = 1 takes n, not the old state

	DGates, DQ, DOld, DNext []Float // gradients of what Forward read, and of Next
}

// Forward computes rows lo to hi, without hi:
//
//	r, z = σ(r + q_r), σ(z + q_z)     q_n = q_n + bias
//	n = tanh(n + r·q_n)               next = n + (old − n)·z
//
// or next = old + (n − old)·z if z admits, with the bits of Sigmoid, Tanh, sums and products,
// one after another.
func (p *GRURows) Forward(lo, hi int) {
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
func (p *GRURows) forwardGo(row, from int) {
	r, z, n := p.gates(p.Gates, row, from)
	qr, qz, qn := p.gates(p.Q, row, from)
	Add.Forward(r, r, qr, 1, 1)
	Add.Forward(z, z, qz, 1, 1)
	Sigmoid.Forward(r, r, 0)
	Sigmoid.Forward(z, z, 0)
	if p.Bias != nil {
		Add.Forward(qn, qn, p.Bias[from:], 1, 1)
	}
	Mul.BackwardX(n, r, qn, qn, 1, 1)
	Tanh.Forward(n, n, 0)
	y := p.part(p.Next, row, from)
	start, end := p.ends(p.part(p.Old, row, from), n)
	Sub.Forward(y, end, start, 1, 1)
	Mul.Forward(y, y, z, 1, 1)
	Add.Forward(y, y, start, 1, 1)
}

// Backward sets DGates and DQ and adds to DOld:
//
//	dz = dnext·(old − n)·z·(1 − z)    dn = dnext·(1 − z)·(1 − n²)
//	dr = dn·q_n·r·(1 − r)             dq = [dr dz dn·r]
//	dold += dnext·z
//
// or what belongs to it if z admits, of rows lo to hi, without hi, which Forward has computed.
// rest is room for M elements.
func (p *GRURows) Backward(lo, hi int, rest []Float) {
	for r := lo; r < hi; r++ {
		if !cpu.Fast || !p.backwardFast(r) {
			p.backwardGo(r, rest)
		}
	}
}

// backwardGo is the truth of Backward, of a row.
func (p *GRURows) backwardGo(row int, rest []Float) {
	m := p.M
	r, z, n := p.gates(p.Gates, row, 0)
	_, _, inner := p.gates(p.Q, row, 0)
	dr, dz, dn := p.gates(p.DGates, row, 0)
	_, _, dinner := p.gates(p.DQ, row, 0)
	old, dold, dy, y := p.part(p.Old, row, 0), p.part(p.DOld, row, 0), p.part(p.DNext, row, 0), rest[:m]
	clear(p.DGates[row*3*m : (row+1)*3*m])

	Mul.Forward(y, dy, z, 1, 1) // what goes to z's end, of the two that it leads between
	if p.Admits {
		Tanh.Backward(dn, y, n, n, 0)
		Sub.Forward(y, dy, y, 1, 1)
	}
	Add.Forward(dold, dold, y, 1, 1)
	if !p.Admits {
		Sub.Forward(y, dy, y, 1, 1)
		Tanh.Backward(dn, y, n, n, 0)
	}
	start, end := p.ends(old, n)
	Sub.Forward(y, end, start, 1, 1)
	Mul.Forward(y, y, dy, 1, 1)
	Sigmoid.Backward(dz, y, z, z, 0)
	Mul.Forward(y, dn, inner, 1, 1)
	Sigmoid.Backward(dr, y, r, r, 0)
	Mul.Forward(dinner, dn, r, 1, 1)
	copy(p.DQ[row*3*m:row*3*m+2*m], p.DGates[row*3*m:])
}

// ends returns where z leads from, at 0, and to, at 1.
func (p *GRURows) ends(old, n []Float) (from, to []Float) {
	if p.Admits {
		return old, n
	}
	return n, old
}

// gates are the three blocks of row r of x, from an element of each on.
func (p *GRURows) gates(x []Float, row, from int) (r, z, n []Float) {
	m := p.M
	x = x[row*3*m : (row+1)*3*m]
	return x[from:m], x[m+from : 2*m], x[2*m+from:]
}

// part is a row of x, from an element on.
func (p *GRURows) part(x []Float, row, from int) []Float { return x[row*p.M+from : (row+1)*p.M] }

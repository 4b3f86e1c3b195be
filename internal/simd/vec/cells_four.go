//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

import (
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// Cells call the kernels that their passes in plain Go lead to, in the same order, for a part of a row. On WebAssembly the ways
// between would take as long as they do.

// cellPart is how many elements of a row are done at a time.
const cellPart = 256

// sigmoids, tanhs and so on are for n elements.
func sigmoids(x []Float, lo, n int) { four.Sigmoid(begin(x, lo), begin(x, lo), constants(), n) }
func tanhs(y, x []Float, lo, n int) { four.Tanh(begin(y, lo), begin(x, lo), constants(), n) }
func products(z, x, y []Float, lo, n int) {
	four.Mul(begin(z, lo), begin(x, lo), begin(y, lo), n)
}

// peep adds the products of peepholes with some states, each rounded, to a gate.
func (p *LSTMRows) peep(gate, cell []Float, which, lo, n int) {
	if p.Peep == nil {
		return
	}
	var room [cellPart]Float
	four.Mul(begin(room[:], 0), begin(p.part(p.Peep, which, 0), lo), begin(cell, lo), n)
	four.Add(begin(gate, lo), begin(gate, lo), begin(room[:], 0), n)
}

// forwardFast is Forward of a row, and returns how many elements are done.
func (p *LSTMRows) forwardFast(r int) int {
	i, f, g, o := p.gates(p.Gates, r, 0)
	cell, next, th, h := p.part(p.Cell, r, 0), p.part(p.Next, r, 0), p.part(p.Tanh, r, 0), p.part(p.H, r, 0)
	for lo := 0; lo < p.M; lo += cellPart {
		n := min(cellPart, p.M-lo)
		p.peep(i, cell, 0, lo, n)
		p.peep(f, cell, 1, lo, n)
		sigmoids(i, lo, n)
		sigmoids(f, lo, n)
		tanhs(g, g, lo, n)
		products(next, f, cell, lo, n)
		four.MulAdd(begin(next, lo), begin(i, lo), begin(g, lo), n)
		p.peep(o, next, 2, lo, n)
		if sigmoids(o, lo, n); !p.Inner {
			tanhs(th, next, lo, n)
			products(h, o, th, lo, n)
		}
	}
	return p.M
}

// backwardFast is Backward of a row.
func (p *LSTMRows) backwardFast(r int) bool {
	i, f, g, o := p.gates(p.Gates, r, 0)
	di, df, dg, do := p.gates(p.DGates, r, 0)
	cell, th, dh, dc, dnext := p.part(p.Cell, r, 0), p.part(p.Tanh, r, 0), p.part(p.DH, r, 0), p.part(p.DCell, r, 0), p.part(p.DNext, r, 0)
	clear(p.DGates[r*4*p.M : (r+1)*4*p.M])
	if p.SetCell {
		clear(dc)
	}
	var room, of [cellPart]Float
	y, dn := begin(room[:], 0), begin(of[:], 0)
	for lo := 0; lo < p.M; lo += cellPart {
		n := min(cellPart, p.M-lo)
		four.Mul(y, begin(dh, lo), begin(th, lo), n)
		four.SigmoidSlope(begin(do, lo), y, begin(o, lo), n, 1)
		if copy(of[:n], dnext[lo:]); !p.Inner {
			four.Mul(y, begin(dh, lo), begin(o, lo), n)
			four.TanhSlope(dn, y, begin(th, lo), n, 1)
		}
		four.Mul(y, dn, begin(g, lo), n)
		four.SigmoidSlope(begin(di, lo), y, begin(i, lo), n, 1)
		four.Mul(y, dn, begin(cell, lo), n)
		four.SigmoidSlope(begin(df, lo), y, begin(f, lo), n, 1)
		four.Mul(y, dn, begin(i, lo), n)
		four.TanhSlope(begin(dg, lo), y, begin(g, lo), n, 1)
		four.MulAdd(begin(dc, lo), dn, begin(f, lo), n)
	}
	return true
}

// gatedTanhGradFast is GatedTanhGrad, with its roundings.
func gatedTanhGradFast(d, dy, gate, tanh []Float) bool {
	d, gate, tanh = d[:len(dy)], gate[:len(dy)], tanh[:len(dy)]
	var room [cellPart]Float
	slope := begin(room[:], 0)
	for lo := 0; lo < len(dy); lo += cellPart {
		n, to := min(cellPart, len(dy)-lo), begin(d, lo)
		four.Mul(slope, begin(tanh, lo), begin(tanh, lo), n)
		four.Scale(slope, slope, n, -1)
		four.Shift(slope, slope, n, 1)
		four.Mul(to, begin(dy, lo), begin(gate, lo), n)
		four.Mul(to, to, slope, n)
		four.Shift(to, to, n, 0) // a −0 becomes 0
	}
	return true
}

// forwardFast is Forward of a row, and returns how many elements are done.
func (p *GRURows) forwardFast(row int) int {
	r, z, n := p.gates(p.Gates, row, 0)
	qr, qz, qn := p.gates(p.Q, row, 0)
	y := p.part(p.Next, row, 0)
	start, end := p.ends(p.part(p.Old, row, 0), n)
	for lo := 0; lo < p.M; lo += cpu.AtOnce {
		size := next(p.M, lo)
		four.Add(begin(r, lo), begin(r, lo), begin(qr, lo), size)
		four.Add(begin(z, lo), begin(z, lo), begin(qz, lo), size)
		sigmoids(r, lo, size)
		sigmoids(z, lo, size)
		if p.Bias != nil {
			four.Add(begin(qn, lo), begin(qn, lo), begin(p.Bias, lo), size)
		}
		four.MulAdd(begin(n, lo), begin(r, lo), begin(qn, lo), size)
		tanhs(n, n, lo, size)
		four.Sub(begin(y, lo), begin(end, lo), begin(start, lo), size)
		products(y, y, z, lo, size)
		four.Add(begin(y, lo), begin(y, lo), begin(start, lo), size)
	}
	return p.M
}

// backwardFast is Backward of a row.
func (p *GRURows) backwardFast(row int) bool {
	r, z, n := p.gates(p.Gates, row, 0)
	_, _, inner := p.gates(p.Q, row, 0)
	dr, dz, dn := p.gates(p.DGates, row, 0)
	_, _, dinner := p.gates(p.DQ, row, 0)
	old, dold, dnext := p.part(p.Old, row, 0), p.part(p.DOld, row, 0), p.part(p.DNext, row, 0)
	start, end := p.ends(old, n)
	clear(p.DGates[row*3*p.M : (row+1)*3*p.M])
	var room [cellPart]Float
	y := begin(room[:], 0)
	for lo := 0; lo < p.M; lo += cellPart {
		size := min(cellPart, p.M-lo)
		dy, of := begin(dnext, lo), begin(n, lo)
		four.Mul(y, dy, begin(z, lo), size)
		if p.Admits {
			four.TanhSlope(begin(dn, lo), y, of, size, 1)
			four.Sub(y, dy, y, size)
		}
		four.Add(begin(dold, lo), begin(dold, lo), y, size)
		if !p.Admits {
			four.Sub(y, dy, y, size)
			four.TanhSlope(begin(dn, lo), y, of, size, 1)
		}
		four.Sub(y, begin(end, lo), begin(start, lo), size)
		four.Mul(y, y, dy, size)
		four.SigmoidSlope(begin(dz, lo), y, begin(z, lo), size, 1)
		four.Mul(y, begin(dn, lo), begin(inner, lo), size)
		four.SigmoidSlope(begin(dr, lo), y, begin(r, lo), size, 1)
		products(dinner, dn, r, lo, size)
	}
	copy(p.DQ[row*3*p.M:row*3*p.M+2*p.M], p.DGates[row*3*p.M:])
	return true
}

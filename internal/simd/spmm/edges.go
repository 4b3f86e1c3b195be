package spmm

import (
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// EdgeDot takes an inner product for each nonzero and head.
type EdgeDot struct {
	Gather
	Y     []Float // rows of F elements, one for each of the matrix
	Z     []Float // rows of Heads elements, one a nonzero
	Heads int
	Set   bool // Z is zero before, whatever is in it
}

// AddRows adds to the rows of Z that belong to the nonzeros of the rows lo to
// hi, without hi, or sets them. With D = F/Heads it is
//
//	Z[k,h] += Σ_j X[Cols[k],h·D+j]·Y[i,h·D+j]    for the nonzeros k of row i
//
// In which order it adds depends on F and Heads alone.
func (p *EdgeDot) AddRows(lo, hi int) {
	if lo >= hi || p.F == 0 || p.Heads == 0 {
		return
	}
	p.check(lo, hi)
	_, _ = p.Y[lo*p.F:hi*p.F], p.Z[int(p.Offsets[lo])*p.Heads:int(p.Offsets[hi])*p.Heads]
	if cpu.AVX2 {
		p.addFast(lo, hi)
		return
	}
	p.addGo(lo, hi)
}

// addGo is the truth of AddRows.
func (p *EdgeDot) addGo(lo, hi int) {
	d := p.F / p.Heads
	for i := lo; i < hi; i++ {
		y := p.Y[i*p.F : i*p.F+p.F]
		for k := p.Offsets[i]; k < p.Offsets[i+1]; k++ {
			x := p.row(k)
			z := p.Z[int(k)*p.Heads : int(k)*p.Heads+p.Heads]
			for h := range z {
				s, v := Float(0), y[h*d:h*d+d]
				if p.Set {
					z[h] = 0
				}
				for j, u := range x[h*d : h*d+d] {
					s += u * v[j]
				}
				z[h] += s
			}
		}
	}
}

// EdgePair makes a row for each nonzero out of its column's row of X and its
// row's row of Y.
type EdgePair struct {
	Gather
	Y    []Float // rows of F elements, one for each of the matrix; nil if Copy
	Z    []Float // rows of F elements, one a nonzero
	Op   vec.Binary
	Copy bool // of X, instead of Op
}

// SetRows sets the rows of Z that belong to the nonzeros of the rows lo to hi,
// without hi:
//
//	Z[k,j] = X[Cols[k],j] op Y[i,j]    for the nonzeros k of row i
func (p *EdgePair) SetRows(lo, hi int) {
	if lo >= hi || p.F == 0 {
		return
	}
	p.check(lo, hi)
	if !p.Copy {
		_ = p.Y[lo*p.F : hi*p.F]
	}
	_ = p.Z[int(p.Offsets[lo])*p.F : int(p.Offsets[hi])*p.F]
	if cpu.AVX2 && (p.Copy || p.Op <= vec.Div) {
		p.setFast(lo, hi)
		return
	}
	p.setGo(lo, hi)
}

// setGo is the truth of SetRows.
func (p *EdgePair) setGo(lo, hi int) {
	for i := lo; i < hi; i++ {
		for k := p.Offsets[i]; k < p.Offsets[i+1]; k++ {
			z := p.Z[int(k)*p.F : int(k)*p.F+p.F]
			if p.Copy {
				copy(z, p.row(k))
			} else {
				p.Op.Forward(z, p.row(k), p.Y[i*p.F:i*p.F+p.F], 1, 1)
			}
		}
	}
}

package spmm

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

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

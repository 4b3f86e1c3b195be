package spmm

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// EdgeDot takes an inner product for each nonzero and head.
type EdgeDot struct {
	Gather
	Y     []Float // rows of F elements, one for each of the matrix
	Z     []Float // rows of Heads elements, one a nonzero
	Heads int
	Apart int  // elements from a head's Y to the next one's: each has F columns, and all have X in common; 0: heads are parts of rows
	Set   bool // Z is zero before, whatever is in it
}

// AddRows adds to the rows of Z that belong to the nonzeros of the rows lo to
// hi, without hi, or sets them. With D = F/Heads it is
//
//	Z[k,h] += Σ_j X[Cols[k],h·D+j]·Y[i,h·D+j]    for the nonzeros k of row i
//	Z[k,h] += Σ_j X[Cols[k],j]·Y[h·Apart+i·F+j]  where heads are apart
//
// In which order it adds depends on F and Heads alone.
func (p *EdgeDot) AddRows(lo, hi int) {
	if lo >= hi || p.F == 0 || p.Heads == 0 {
		return
	}
	p.check(lo, hi)
	_, _ = p.Y[(p.Heads-1)*p.Apart+lo*p.F:(p.Heads-1)*p.Apart+hi*p.F], p.Z[int(p.Offsets[lo])*p.Heads:int(p.Offsets[hi])*p.Heads]
	if cpu.Fast && p.addFast(lo, hi) {
		return
	}
	p.addGo(lo, hi)
}

// addGo is the truth of AddRows.
func (p *EdgeDot) addGo(lo, hi int) {
	d, step, next := p.heads()
	for i := lo; i < hi; i++ {
		y := p.Y[i*p.F:]
		for k := p.Offsets[i]; k < p.Offsets[i+1]; k++ {
			x := p.row(k)
			z := p.Z[int(k)*p.Heads : int(k)*p.Heads+p.Heads]
			for h := range z {
				s, v := Float(0), y[h*step:h*step+d]
				if p.Set {
					z[h] = 0
				}
				for j, u := range x[h*next : h*next+d] {
					s += u * v[j]
				}
				z[h] += s
			}
		}
	}
}

// heads returns how many columns a head has, and how far the next head's are in Y and in X.
func (p *EdgeDot) heads() (columns, y, x int) {
	if p.Apart > 0 {
		return p.F, p.Apart, 0
	}
	d := p.F / p.Heads
	return d, d, d
}

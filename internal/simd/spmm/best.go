package spmm

import (
	"cmp"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// RowBest keeps, of each column of the rows of X, the largest or the smallest
// element.
type RowBest struct {
	Gather
	Y   []Float // rows of F elements
	Arg []int32 // rows of F numbers: the nonzero that won; −1: none; nil: not wanted
	Min bool    // the smallest

	YStep int // from a row of Y, and of Arg, to the next; 0: F
}

// SetRows sets the rows lo to hi of Y and Arg, without hi:
//
//	Y[i,j] = max_k X[Cols[k],j]    for the nonzeros k of row i
//
// The first of several that are equal has won. A NaN is larger, and smaller,
// than any number. A row without nonzeros is zero.
func (p *RowBest) SetRows(lo, hi int) {
	if lo >= hi || p.F == 0 {
		return
	}
	p.check(lo, hi)
	_ = p.Y[lo*p.step() : (hi-1)*p.step()+p.F]
	if p.Arg != nil {
		_ = p.Arg[lo*p.step() : (hi-1)*p.step()+p.F]
	}
	fast := cpu.Fast && p.setFast(lo, hi)
	for i := lo; i < hi; i++ {
		if !fast || p.Offsets[i] == p.Offsets[i+1] {
			p.clear(i)
		}
	}
	if !fast {
		p.setGo(lo, hi)
	}
}

// step is from a row of Y, and of Arg, to the next.
func (p *RowBest) step() int { return cmp.Or(p.YStep, p.F) }

// clear makes row i that of a row without nonzeros.
func (p *RowBest) clear(i int) {
	clear(p.Y[i*p.step() : i*p.step()+p.F])
	if p.Arg == nil {
		return
	}
	arg := p.Arg[i*p.step() : i*p.step()+p.F]
	for j := range arg {
		arg[j] = -1
	}
}

// setGo is the truth of SetRows, after the rows are cleared.
func (p *RowBest) setGo(lo, hi int) {
	for i := lo; i < hi; i++ {
		y := p.Y[i*p.step() : i*p.step()+p.F]
		for k := p.Offsets[i]; k < p.Offsets[i+1]; k++ {
			for j, v := range p.row(k) {
				if k > p.Offsets[i] && !p.better(v, y[j]) {
					continue
				}
				if y[j] = v; p.Arg != nil {
					p.Arg[i*p.step()+j] = int32(k)
				}
			}
		}
	}
}

// better reports whether v displaces a top that was there first.
func (p *RowBest) better(v, top Float) bool {
	return !p.Min && v > top || p.Min && v < top || v != v && top == top
}

// RowWon adds up what of the rows of X has won: X is the gradient of a RowBest's
// Y, Arg is its Arg, and the matrix is the transpose of its one.
type RowWon struct {
	Gather
	Y     []Float // rows of F elements
	Arg   []int32 // as long as X
	Edges []int32 // nonzero k was nonzero Edges[k]
}

// AddRows adds to the rows lo to hi of Y, without hi:
//
//	Y[i,j] += X[Cols[k],j] if Arg[Cols[k],j] = Edges[k]    for the nonzeros k of row i
func (p *RowWon) AddRows(lo, hi int) {
	if lo >= hi || p.F == 0 {
		return
	}
	p.check(lo, hi)
	_, _, _ = p.Y[lo*p.F:hi*p.F], p.Arg[:len(p.X)], p.Edges[:len(p.Cols)]
	if cpu.Fast && p.addFast(lo, hi) {
		return
	}
	p.addGo(lo, hi)
}

// addGo is the truth of AddRows.
func (p *RowWon) addGo(lo, hi int) {
	for i := lo; i < hi; i++ {
		y := p.Y[i*p.F : i*p.F+p.F]
		for k := p.Offsets[i]; k < p.Offsets[i+1]; k++ {
			e, arg := p.Edges[k], p.Arg[int(p.Cols[k])*p.F:]
			for j, v := range p.row(k) {
				if arg[j] == e {
					y[j] += v
				}
			}
		}
	}
}

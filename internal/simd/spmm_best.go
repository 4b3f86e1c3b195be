package simd

// RowBest keeps, of each column of the weighted rows of X, the largest or the
// smallest element.
type RowBest struct {
	Gather
	Y     []Float // rows of F elements
	W     []Float // rows of Heads elements, one a nonzero
	Heads int     // as in RowSum
	Arg   []int32 // rows of F numbers: the nonzero that won; −1: none
	Min   bool    // the smallest
}

// SetRows sets the rows lo to hi of Y and Arg, without hi:
//
//	Y[i,j] = max_k W[k,h]·X[Cols[k],j]    for the nonzeros k of row i, j of head h
//
// The first of several that are equal has won. A NaN is larger, and smaller,
// than any number. A row without nonzeros is zero.
func (p *RowBest) SetRows(lo, hi int) {
	if lo >= hi || p.F == 0 {
		return
	}
	p.check(lo, hi)
	arg := p.Arg[lo*p.F : hi*p.F]
	for i := range arg {
		arg[i] = -1
	}
	clear(p.Y[lo*p.F : hi*p.F])
	if fast {
		p.setFast(lo, hi)
		return
	}
	p.setGo(lo, hi)
}

// setGo is the truth of SetRows, after the rows are cleared.
func (p *RowBest) setGo(lo, hi int) {
	for i := lo; i < hi; i++ {
		y, arg := p.Y[i*p.F:i*p.F+p.F], p.Arg[i*p.F:i*p.F+p.F]
		for k := p.Offsets[i]; k < p.Offsets[i+1]; k++ {
			for j, v := range p.row(k) {
				if p.Heads > 0 {
					v *= p.W[int(k)*p.Heads+j/(p.F/p.Heads)]
				}
				if arg[j] < 0 || p.better(v, y[j]) {
					y[j], arg[j] = v, int32(k)
				}
			}
		}
	}
}

// better reports whether v displaces a top that was there first.
func (p *RowBest) better(v, top Float) bool {
	return !p.Min && v > top || p.Min && v < top || v != v && top == top
}

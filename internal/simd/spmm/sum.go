package spmm

import (
	"cmp"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// Gather says which rows of X the rows of a result are made of: row i has the
// nonzeros Offsets[i] to Offsets[i+1], without the latter, and nonzero k points
// at row Cols[k] of X. What the offsets and columns point at is not checked
// again: they are those of a matrix that has been.
type Gather struct {
	X       []Float // rows of F elements
	Offsets []int64
	Cols    []int32
	F       int
	Far     bool // X exceeds the caches: fetch its rows ahead
	Stream  bool // the result does too: a row that is set is stored past them
}

// RowSum adds up rows of X that are weighted.
type RowSum struct {
	Gather
	Y     []Float // rows of F elements, one for each of the matrix
	W     []Float // rows of Heads elements
	Edges []int32 // nonzero k has row Edges[k] of W; nil: row k
	Heads int     // that a row of X is cut into, F of one element each at most; 0: no weights
	YStep int     // from a row of Y to the next; 0: F
	Apart int     // elements from a head's Y to the next one's: each has F columns, and all have X in common; 0: heads are parts of rows
	WStep int     // from a row of W to the next; 0: Heads
	Set   bool    // Y is zero before, whatever is in it
	Mean  bool    // rows are divided by the number of their nonzeros, if that is not 0; wants Set, and no Apart
}

// AddRows adds to the rows lo to hi of Y, without hi, or sets them. With
// D = F/Heads and the steps from row to row it is
//
//	Y[i,h·D+j] += W[e,h]·X[Cols[k],h·D+j]    for the nonzeros k of row i, in order
//	Y[h·Apart+i·F+j] += W[e,h]·X[Cols[k],j]  where heads are apart
//
// An element is one chain of additions in the order of the nonzeros, which starts
// at what is in Y. A product is rounded before it is added, in assembly too.
func (p *RowSum) AddRows(lo, hi int) {
	if lo >= hi || p.F == 0 {
		return
	}
	p.check(lo, hi)
	last := max(p.Heads-1, 0) * p.Apart
	_ = p.Y[last+lo*p.step() : last+(hi-1)*p.step()+p.F]
	if cpu.Fast && p.addFast(lo, hi) {
		return
	}
	p.addGo(lo, hi)
}

// step and stride are from a row of Y to the next, and from one of W.
func (p *RowSum) step() int   { return cmp.Or(p.YStep, p.F) }
func (p *RowSum) stride() int { return cmp.Or(p.WStep, p.Heads) }

// addGo is the truth of AddRows.
func (p *RowSum) addGo(lo, hi int) {
	if p.Apart > 0 {
		for h := range p.Heads {
			one := *p
			one.Y, one.W, one.Heads, one.WStep, one.Apart = p.Y[h*p.Apart:], p.W[min(h, len(p.W)):], 1, p.stride(), 0
			one.addGo(lo, hi)
		}
		return
	}
	for i := lo; i < hi; i++ {
		y := p.Y[i*p.step() : i*p.step()+p.F]
		if p.Set {
			clear(y)
		}
		for k := p.Offsets[i]; k < p.Offsets[i+1]; k++ {
			x, e := p.row(k), int(k)
			if p.Edges != nil {
				e = int(p.Edges[k])
			}
			if p.Heads == 0 {
				for j, v := range x {
					y[j] += v
				}
				continue
			}
			d := p.F / p.Heads
			for h, w := range p.W[e*p.stride() : e*p.stride()+p.Heads] {
				to := y[h*d : h*d+d]
				for j, v := range x[h*d : h*d+d] {
					to[j] += Float(w * v) // rounded: some processors would fuse the two
				}
			}
		}
		if p.Mean {
			Rows(p.F).DivideRanges(y, y, p.Offsets[i:i+2])
		}
	}
}

// row returns the row of X that nonzero k points at.
func (g *Gather) row(k int64) []Float {
	at := int(g.Cols[k]) * g.F
	return g.X[at : at+g.F]
}

// check panics if rows lo to hi are not all there.
func (g *Gather) check(lo, hi int) { _ = g.Cols[g.Offsets[lo]:g.Offsets[hi]] }

// piece is what a call of the assembly does: nonzeros from and up to to, of the
// rows from row on.
type piece struct {
	row, rows int
	from, to  int64
}

// A call cannot be preempted, so a piece has no more than this.
const (
	pieceWork = 1 << 16 // elements, which take 30 µs if none is in a cache
	pieceRows = 1 << 12
)

// firstCache is the elements that stay in the first cache.
const firstCache = 6 << 10

// first returns the empty piece before row lo.
func (g *Gather) first(lo int) piece {
	return piece{row: lo, from: g.Offsets[lo], to: g.Offsets[lo]}
}

// next moves p on to the next nonzeros before row hi, about so many at most, and
// reports whether there were rows left. A row that is cut is in both pieces.
func (g *Gather) next(p *piece, hi int, most int64) bool {
	row := p.row + p.rows
	if p.rows > 0 && g.Offsets[row] > p.to {
		row-- // there is more of it
	}
	if row >= hi {
		return false
	}
	p.row, p.from = row, p.to
	end := min(row+pieceRows, hi)
	if p.to = g.Offsets[end]; p.to-p.from > most+most/4 { // no small piece is left over
		p.to = p.from + most
	}
	for row++; row < end; { // to the first row that starts at p.to or after
		if mid := (row + end) / 2; g.Offsets[mid] < p.to {
			row = mid + 1
		} else {
			end = mid
		}
	}
	p.rows = row - p.row
	return true
}

// whole cuts a piece down to rows that start in it, or to the one that does not,
// and reports which: what is set must be set once.
func (g *Gather) whole(p *piece) bool {
	if p.from > g.Offsets[p.row] {
		p.rows, p.to = 1, min(p.to, g.Offsets[p.row+1])
		return false
	}
	if end := p.row + p.rows; p.rows > 1 && g.Offsets[end] > p.to {
		p.rows, p.to = p.rows-1, g.Offsets[end-1]
	}
	return true
}

// most returns how many nonzeros a piece has: where its rows are walked several
// times, no more than stay in the first cache.
func (g *Gather) most(walks int) int64 {
	if walks > 1 {
		return max(16, firstCache/int64(g.F))
	}
	return max(16, pieceWork/int64(g.F))
}

// clear sets the rows of a piece without nonzeros, where rows are set.
func (p *RowSum) clear(at *piece) {
	for i := at.row; p.Set && i < at.row+at.rows; i++ {
		for h := 0; h == 0 || h < p.Heads && p.Apart > 0; h++ {
			clear(p.Y[h*p.Apart+i*p.step():][:p.F])
		}
	}
}

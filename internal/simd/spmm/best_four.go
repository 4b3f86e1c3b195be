//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package spmm

import "github.com/edgewise-ml/edgewise/internal/simd/four"

// setFast is SetRows of rows of four columns at least, in pieces.
func (p *RowBest) setFast(lo, hi int) bool {
	if p.F < 4 {
		return false
	}
	flip := 0
	if p.Min {
		flip = 1 << 31
	}
	for c := p.first(lo); p.next(&c, hi, p.most((p.F+7)/8)); {
		if c.from == c.to {
			continue
		}
		set := one(p.whole(&c))
		four.Eights(p.F, func(j, n int) {
			y, arg := c.row*p.step()+j, at[int32](nil, 0)
			if p.Arg != nil {
				arg = at(p.Arg, y)
			}
			four.RowsBest8(at(p.Y, y), arg, at(p.X, j), at(p.Offsets, c.row), at(p.Cols, 0), c.rows, n, p.F*floatSize, p.step()*floatSize,
				int(c.from), int(c.to), set, flip)
		})
	}
	return true
}

// addFast is AddRows of such rows.
func (p *RowWon) addFast(lo, hi int) bool {
	if p.F < 4 {
		return false
	}
	for c := p.first(lo); p.next(&c, hi, p.most(2*(p.F+7)/8)); {
		if c.from == c.to {
			continue
		}
		four.Eights(p.F, func(j, n int) {
			four.RowsWon8(at(p.Y, c.row*p.F+j), at(p.X, j), at(p.Arg, j), at(p.Offsets, c.row), at(p.Cols, 0), at(p.Edges, 0), c.rows, n, p.F*floatSize,
				int(c.from), int(c.to))
		})
	}
	return true
}

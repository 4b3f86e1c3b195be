//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package spmm

import "github.com/edgewise-ml/edgewise/internal/simd/four"

// addFast is AddRows in pieces, of all heads or of four that have eight columns each.
func (p *EdgeDot) addFast(lo, hi int) bool {
	d, y, x := p.heads()
	for c := p.first(lo); p.next(&c, hi, p.most(1)); {
		to, from, with, offsets, cols := at(p.Z, 0), at(p.X, 0), at(p.Y, c.row*p.F), at(p.Offsets, c.row), at(p.Cols, 0)
		row, first, last, set := p.F*floatSize, int(c.from), int(c.to), one(p.Set)
		if p.Apart > 0 || d != 8 || p.Heads%4 != 0 {
			four.EdgeDots(to, with, from, offsets, cols, c.rows, p.Heads, d, p.Heads*floatSize, y*floatSize, x*floatSize, row, row, first, last, set)
			continue
		}
		for h := 0; h < p.Heads; h += 4 {
			four.EdgeDots8(at(p.Z, h), at(p.Y, c.row*p.F+8*h), at(p.X, 8*h), offsets, cols, c.rows, p.Heads*floatSize, row, row, first, last, set)
		}
	}
	return true
}

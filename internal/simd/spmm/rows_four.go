//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package spmm

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

const floatSize = int(unsafe.Sizeof(Float(0)))

// at is a place in a slice, or nil where there is none.
func at[T Float | int32 | int64](x []T, i int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(x)), i*int(unsafe.Sizeof(*new(T))))
}

// addFast is AddRows in pieces, which go through runs of columns: those of a row, or of a head.
func (p *RowSum) addFast(lo, hi int) bool {
	width, runs, y, x := p.F, 1, 0, 0
	switch {
	case p.Apart > 0:
		runs, y = p.Heads, p.Apart
	case p.Heads > 0:
		width = p.F / p.Heads
		runs, y, x = p.Heads, width, width
	}
	for c := p.first(lo); p.next(&c, hi, p.most((width+four.Widest()-1)/four.Widest()*runs)); {
		if c.from == c.to {
			p.clear(&c)
			continue
		}
		set := p.Set && p.whole(&c)
		for h := 0; h < runs; {
			if p.Apart == 0 && width == 8 && runs-h >= 4 {
				p.fourHeads(&c, h, set)
				h += 4
				continue
			}
			for j := 0; j < width; {
				j += p.columns(&c, h*y+j, h*x+j, h, width-j, set)
			}
			h++
		}
	}
	for step := max(1, pieceWork/p.F); p.Mean && lo < hi; lo += step {
		four.RowsDivide(at(p.Y, lo*p.step()), at(p.Offsets, lo), min(step, hi-lo), p.F, p.step()*floatSize)
	}
	return true
}

// fourHeads adds a piece of four heads of eight columns.
func (p *RowSum) fourHeads(c *piece, h int, set bool) {
	four.RowsHeads8(at(p.Y, c.row*p.step()+8*h), at(p.X, 8*h), at(p.W, h), at(p.Offsets, c.row), at(p.Cols, 0), p.edges(),
		c.rows, p.F*floatSize, p.step()*floatSize, p.stride()*floatSize, int(c.from), int(c.to), one(set))
}

// columns adds a piece of as many of n columns as one call takes, from elements of Y and X on, and
// returns how many.
func (p *RowSum) columns(c *piece, y, x, h, n int, set bool) (done int) {
	to, from, offsets, cols := at(p.Y, c.row*p.step()+y), at(p.X, x), at(p.Offsets, c.row), at(p.Cols, 0)
	xs, ys, ws, lo, hi, s := p.F*floatSize, p.step()*floatSize, p.stride()*floatSize, int(c.from), int(c.to), one(set)
	if p.Heads > 0 {
		return four.RowsSum(to, from, at(p.W, h), offsets, cols, p.edges(), c.rows, n, xs, ys, ws, lo, hi, s)
	}
	switch n = min(n, four.Widest()); {
	case n < 4:
		n = 1
		four.RowsSum1(to, from, nil, offsets, cols, nil, c.rows, xs, ys, ws, lo, hi, s)
	case n < 8:
		four.RowsAdd2(to, from, offsets, cols, c.rows, n, xs, ys, lo, hi, s)
	case n < 16:
		four.RowsAdd4(to, from, offsets, cols, c.rows, n, xs, ys, lo, hi, s)
	case n <= 32:
		four.RowsAdd8(to, from, offsets, cols, c.rows, n, xs, ys, lo, hi, s)
	default:
		four.RowsAdd16(to, from, offsets, cols, c.rows, n, xs, ys, lo, hi, s)
	}
	return n
}

// edges is where the weights' numbers are, or nil.
func (p *RowSum) edges() unsafe.Pointer {
	if p.Edges == nil {
		return nil
	}
	return at(p.Edges, 0)
}

// one is 1 if b.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// spillMost is how many rows a call of Spill.Add has.
const spillMost = 1 << 8

// addFast is Add in calls of not too many rows.
func (s *Spill) addFast() bool {
	for i, rows := 0, len(s.Offsets)-1; i < rows; i += spillMost {
		n := min(spillMost, rows-i)
		y, x, w, offsets, cols := at(s.Y, 0), at(s.X, i*s.XStride), at(s.W, 0), at(s.Offsets, i), at(s.Cols, 0)
		switch s.Width {
		case 8:
			four.Spill2(y, x, w, offsets, cols, n, s.Width, s.XStride*floatSize, s.YStride*floatSize, one(s.SkipZeros))
		default:
			four.Spill8(y, x, w, offsets, cols, n, s.Width, s.XStride*floatSize, s.YStride*floatSize, one(s.SkipZeros))
		}
	}
	return true
}

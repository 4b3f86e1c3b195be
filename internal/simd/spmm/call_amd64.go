//go:build !noasm && !f64

package spmm

import "unsafe"

const floatSize = unsafe.Sizeof(Float(0))

// rowCall is what a kernel in assembly is given.
type rowCall struct {
	out, x, w   *Float // at the tile's first column; out in the first row
	offsets     *int64 // of the first row
	cols, edges *int32
	arg         *int32 // as out
	from, to    int64
	end         int64 // the last nonzero of all
	rows        int
	stride      uintptr // of X's rows, in bytes as the others
	weights     uintptr // of W's rows
	outs        uintptr // of out's rows
	shape       int     // twice the tile's registers, and one if the last is cut
	left        int     // columns in a register that is cut
	far         int     // 1: fetch ahead; 2: weights too
	done        uintptr // bytes of Arg's rows that are done, which the kernel counts
	set         int     // 1: a sum starts at zero, not at what is in out
	unordered   int     // not 0: there was a NaN, which the kernel does not keep
	mean        int     // 1: rows are divided by the number of their nonzeros
	stream      int     // 1: rows of the result are stored past the caches
	apart       uintptr // from a head's row of out to the next one's
}

// one is 1 if b.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// wholeLines reports whether n columns of the rows of the result, and of Arg, are
// whole cache lines.
func (c *rowCall) wholeLines(n int) bool {
	at := uintptr(unsafe.Pointer(c.out)) | uintptr(unsafe.Pointer(c.arg)) | c.outs | uintptr(n)*floatSize
	return at%64 == 0
}

// tiles is how the columns of a row are cut into tiles of registers.
type tiles struct {
	width int // columns of a run of tiles: a row, or a head
	most  int // registers of a tile, at most,
	wide  int // but for a whole one that has so many; 0: there is none
}

// at returns the shape of the tile at column j, and how many columns it has.
func (t tiles) at(j int) (shape, n int) {
	if n = 8 * t.wide; n > 0 && t.width-j >= n {
		return 2 * t.wide, n
	}
	n = min(t.width-j, 8*t.most)
	if n%8 == 0 {
		return n / 8 * 2, n
	}
	return n/8*2 + 3, n
}

// count returns how many tiles a run has.
func (t tiles) count() (tiles int) {
	for j := 0; j < t.width; tiles++ {
		_, n := t.at(j)
		j += n
	}
	return tiles
}

// call returns the call of a piece, at column 0.
func (g *Gather) call(p *piece) rowCall {
	return rowCall{
		x: unsafe.SliceData(g.X), offsets: &g.Offsets[p.row], cols: unsafe.SliceData(g.Cols),
		from: p.from, to: p.to, end: int64(len(g.Cols)) - 1, rows: p.rows,
		stride: uintptr(g.F) * floatSize, outs: uintptr(g.F) * floatSize, far: one(g.Far),
	}
}

// kernel is a function in assembly.
type kernel uint8

const (
	sumPlain kernel = iota
	sumScalar
	sumFull
	sumHeads8
	sumHeads16
	sumHeads32
	maxPlain
	minPlain
	wonPlain
	dotOne
	dot4x8
	dot4x16
	dot4x32
	dot8x8
	dot8x16
	dot8x32
	maxQuick
	minQuick
	sumQuads
	sumPlainQuads
	dotApart4
)

// run calls the function. Through a variable the call would escape.
func (k kernel) run(c *rowCall, rows int) {
	c.rows, c.done = rows, 0
	p := c
	switch k {
	case sumPlain:
		rowSumAVX2(p)
	case sumScalar:
		rowSumScalarAVX2(p)
	case sumHeads8:
		rowSumHeads8AVX2(p)
	case sumHeads16:
		rowSumHeads16AVX2(p)
	case sumHeads32:
		rowSumHeads32AVX2(p)
	case sumFull:
		rowSumFullAVX2(p)
	case maxPlain:
		rowMaxAVX2(p)
	case minPlain:
		rowMinAVX2(p)
	case wonPlain:
		rowWonAVX2(p)
	case dotOne:
		edgeDotAVX2(p)
	case dot4x8:
		edgeDot4x8AVX2(p)
	case dot4x16:
		edgeDot4x16AVX2(p)
	case dot4x32:
		edgeDot4x32AVX2(p)
	case dot8x8:
		edgeDot8x8AVX2(p)
	case dot8x16:
		edgeDot8x16AVX2(p)
	case dot8x32:
		edgeDot8x32AVX2(p)
	case maxQuick:
		rowMaxQuickAVX2(p)
	case minQuick:
		rowMinQuickAVX2(p)
	case sumQuads:
		rowSumScalarAVX512(p)
	case sumPlainQuads:
		rowSumAVX512(p)
	case dotApart4:
		edgeDotApart4AVX2(p)
	}
}

//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package attend

import (
	"math"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/four"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// rowsFast sets rows of exponentials.
func (p *NodeExps) rowsFast() bool {
	clear(p.most[:])
	for lo := 0; lo < p.rows; lo += nodesAtOnce {
		n := min(nodesAtOnce, p.rows-lo)
		for h := 0; h < 8; h += 4 {
			p.powers(place(p.Y, lo*p.YStride+h), place(p.X, lo*p.XStride+h), n, 8*floatSize, p.YStride*floatSize, p.XStride*floatSize)
		}
	}
	return true
}

// nodesAtOnce is how many nodes a call takes whose edges are not walked.
const nodesAtOnce = 1 << 9

// powers sets rows of four exponentials and, down bytes behind them, of four more.
func (p *NodeExps) powers(y, x unsafe.Pointer, rows, down, yStride, xStride int) {
	if four.NodePowers(y, x, unsafe.Pointer(&four.Table), rows, down, yStride, xStride, p.slope[0]) == 0 {
		p.most[0] = Float(math.Inf(1))
	}
}

// columnFast takes some elements at a time.
func (p *NodeExps) columnFast() bool {
	clear(p.most[:])
	var e [2][256]Float
	for lo := 0; lo < p.rows; lo += len(e[0]) {
		n := min(len(e[0]), p.rows-lo)
		p.powers(unsafe.Pointer(&e), place(p.X, lo), n/4, len(e[0])*floatSize, 4*floatSize, 4*floatSize)
		for i, v := range p.X[lo : lo+n] {
			*(*[4]Float)(p.Y[4*(lo+i):]) = [4]Float{v, e[0][i], e[1][i], 0}
		}
	}
	return true
}

// floatSize is how many bytes an element has.
const floatSize = int(unsafe.Sizeof(Float(0)))

// place is where the elements of a slice from i on begin.
func place[T Float | int32 | int64](x []T, i int) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(x[i:]))
}

// attendFast is Attend: of eight heads four at a time, of two of them, or of one head.
func (s *NodeExpAttention) attendFast() bool {
	rows := s.within()
	switch {
	case rows == 0:
	case s.Heads == 1:
		s.attendOne(rows)
	case s.Heads == 2:
		for r := range rows {
			s.attendTwo(r, 0)
			s.attendTwo(r, 1)
		}
	default:
		s.attendFour(rows, 0)
		s.attendFour(rows, 4)
	}
	s.left -= rows
	return true
}

// within is how many nodes have no edges beyond those that a call takes.
func (s *NodeExpAttention) within() (rows int) {
	for rows < s.left && int(s.Offsets[rows+1]) <= s.most {
		rows++
	}
	return rows
}

// retraceFast is Retrace: of eight heads four at a time, or of one.
func (s *NodeExpAttention) retraceFast() bool {
	rows := s.within()
	for h := 0; h < s.Heads && rows > 0; h += 4 {
		s.retrace(rows, h)
	}
	s.left -= rows
	return true
}

// retrace is retraceFast of the heads from h on.
func (s *NodeExpAttention) retrace(rows, h int) {
	var edges unsafe.Pointer
	if lo := int(s.Offsets[0]); s.Rows != nil && lo < int(s.Offsets[rows]) {
		edges = place(s.Rows, lo-s.First)
	}
	at := four.Narrow{RetraceStrides: four.RetraceStrides{Far: s.bytes(s.FarStride), X: s.bytes(s.XStride), Y: s.bytes(s.YStride), Rec: s.bytes(s.RecStride),
		Own: s.bytes(s.OwnStride), V: s.bytes(s.VStride), Der: s.bytes(s.DerStride), AddY: int64(s.AddY), AddRec: int64(s.AddRec)},
		Down: s.bytes(8), Y: place(s.Y, s.Width*h), Rec: place(s.Rec, h), Own: place(s.Own, h), V: place(s.V, s.Width*h)}
	offsets, cols, far, x, der := place(s.Offsets, 0), place(s.Cols, 0), place(s.Far, h), place(s.X, s.Width*h), place(s.Der, h)
	factors, strides := s.factors(rows, h, s.Perm), unsafe.Pointer(&at.RetraceStrides)
	switch {
	case s.Heads == 1:
		four.RetraceOne(offsets, cols, factors, far, x, der, edges, unsafe.Pointer(&at), rows, s.Width, s.slope[0])
	case s.Width < 8:
		four.RetraceNarrow(offsets, cols, factors, far, x, der, edges, unsafe.Pointer(&at), rows, s.Width, s.slope[0])
	default:
		four.RetraceHeads8(offsets, cols, factors, far, x, at.Y, at.Rec, at.Own, at.V, der, edges, strides, rows, int(at.Down), s.slope[0])
	}
}

// bytes are those of a stride.
func (s *NodeExpAttention) bytes(stride int) int64 { return int64(stride * floatSize) }

// factors are those of the mask for the edges of some nodes, four heads from h on, or nil. Edge e has number perm[e], or e.
func (s *NodeExpAttention) factors(rows, h int, perm []int32) unsafe.Pointer {
	lo, hi := int(s.Offsets[0]), int(s.Offsets[rows])
	if s.d == nil || lo == hi {
		return nil
	}
	mask := four.NewMask(s.d.K0, s.d.K1, s.d.Below, vec.ColumnKey, Float(s.d.Scale), s.column+h)
	to, numbers := place(s.Factors[:4*(hi-lo)], 0), unsafe.Pointer(nil)
	if perm != nil {
		numbers = place(perm, lo)
	}
	four.Factors(to, numbers, unsafe.Pointer(&mask), hi-lo, lo)
	return to
}

// attendFour is attendFast of the heads from h on.
func (s *NodeExpAttention) attendFour(rows, h int) {
	offsets, cols := place(s.Offsets, 0), place(s.Cols, 0)
	far, x, y, rec := place(s.Far, h), place(s.X, s.Width*h), place(s.Y, s.Width*h), place(s.Rec, h)
	down, farStep, xStep, yStep, recStep := 8*floatSize, s.FarStride*floatSize, s.XStride*floatSize, s.YStride*floatSize, s.RecStride*floatSize
	factors := s.factors(rows, h, nil)
	if s.Width < 8 {
		four.AttendNarrow(offsets, cols, far, x, y, rec, factors, unsafe.Pointer(&four.Lanes[s.Width]), unsafe.Pointer(&s.room), rows, s.Width, down, farStep, xStep, yStep, recStep)
		return
	}
	var bias [4 * 8]Float
	for i := range bias {
		bias[i] = Float(math.Copysign(0, -1))
	}
	if s.Bias != nil {
		copy(bias[:], s.Bias[8*h:])
	}
	four.AttendHeads8(offsets, cols, far, x, y, rec, unsafe.Pointer(&bias), factors, rows, down, farStep, xStep, yStep, recStep)
}

// attendTwo is attendFast of one of two heads of a node: plain Go with the bits of attendFour, which
// fuses what may be fused.
func (s *NodeExpAttention) attendTwo(r, h int) {
	var y [8]Float
	var sum, inverse Float
	rec := s.Rec[r*s.RecStride+h:][:3]
	for _, u := range s.Cols[s.Offsets[r]:s.Offsets[r+1]] {
		far, x := s.Far[int(u)*s.FarStride+h:][:3], s.X[int(u)*s.XStride+8*h:][:8]
		p := max(Float(rec[0]*far[0]), Float(rec[2]*far[2]))
		sum += p
		for j, v := range x {
			y[j] += p * v
		}
	}
	if sum != 0 {
		inverse = 1 / sum
	}
	for j := range y {
		y[j] = Float(y[j] * inverse)
		if s.Bias != nil {
			y[j] += s.Bias[8*h+j]
		}
	}
	copy(s.Y[r*s.YStride+8*h:], y[:])
	rec[0], rec[2] = rec[0]*inverse, rec[2]*inverse
}

// attendOne is attendFast of one head.
func (s *NodeExpAttention) attendOne(rows int) {
	four.AttendOne(place(s.Offsets, 0), place(s.Cols, 0), place(s.Far, 0), place(s.X, 0), place(s.Y, 0), place(s.Rec, 0), s.factors(rows, 0, nil),
		rows, s.Width, s.FarStride*floatSize, s.XStride*floatSize, s.YStride*floatSize, s.RecStride*floatSize)
}

// pairFast is Pair, in the order of RetraceOne.
func (s *NodeExpAttention) pairFast() bool {
	for lo := 0; lo < s.left; lo += nodesAtOnce {
		four.RowDots(place(s.Rec, lo*s.RecStride+2), place(s.X, lo*s.XStride), place(s.V, lo*s.VStride), min(nodesAtOnce, s.left-lo), 1, s.Width,
			s.RecStride*floatSize, s.XStride*floatSize, s.VStride*floatSize, 0)
	}
	return true
}

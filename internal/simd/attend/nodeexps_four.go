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
	for r := range p.rows {
		x, y := p.X[r*p.XStride:][:8], p.Y[r*p.YStride:][:16]
		copy(y, x)
		for h, v := range x {
			y[8+h] = p.slope[0] * v
			p.most[h] = max(p.most[h], v, -v)
		}
		vec.Exp.Forward(y, y, 0)
	}
	return true
}

// columnFast takes eight elements at a time.
func (p *NodeExps) columnFast() bool {
	clear(p.most[:])
	for r := 0; r < p.rows; r += 8 {
		var e [16]Float
		for i, v := range p.X[r : r+8] {
			e[i], e[8+i] = v, p.slope[0]*v
			p.most[i] = max(p.most[i], v, -v)
		}
		vec.Exp.Forward(e[:], e[:], 0)
		for i, v := range p.X[r : r+8] {
			y := p.Y[4*(r+i):][:4]
			y[0], y[1], y[2], y[3] = v, e[i], e[8+i], 0
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

// attendFast is Attend of eight heads of eight elements, four at a time, of two of them, or of one head of
// four or more.
func (s *NodeExpAttention) attendFast() bool {
	heads := s.Heads > 1 && s.Width == 8
	if !heads && (s.Heads != 1 || s.Width < 4) {
		return false
	}
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

// retraceFast is Retrace of eight heads of eight elements.
func (s *NodeExpAttention) retraceFast() bool {
	if s.Heads != 8 || s.Width != 8 {
		return false
	}
	rows := s.within()
	if rows > 0 {
		s.retraceFour(rows, 0)
		s.retraceFour(rows, 4)
	}
	s.left -= rows
	return true
}

// retraceFour is retraceFast of the heads from h on.
func (s *NodeExpAttention) retraceFour(rows, h int) {
	var edges unsafe.Pointer
	if lo := int(s.Offsets[0]); s.Rows != nil && lo < int(s.Offsets[rows]) {
		edges = place(s.Rows, lo-s.First)
	}
	steps := four.RetraceStrides{Far: s.bytes(s.FarStride), X: s.bytes(s.XStride), Y: s.bytes(s.YStride), Rec: s.bytes(s.RecStride),
		Own: s.bytes(s.OwnStride), V: s.bytes(s.VStride), Der: s.bytes(s.DerStride), AddY: int64(s.AddY), AddRec: int64(s.AddRec)}
	offsets, cols, at, down := place(s.Offsets, 0), place(s.Cols, 0), unsafe.Pointer(&steps), 8*floatSize
	far, x, y, rec := place(s.Far, h), place(s.X, 8*h), place(s.Y, 8*h), place(s.Rec, h)
	own, v, der := place(s.Own, h), place(s.V, 8*h), place(s.Der, h)
	if s.d == nil {
		four.RetraceHeads8(offsets, cols, far, x, y, rec, own, v, der, edges, at, rows, down, s.slope[0])
		return
	}
	mask := s.mask(h)
	four.RetraceHeads8Drop(offsets, cols, place(s.Perm, 0), unsafe.Pointer(&mask), far, x, y, rec, own, v, der, edges, at, rows, down, s.slope[0])
}

// bytes are those of a stride.
func (s *NodeExpAttention) bytes(stride int) int64 { return int64(stride * floatSize) }

// mask is that of four heads from h on.
func (s *NodeExpAttention) mask(h int) four.Mask {
	return four.NewMask(s.d.K0, s.d.K1, s.d.Below, vec.ColumnKey, Float(s.d.Scale), s.column+h)
}

// attendFour is attendFast of the heads from h on.
func (s *NodeExpAttention) attendFour(rows, h int) {
	var bias [4 * 8]Float
	for i := range bias {
		bias[i] = Float(math.Copysign(0, -1))
	}
	if s.Bias != nil {
		copy(bias[:], s.Bias[8*h:])
	}
	offsets, cols, add := place(s.Offsets, 0), place(s.Cols, 0), unsafe.Pointer(&bias)
	far, x, y, rec := place(s.Far, h), place(s.X, 8*h), place(s.Y, 8*h), place(s.Rec, h)
	down, farStep, xStep, yStep, recStep := 8*floatSize, s.FarStride*floatSize, s.XStride*floatSize, s.YStride*floatSize, s.RecStride*floatSize
	if s.d == nil {
		four.AttendHeads8(offsets, cols, far, x, y, rec, add, rows, down, farStep, xStep, yStep, recStep)
		return
	}
	mask := s.mask(h)
	four.AttendHeads8Drop(offsets, cols, far, x, y, rec, add, unsafe.Pointer(&mask), rows, down, farStep, xStep, yStep, recStep)
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
	var factors unsafe.Pointer
	if lo, hi := int(s.Offsets[0]), int(s.Offsets[rows]); s.d != nil && lo < hi {
		f := s.Factors[:hi-lo]
		for i := range f {
			f[i] = s.factor(lo+i, 0)
		}
		factors = place(f, 0)
	}
	four.AttendOne(place(s.Offsets, 0), place(s.Cols, 0), place(s.Far, 0), place(s.X, 0), place(s.Y, 0), place(s.Rec, 0), factors,
		rows, s.Width, s.FarStride*floatSize, s.XStride*floatSize, s.YStride*floatSize, s.RecStride*floatSize)
}

//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package attend

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// walkRoom is for numbers of the edges of some destinations, and for these edges.
type walkRoom struct {
	p, d  [GATv2Heads * GATv2Most]Float
	edges EdgeRows
}

var walkPool = sync.Pool{New: func() any { return new(walkRoom) }}

// walkEdges is how many edges are taken at once, but of a destination that has more.
const walkEdges = 1 << 7

// attendFast is Attend by EdgeRows, of some destinations at a time.
func (s *GATv2Walk) attendFast() bool {
	s.parts(func(f *EdgeRows, r, rows int) {
		y, top, sum := s.Y[r*gatv2Row:(r+rows)*gatv2Row], s.Top[r*s.Apart:], s.Sum[r*s.Apart:]
		clear(y)
		f.DV = y
		f.Sum()
		for i := range rows {
			clear(top[i*s.Apart:][:GATv2Heads])
			total := f.total(i, f.C)
			copy(sum[i*s.Apart:], total[:])
			for h, t := range total {
				inverse := Float(0)
				if t != 0 {
					inverse = 1 / t
				}
				to := (*[8]Float)(y[i*gatv2Row+8*h:])
				for j := range to {
					to[j] = Float(to[j] * inverse)
					if s.Bias != nil {
						to[j] += s.Bias[8*h+j]
					}
				}
			}
		}
	})
	return true
}

// parts calls do with some destinations from r on and the exponentials of their scores in C. It stops where a call does, and
// before a score that is out of range.
func (s *GATv2Walk) parts(do func(f *EdgeRows, r, rows int)) {
	room := walkPool.Get().(*walkRoom)
	f := &room.edges
	defer func() {
		*f = EdgeRows{}
		walkPool.Put(room)
	}()
	for r, n := 0, s.left; r < n && int(s.Offsets[r+1]) <= s.most; {
		rows := 1
		for r+rows < n && int(s.Offsets[r+rows+1]) <= min(s.most, int(s.Offsets[r])+walkEdges) {
			rows++
		}
		*f = EdgeRows{Offsets: s.Offsets[r : r+rows+1], Cols: s.Cols, U: s.U, V: s.V[r*gatv2Row:], A: s.A, C: room.p[:], Width: 8, H: GATv2Heads, Slope: s.Slope}
		f.Score()
		fit := f.inRange()
		if fit > 0 {
			f.Offsets = f.Offsets[:fit+1]
			p := f.C[:GATv2Heads*int(f.Offsets[fit]-f.Offsets[0])]
			vec.Exp.Forward(p, p, 0)
			f.G = room.d[:]
			do(f, r, fit)
		}
		r += fit
		s.left -= fit
		if fit < rows {
			return
		}
	}
}

// inRange returns how many destinations have no score that is out of range before them.
func (f *EdgeRows) inRange() int {
	e := 0
	for r := range len(f.Offsets) - 1 {
		for end := int(f.Offsets[r+1] - f.Offsets[0]); e < end; e++ {
			for _, z := range f.C[e*f.H : (e+1)*f.H] {
				if !(z >= -inRange && z <= inRange) {
					return r
				}
			}
		}
	}
	return len(f.Offsets) - 1
}

// total is the sum of the edges' numbers of destination r.
func (f *EdgeRows) total(r int, x []Float) (sum [8]Float) {
	for e := int(f.Offsets[r] - f.Offsets[0]); e < int(f.Offsets[r+1]-f.Offsets[0]); e++ {
		for h, v := range x[8*e : 8*e+8] {
			sum[h] += v
		}
	}
	return sum
}

// retraceFast is Retrace by EdgeRows.
func (s *GATv2Walk) retraceFast() bool {
	all := s.left
	s.left = 0
	for s.left < all && s.stands(s.left, int(s.Offsets[s.left]), int(s.Offsets[s.left+1])) {
		s.left++
	}
	some := s.left
	s.parts(func(f *EdgeRows, r, rows int) {
		dots := *f
		dots.V = s.R[r*gatv2Row:]
		dots.Dots()
		for i := range rows {
			f.center(i, s.Sum[(r+i)*s.Apart:])
		}
		first := int(f.Offsets[0] - s.Offsets[0])
		f.Z, f.Signs, f.Places, f.DV, f.DA = s.Z, s.Signs, s.Places[first:], s.DV[r*gatv2Row:], s.DA
		if s.Set {
			clear(f.DV[:rows*gatv2Row])
		}
		f.ScoreBrief()
	})
	s.left += all - some
	return true
}

// center makes, of the edges of destination r, weights of the exponentials in C and gradients of the scores of those of the
// weights in G, and lets them change places.
func (f *EdgeRows) center(r int, sum []Float) {
	lo, hi := 8*int(f.Offsets[r]-f.Offsets[0]), 8*int(f.Offsets[r+1]-f.Offsets[0])
	alpha, d := f.C[lo:hi], f.G[lo:hi]
	var c [8]Float
	for at := 0; at < len(d); at += 8 {
		p, g := (*[8]Float)(alpha[at:]), (*[8]Float)(d[at:])
		for h := range p {
			p[h] /= sum[h]
			c[h] += p[h] * g[h]
		}
	}
	for at := 0; at < len(d); at += 8 {
		p, g := (*[8]Float)(alpha[at:]), (*[8]Float)(d[at:])
		for h := range p {
			p[h], g[h] = p[h]*(g[h]-c[h]), p[h]
		}
	}
}

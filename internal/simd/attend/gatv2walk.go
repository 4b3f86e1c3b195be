package attend

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// GATv2Walk is some consecutive destinations whose messages are the rows of their
// sources, weighed by the softmax of scores of the same rows, as GATv2 has it. The
// edges of a destination are walked once in [GATv2Walk.Attend] and twice, while their
// rows are near, in [GATv2Walk.Retrace]. There are eight heads of eight elements.
//
//	s[e,h] = Σ_j A[h,j]·leaky(U[Cols[e],h,j] + V[r,h,j])
//	α[e,h] = exp(s[e,h] − Top[r,h]) / Sum[r,h]
type GATv2Walk struct {
	Offsets []int64 // of the destinations and the end
	Cols    []int32 // of all edges; the caller has checked that U has the rows

	U        []Float // the rows of sources
	V        []Float // the row of each destination
	A        []Float // one row
	Y        []Float // Attend: the results
	Bias     []Float // Attend: one row, added to each result; nil: nothing
	Top, Sum []Float // of each destination, Apart elements from one to the next

	R      []Float // Retrace: the gradient of the results
	DV, DA []Float // as V and A; DA is added to, and DV where Set is not
	Z      []Float // of each place two numbers a head
	Signs  []uint8 // and a bit an element, as EdgeRows.ScoreBrief keeps them
	Places []int32 // of each edge, counted from the first; the caller has checked that Z and Signs have them
	Work   []Float // room for GATv2Work numbers

	Slope  Float // from 0 to 1
	Apart  int
	Stream bool // Y is so large that it will have left the caches before it is read
	Set    bool // DV is set, where there are edges or none

	ahead, last, left int // as in EdgeRows
	most              int // the edge that a call does not go beyond
	stream            int // 1 if Y is written past the caches
	add               [64]Float
	slope             [8]Float
	//lint:ignore U1000 the assembly keeps a destination's statistics here
	top, sum [8]Float
}

// GATv2Heads is how many heads there are, and elements of each.
const GATv2Heads = 8

// GATv2Most is how many edges a call takes, which cannot be preempted, and how many
// destinations.
const GATv2Most = 1 << 10

// GATv2Work is how many numbers of its own Retrace keeps: two for each head of the
// edges that a call takes, and of one more.
const GATv2Work = 2 * GATv2Heads * (GATv2Most + 1)

// GATv2InRange is how large a score may be.
const GATv2InRange = inRange

const gatv2Row = GATv2Heads * GATv2Heads

// ready reports whether there are destinations. It panics where a slice is too short
// for them.
func (s *GATv2Walk) ready() bool {
	s.left = min(max(len(s.Offsets)-1, 0), GATv2Most)
	if s.left == 0 {
		return false
	}
	_ = s.Cols[:s.Offsets[s.left]]
	_, _ = s.V[:s.left*gatv2Row], s.A[:gatv2Row]
	_, _ = s.Top[:(s.left-1)*s.Apart+GATv2Heads], s.Sum[:(s.left-1)*s.Apart+GATv2Heads]
	s.most = int(s.Offsets[0]) + GATv2Most
	return true
}

// each calls do with destinations and the range of their edges, as long as that
// returns true and they are among those that a call takes, and returns their number.
func (s *GATv2Walk) each(do func(r, lo, hi int) bool) (done int) {
	for r := range s.left {
		lo, hi := int(s.Offsets[r]), int(s.Offsets[r+1])
		if hi > s.most || !do(r, lo, hi) {
			return r
		}
	}
	return s.left
}

// score is that of an edge and head.
func (s *GATv2Walk) score(r, e, h int) (sum Float) {
	u, v := s.U[int(s.Cols[e])*gatv2Row+8*h:][:8], s.V[r*gatv2Row+8*h:][:8]
	for j, a := range s.A[8*h : 8*h+8] {
		z := u[j] + v[j]
		sum += a * max(z, s.Slope*z)
	}
	return sum
}

// Attend sets the results of destinations and their statistics, and returns how many
// it has done: it stops before one with edges beyond those that a call takes, and
// before one with a score out of range, whose exponential might be too large.
// Since all others are in range, their Top is 0, whatever the largest score. Elements of U
// count up to e²⁴ times until they are divided: those above 1e28 may overflow.
//
//	Y[r,h,:] = Σ_e α[e,h]·U[Cols[e],h,:] + Bias[h,:]
func (s *GATv2Walk) Attend() (done int) {
	if !s.ready() {
		return 0
	}
	_ = s.Y[:s.left*gatv2Row]
	if rows := s.left; cpu.Fast && s.attendFast() {
		return rows - s.left
	}
	return s.each(func(r, lo, hi int) bool {
		if !s.inRange(r, lo, hi) {
			return false
		}
		for h := range GATv2Heads {
			s.attendHead(r, h, lo, hi)
		}
		return true
	})
}

// inRange reports whether all scores of a destination are.
func (s *GATv2Walk) inRange(r, lo, hi int) bool {
	for e := lo; e < hi; e++ {
		for h := range GATv2Heads {
			if z := s.score(r, e, h); !(z >= -inRange && z <= inRange) {
				return false
			}
		}
	}
	return true
}

// attendHead is Attend of one head of a destination.
func (s *GATv2Walk) attendHead(r, h, lo, hi int) {
	var y [8]Float
	sum, inverse := Float(0), Float(0)
	for e := lo; e < hi; e++ {
		p := Float(math.Exp(float64(s.score(r, e, h))))
		sum += p
		vec.Axpy(y[:], p, s.U[int(s.Cols[e])*gatv2Row+8*h:][:8])
	}
	if sum != 0 {
		inverse = 1 / sum
	}
	for j := range y {
		y[j] = Float(y[j] * inverse) // rounded before the bias comes, as where that is added by itself
		if s.Bias != nil {
			y[j] += s.Bias[8*h+j]
		}
	}
	copy(s.Y[r*gatv2Row+8*h:], y[:])
	s.Top[r*s.Apart+h], s.Sum[r*s.Apart+h] = 0, sum
}

// Retrace is the backward pass of Attend, and returns how many destinations it has
// done: it stops where Attend does, and before one whose statistics cannot be Attend's.
// Of what comes to a source it keeps what [CompactGrads] takes, at the edge's place:
//
//	dα[e,h]             = Σ_j U[Cols[e],h,j]·R[r,h,j]
//	ds[e,h]             = α·(dα − Σ_e α·dα)
//	Z[Places[e],h,:]    = ds[e,h], α[e,h]
//	Signs[Places[e],..] = U + V > 0
//	DV[r,h,j]          += A[h,j]·Σ_e ds·leaky'    or is that, if Set
//	DA[h,j]            += Σ_e ds·leaky(U + V)
func (s *GATv2Walk) Retrace() (done int) {
	if !s.ready() {
		return 0
	}
	_, _, _ = s.R[:s.left*gatv2Row], s.DV[:s.left*gatv2Row], s.DA[:gatv2Row]
	_ = s.Work[:GATv2Work]
	_ = s.Places[:s.Offsets[s.left]-s.Offsets[0]]
	if rows := s.left; cpu.Fast && s.retraceFast() {
		return rows - s.left
	}
	return s.each(func(r, lo, hi int) bool {
		if !s.stands(r, lo, hi) || !s.inRange(r, lo, hi) {
			return false
		}
		for h := range GATv2Heads {
			s.retraceHead(r, h, lo, hi)
		}
		return true
	})
}

// stands reports whether a destination's statistics may be those of Attend.
func (s *GATv2Walk) stands(r, lo, hi int) bool {
	for h := range GATv2Heads {
		top, sum := s.Top[r*s.Apart+h], float64(s.Sum[r*s.Apart+h])
		if lo < hi && !(top == 0 && sum > 0 && !math.IsInf(sum, 0)) {
			return false
		}
	}
	return true
}

// retraceHead is Retrace of one head of a destination.
func (s *GATv2Walk) retraceHead(r, h, lo, hi int) {
	at := r*gatv2Row + 8*h
	if s.Set {
		clear(s.DV[at : at+8])
	}
	if lo == hi {
		return
	}
	sum, c := s.Sum[r*s.Apart+h], Float(0)
	for e := lo; e < hi; e++ {
		alpha := Float(math.Exp(float64(s.score(r, e, h)))) / sum
		d := vec.Dot(s.U[int(s.Cols[e])*gatv2Row+8*h:][:8], s.R[r*gatv2Row+8*h:][:8])
		s.Work[2*(e-lo)], s.Work[2*(e-lo)+1] = alpha, d
		c += alpha * d
	}
	var dv [8]Float
	for e := lo; e < hi; e++ {
		alpha := s.Work[2*(e-lo)]
		ds := alpha * (s.Work[2*(e-lo)+1] - c)
		p := int(s.Places[e-int(s.Offsets[0])])
		s.Z[(p*GATv2Heads+h)*2], s.Z[(p*GATv2Heads+h)*2+1] = ds, alpha
		bits := uint8(0)
		for j := range dv {
			z, d := s.U[int(s.Cols[e])*gatv2Row+8*h+j]+s.V[at+j], ds*s.Slope
			if z > 0 {
				bits |= 1 << j
				d = ds
			}
			dv[j] += d
			s.DA[8*h+j] += d * z
		}
		s.Signs[p*8+h] = bits
	}
	for j, d := range dv {
		s.DV[at+j] += d * s.A[8*h+j]
	}
}

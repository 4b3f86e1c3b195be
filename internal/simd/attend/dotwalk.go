package attend

import (
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// DotWalk is some consecutive nodes of attention by scaled products, each with its edges
// to columns. There are eight heads of eight elements, of which a row has DotRow.
//
//	s[e,h] = Scale·Σ_j Q[v,h,j]·K[u,h,j]
//	α[e,h] = exp(s[e,h] − top[v,h]) / Σ_e exp(s[e,h] − top[v,h])
//
// In [DotWalk.Attend] and [DotWalk.Retrace] the nodes are destinations v and the columns
// sources u; in [DotWalk.Return] it is the other way round. What belongs to nodes begins
// with the first of them, and what belongs to columns with column 0. The caller has checked that
// the columns have rows.
//
// A call cannot be preempted, so it takes at most DotMost edges and as many nodes, and
// stops before a node whose edges go beyond: that comes in pieces.
type DotWalk struct {
	Offsets []int64 // of the nodes and the end
	Cols    []int32 // of all edges

	Q, K, V []Float // rows of destinations, sources and sources
	Rec     []Float // DotRecord numbers a destination; Attend: nil where no other call follows
	Y, Add  []Float // Attend: the results, and rows that are added to them; nil: nothing
	R       []Float // Retrace, Return: the gradients of the results
	Kept    []Float // what dropout multiplies the weights with: eight numbers for each edge of the call, and eight more; nil: nothing
	Work    []Float // room for DotWork numbers

	DQ, DK, DV       []Float // the gradients of Q, in Retrace, and of K and V, in Return; nil: not wanted
	SetQ, SetK, SetV bool    // they are set, where there are edges or none, and else added to

	Scale  Float
	Stage  DotStage
	Stream bool // Y is so large that it will have left the caches before it is read

	ahead, last, left int // as in EdgeRows
	first, most       int // the first edge, and that which a call does not go beyond
	stream            int // 1 if Y is written past the caches

	addStep, recStep, keptStep int       // bytes from one to the next, 0 where all take the same
	qStep, kStep, vStep        int       // the same of gradients
	nothing, room              [64]Float // a row that changes nothing it is added to, and one that nobody reads
	scales                     [16]Float // Scale in all lanes
	spare                      [24]Float // a record that nobody reads
}

// DotStage says what Retrace does of a destination that has edges, which may come in pieces.
type DotStage int

const (
	DotWhole   DotStage = iota // all, of all its edges
	DotCenter                  // sets Σ α·dα of these edges, in the record, and nothing else
	DotCentred                 // the rest, with Σ α·dα as it is there
)

const (
	// DotRow is the length of a row.
	DotRow = 64
	// DotRecord is how many numbers there are of a destination: of each head the largest
	// score, one over the sum of the weights below it, and Σ α·dα, each at [DotPlace].
	DotRecord = 24
	// DotMost is how many edges a call takes, and how many nodes.
	DotMost = 1 << 10
	// DotWork is how many numbers of its own a call keeps: two for each head of the edges that
	// it takes, and of two more.
	DotWork = 16 * (DotMost + 2)
)

// DotPlace is where the number of a head stands among the eight of a record: where registers are
// wide, in the order in which sums of rows come out of them.
func DotPlace(h int) int {
	if pairedHeads {
		return h/2 + h%2*4
	}
	return h
}

// ready reports whether there are nodes, and how many. It panics where a slice of theirs is too short.
func (s *DotWalk) ready(rows ...[]Float) bool {
	s.left = min(max(len(s.Offsets)-1, 0), DotMost)
	if s.left == 0 {
		return false
	}
	s.first = int(s.Offsets[0])
	s.most = s.first + DotMost
	_, _ = s.Cols[:s.Offsets[s.left]], s.Work[:DotWork]
	if s.Kept != nil {
		_ = s.Kept[:8*(min(int(s.Offsets[s.left]), s.most)-s.first+1)]
	}
	for _, x := range rows {
		if x != nil {
			_ = x[:s.left*DotRow]
		}
	}
	return true
}

// each calls do with nodes and the range of their edges, as long as that returns true
// and they are among those that a call takes, and returns their number.
func (s *DotWalk) each(do func(r, lo, hi int) bool) (done int) {
	for r := range s.left {
		lo, hi := int(s.Offsets[r]), int(s.Offsets[r+1])
		if hi > s.most || !do(r, lo, hi) {
			return r
		}
	}
	return s.left
}

// Attend sets the results of destinations and their records, and returns how many it has
// done: it stops before one with edges beyond those that a call takes and, in assembly,
// before one whose largest score is no number, which [DotWalk.AttendOdd] takes.
//
//	Y[v,h,:] = Σ_e α[e,h]·Kept[e,h]·V[Cols[e],h,:] + Add[v,h,:]
func (s *DotWalk) Attend() (done int) {
	if !s.ready(s.Q, s.Y, s.Add) {
		return 0
	}
	if s.Rec != nil {
		_ = s.Rec[:s.left*DotRecord]
	}
	if rows := s.left; cpu.Fast && s.attendFast() {
		return rows - s.left
	}
	return s.each(func(r, lo, hi int) bool {
		for h := range 8 {
			s.attendHead(r, h, lo, hi)
		}
		return true
	})
}

// AttendOdd is Attend of the first destination alone, with any scores and any number of
// edges. It is slow.
func (s *DotWalk) AttendOdd() {
	s.first = int(s.Offsets[0])
	for h := range 8 {
		s.attendHead(0, h, s.first, int(s.Offsets[1]))
	}
}

// score is that of an edge between row a of one end and row b of the other.
func (s *DotWalk) score(a, b []Float) Float { return s.Scale * vec.Dot(a, b) }

// dotWeight is the exponential of a score under the largest, or 0 where that is so small that it
// is lost in any sum that the largest is in.
func dotWeight(z, top Float) Float {
	if z-top < leastWeight {
		return 0
	}
	return vec.Weigh(z, top)
}

// headOf is a head of a row.
func headOf(x []Float, row, h int) []Float { return x[row*DotRow+8*h:][:8] }

// kept is what dropout multiplies the weight of an edge with.
func (s *DotWalk) kept(e, h int) Float {
	if s.Kept == nil {
		return 1
	}
	return s.Kept[8*(e-s.first)+h]
}

// attendHead is Attend of one head of a destination.
func (s *DotWalk) attendHead(r, h, lo, hi int) {
	q, y := headOf(s.Q, r, h), headOf(s.Y, r, h)
	var stats [2]Float
	vec.NoTop(stats[:1])
	for e := lo; e < hi; e++ {
		if z := s.score(q, headOf(s.K, int(s.Cols[e]), h)); z > stats[0] { // not NaN, which the sum catches
			stats[0] = z
		}
	}
	var acc [8]Float
	for e := lo; e < hi; e++ {
		u := int(s.Cols[e])
		p := dotWeight(s.score(q, headOf(s.K, u, h)), stats[0])
		stats[1] += p
		vec.Axpy(acc[:], p*s.kept(e, h), headOf(s.V, u, h))
	}
	inverse := Inverse(stats[1])
	if lo == hi {
		stats[0], inverse = 0, 0
	}
	for j := range acc {
		y[j] = Float(acc[j] * inverse) // rounded before Add comes, as where that is added by itself
	}
	if s.Add != nil {
		for j, a := range headOf(s.Add, r, h) {
			y[j] += a
		}
	}
	if s.Rec != nil {
		at := r*DotRecord + DotPlace(h)
		s.Rec[at], s.Rec[at+8] = stats[0], inverse
	}
}

// Retrace is the backward pass of Attend for destinations, and returns how many it has
// done: it stops where a call does. It completes their records.
//
//	dα[e,h]    = Kept[e,h]·Σ_j V[Cols[e],h,j]·R[v,h,j]
//	ds[e,h]    = α·(dα − Σ_e α·dα)
//	DQ[v,h,:] += Scale·Σ_e ds[e,h]·K[Cols[e],h,:]    or is that, if SetQ
func (s *DotWalk) Retrace() (done int) {
	if !s.ready(s.Q, s.R, s.DQ) {
		return 0
	}
	_ = s.Rec[:s.left*DotRecord]
	if rows := s.left; cpu.Fast && s.retraceFast() {
		return rows - s.left
	}
	return s.each(func(r, lo, hi int) bool {
		s.retraceRow(r, lo, hi)
		return true
	})
}

// RetraceOdd is Retrace of the first destination alone, as AttendOdd is Attend.
func (s *DotWalk) RetraceOdd() {
	s.first = int(s.Offsets[0])
	s.retraceRow(0, s.first, int(s.Offsets[1]))
}

// pair returns α and dα of an edge between destination v and source u.
func (s *DotWalk) pair(v, u, e, h int) (alpha, d Float) {
	at := v*DotRecord + DotPlace(h)
	alpha = dotWeight(s.score(headOf(s.Q, v, h), headOf(s.K, u, h)), s.Rec[at]) * s.Rec[at+8]
	return alpha, s.kept(e, h) * vec.Dot(headOf(s.V, u, h), headOf(s.R, v, h))
}

// retraceRow is Retrace of a destination.
func (s *DotWalk) retraceRow(r, lo, hi int) {
	for h := range 8 {
		center := &s.Rec[r*DotRecord+16+DotPlace(h)]
		if s.Stage != DotCentred && lo < hi {
			c := Float(0)
			for e := lo; e < hi; e++ {
				alpha, d := s.pair(r, int(s.Cols[e]), e, h)
				c += alpha * d
			}
			*center = c
		}
		if s.Stage == DotCenter && lo < hi || s.DQ == nil {
			continue
		}
		var acc [8]Float
		for e := lo; e < hi; e++ {
			alpha, d := s.pair(r, int(s.Cols[e]), e, h)
			vec.Axpy(acc[:], alpha*(d-*center), headOf(s.K, int(s.Cols[e]), h))
		}
		give(headOf(s.DQ, r, h), acc, s.Scale, s.SetQ)
	}
}

// give adds a head's gradient times scale to what is there, or sets it.
func give(to []Float, x [8]Float, scale Float, set bool) {
	if set {
		clear(to)
	}
	for j := range to {
		to[j] += scale * x[j]
	}
}

// Return is the backward pass of Attend for sources, after Retrace has completed all
// records. It returns how many it has done, and stops where a call does.
//
//	DK[u,h,:] += Scale·Σ_e ds[e,h]·Q[Cols[e],h,:]      or is that, if SetK
//	DV[u,h,:] += Σ_e α[e,h]·Kept[e,h]·R[Cols[e],h,:]    or is that, if SetV
func (s *DotWalk) Return() (done int) {
	if !s.ready(s.K, s.V, s.DK, s.DV) {
		return 0
	}
	if rows := s.left; cpu.Fast && s.returnFast() {
		return rows - s.left
	}
	return s.each(func(r, lo, hi int) bool {
		s.returnRow(r, lo, hi)
		return true
	})
}

// ReturnOdd is Return of the first source alone, as AttendOdd is Attend.
func (s *DotWalk) ReturnOdd() {
	s.first = int(s.Offsets[0])
	s.returnRow(0, s.first, int(s.Offsets[1]))
}

// returnRow is Return of a source.
func (s *DotWalk) returnRow(r, lo, hi int) {
	for h := range 8 {
		var dk, dv [8]Float
		for e := lo; e < hi; e++ {
			v := int(s.Cols[e])
			alpha, d := s.pair(v, r, e, h)
			vec.Axpy(dv[:], alpha*s.kept(e, h), headOf(s.R, v, h))
			vec.Axpy(dk[:], alpha*(d-s.Rec[v*DotRecord+16+DotPlace(h)]), headOf(s.Q, v, h))
		}
		if s.DV != nil {
			give(headOf(s.DV, r, h), dv, 1, s.SetV)
		}
		if s.DK != nil {
			give(headOf(s.DK, r, h), dk, s.Scale, s.SetK)
		}
	}
}

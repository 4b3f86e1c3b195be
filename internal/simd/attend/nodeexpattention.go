package attend

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// NodeExpAttention are some consecutive nodes of graph attention, each with its edges to
// columns, for eight heads of at most eight elements each, or one such head. A
// node's edges are walked once, and nothing is kept of them. The softmax is made
// of [NodeExps] of the two parts of each logit.
//
// Attend takes two heads of eight elements, too, without a mask: two of more, of which
// each has the bits that it has among eight.
//
// In [NodeExpAttention.Attend] the nodes are destinations and the columns sources; in
// [NodeExpAttention.Retrace] it is the other way round.
type NodeExpAttention struct {
	Offsets []int64 // of the nodes and the end
	Cols    []int32 // of all edges
	Perm    []int32 // Retrace: the numbers of all edges

	Far []Float // of each column: its powers, or in Retrace the record
	X   []Float // of each column: Ft, or in Retrace the gradient of the result
	Y   []Float // of each node: the result, or in Retrace the gradient of Ft
	Rec []Float // of each node: the record, or in Retrace the gradient of El

	// Retrace alone has these: the powers of El and Ft of each node, and of each
	// column the gradient of Er, or where there are Rows that of each edge.
	Own, V, Der []Float

	FarStride, XStride, YStride, RecStride int
	OwnStride, VStride, DerStride          int

	Ahead  int // how many edges ahead to ask memory for columns' rows; 0: not
	Last   int // the last edge of the matrix
	most   int // the edge that a call does not go beyond
	AddY   int // Retrace: 1 if Y is added to, which is else set
	AddRec int // and the same for Rec
	left   int // nodes that are not done
	First  int // the edge that the first of Rows is of
	stream int // 1 if Y is written past the caches

	slope, scale [8]Float
	k0, k1, lane [8]uint32 // of the mask
	flip, drop   [8]uint32 // its threshold, as the assembly takes it
	//lint:ignore U1000 the assembly keeps an edge's numbers here
	b, c [8]Float

	Factors []Float   // under a mask, room for four times NodeExpMost numbers
	Width   int       // elements of a head
	Heads   int       // 8 or 1, or 2 of Attend
	room    [64]Float // of the assembly: a row of heads that are less wide than 8; Attend of others: the bias
	Rows    []int32   // Retrace: the rows of Der that edges set, each its own; nil: Der has a row for each column
	Stream  bool      // Y is so large that it will have left the caches before it is read
	Bias    []Float   // Attend of eight heads or two of eight elements: added to each result; nil: nothing

	d      *vec.Dropout
	column int
}

// NodeExpRecord is the number of elements in a column's record for each head: its
// powers up and down, divided by the sum of its edges, and Σ α·dα.
const NodeExpRecord = 3

// NodeExpMost is how many edges a call takes, which cannot be preempted.
const NodeExpMost = 1 << 10

// Prepare sets what all calls have in common: the slope of LeakyReLU, between 0
// and 1, and the mask of the heads from column on. A nil d is none.
func (s *NodeExpAttention) Prepare(slope Float, d *vec.Dropout, column int) {
	s.d, s.column = d, column
	for i := range s.slope {
		s.slope[i], s.scale[i] = slope, 1
		if d != nil {
			s.scale[i] = Float(d.Scale)
			s.k0[i], s.k1[i], s.lane[i] = d.K0, d.K1, uint32(column+i)*vec.ColumnKey
			s.flip[i], s.drop[i] = d.Below>>16^1<<31, d.Below^1<<31
		}
	}
}

// ready reports whether there are nodes. It panics where a slice is too short for
// them.
func (s *NodeExpAttention) ready(record int) bool {
	s.left = len(s.Offsets) - 1
	if s.left < 1 {
		s.left = 0
		return false
	}
	_ = s.Cols[:s.Offsets[s.left]]
	s.most = int(s.Offsets[0]) + NodeExpMost
	heads, width := s.heads()
	inside(s.Y, s.left, s.YStride, heads*width)
	inside(s.Rec, s.left, s.RecStride, record)
	s.stream = 0
	if s.Stream && heads > 1 && width == 8 && s.AddY == 0 && cpu.Aligned(s.Y, s.YStride, cpu.Widest) {
		s.stream = 1
	}
	return true
}

// heads returns the number of heads and of elements of each.
func (s *NodeExpAttention) heads() (heads, width int) {
	two := s.Heads == 2 && s.Width == 8 && s.d == nil
	if !two && s.Heads != 1 && s.Heads != 8 || s.Width < 1 || s.Width > 8 {
		panic(fmt.Sprintf("attend: NodeExpAttention of %d heads of %d elements, which are 1 or 8 of 1 to 8, or 2 of 8 without a mask", s.Heads, s.Width))
	}
	return s.Heads, s.Width
}

// factor is that of the mask.
func (s *NodeExpAttention) factor(edge, h int) Float {
	if s.d == nil || s.d.Keep(s.d.Row(edge), s.column+h) {
		return s.scale[h]
	}
	return 0
}

// Attend sets the results of destinations, and returns how many it has done: it
// stops before one with edges beyond those that a call takes. A record is the
// powers of Er up and down:
//
//	p[e,h]   = max(up[r,h]·Far[Cols[e],0,h], down[r,h]·Far[Cols[e],1,h])
//	sum      = Σ_e p[e,h]
//	Y[r,h,:] = Σ_e p[e,h]·mask[e,h]·X[Cols[e],h,:] / sum + Bias[h,:]
//
// The powers in the record are divided by the sum, so that p becomes the softmax;
// those of a row without edges become zero. Where a power that a row reads is NaN, its
// record is NaN, and its result of no use.
func (s *NodeExpAttention) Attend() (done int) {
	heads, width := s.heads()
	if s.Bias != nil && (heads == 1 || width != 8 || len(s.Bias) != 8*heads) {
		panic(fmt.Sprintf("attend: NodeExpAttention.Attend of %d heads of %d elements with a bias of %d", heads, width, len(s.Bias)))
	}
	if !s.ready(2 * heads) {
		return 0
	}
	if rows := s.left; cpu.Fast && s.attendFast() {
		return rows - s.left
	}
	return s.inGo(heads, s.attendHead)
}

// inGo calls one for the heads of each node with the range of its edges, and
// returns how many nodes it has done.
func (s *NodeExpAttention) inGo(heads int, one func(r, h, lo, hi int)) (done int) {
	for r := range s.left {
		lo, hi := int(s.Offsets[r]), int(s.Offsets[r+1])
		if hi > s.most {
			return r
		}
		for h := range heads {
			one(r, h, lo, hi)
		}
	}
	return s.left
}

// attendHead is Attend of one head of a node.
func (s *NodeExpAttention) attendHead(r, h, lo, hi int) {
	var sum, inverse Float
	heads, width := s.heads()
	var acc [8]Float
	y := acc[:width]
	rec := s.Rec[r*s.RecStride+h:]
	for e := lo; e < hi; e++ {
		u := int(s.Cols[e])
		far := s.Far[u*s.FarStride+h:]
		p := max(rec[0]*far[0], rec[heads]*far[heads])
		sum += p
		vec.Axpy(y, p*s.factor(e, h), s.X[u*s.XStride+width*h:][:width])
	}
	if sum != 0 {
		inverse = 1 / sum
	}
	for j := range y {
		y[j] *= inverse
	}
	if s.Bias != nil {
		for j, b := range s.Bias[width*h : width*h+width] {
			y[j] += b
		}
	}
	copy(s.Y[r*s.YStride+width*h:], y)
	rec[0] *= inverse
	rec[heads] *= inverse
}

// Retrace is the backward pass of Attend, for sources, and returns how many it has
// done, as that does. The last part of a column's record is Σ α·dα:
//
//	α[e,h]           = max(Own[r,0,h]·up[Cols[e],h], Own[r,1,h]·down[Cols[e],h])
//	Y[r,h,:]         = Σ_e α·mask·X[Cols[e],h,:]
//	dz[e,h]          = α·LeakyReLU'·(mask·⟨X[Cols[e],h,:], V[r,h,:]⟩ − Σα·dα[Cols[e],h])
//	Rec[r,h]         = Σ_e dz[e,h]
//	Der[Cols[e],h]  += dz[e,h]    in order, or Der[Rows[e−First],h] = dz[e,h] where there are Rows
//
// LeakyReLU' is 1 where the first of the two products is larger, and else the slope. Their
// quotient is e^((1−slope)·z) of the logit z, and they are rounded: where (1−slope)·|z| is
// below 6e-7 the slope may be that of the other side. It is that of one of the sides there
// too, so the error is the one that a last bit of the parts of z makes; a record with a
// destination's part, to judge z itself, would be a third larger, and is gathered for each edge.
func (s *NodeExpAttention) Retrace() (done int) {
	heads, width := s.heads()
	if heads == 2 {
		panic("attend: NodeExpAttention.Retrace is for one head or eight")
	}
	if !s.ready(heads) {
		return 0
	}
	inside(s.Own, s.left, s.OwnStride, 2*heads)
	inside(s.V, s.left, s.VStride, heads*width)
	if s.d != nil {
		_ = s.Perm[:s.Offsets[s.left]]
	}
	if lo, hi := int(s.Offsets[0]), int(s.Offsets[s.left]); s.Rows != nil && lo < hi {
		_ = s.Rows[lo-s.First : hi-s.First]
	}
	if rows := s.left; cpu.Fast && s.retraceFast() {
		return rows - s.left
	}
	return s.inGo(heads, s.retraceHead)
}

// retraceHead is Retrace of one head of a node.
func (s *NodeExpAttention) retraceHead(r, h, lo, hi int) {
	heads, width := s.heads()
	y, v, rec := s.Y[r*s.YStride+width*h:][:width], s.V[r*s.VStride+width*h:][:width], &s.Rec[r*s.RecStride+h]
	own := s.Own[r*s.OwnStride+h:]
	var del Float
	var acc [8]Float
	for e := lo; e < hi; e++ {
		u, edge := int(s.Cols[e]), 0
		if s.d != nil {
			edge = int(s.Perm[e])
		}
		far, x, mask := s.Far[u*s.FarStride+h:], s.X[u*s.XStride+width*h:][:width], s.factor(edge, h)
		up, down := far[0]*own[0], far[heads]*own[heads]
		alpha := max(up, down)
		vec.Axpy(acc[:width], alpha*mask, x)
		sloped := down * s.slope[h]
		if up > down {
			sloped = up
		}
		dz := Float(sloped * (Float(mask*vec.Dot(x, v)) - far[2*heads])) // rounded, so that it is the same by itself as in a sum
		del += dz
		if s.Rows != nil {
			s.Der[int(s.Rows[e-s.First])*s.DerStride+h] = dz
		} else {
			s.Der[u*s.DerStride+h] += dz
		}
	}
	if s.AddY == 0 {
		clear(y)
	}
	for j := range y {
		y[j] += acc[j]
	}
	if s.AddRec == 0 {
		*rec = 0
	}
	*rec += del
}

// Pair sets the last part of the records of a number of nodes, of one head, to
// what Retrace takes:
//
//	Rec[r,2] = ⟨X[r,:], V[r,:]⟩
func (s *NodeExpAttention) Pair(rows int) {
	if rows < 1 {
		return
	}
	heads, width := s.heads()
	if heads > 1 {
		panic("attend: NodeExpAttention.Pair is for one head")
	}
	s.left = rows
	inside(s.X, rows, s.XStride, width)
	inside(s.V, rows, s.VStride, width)
	inside(s.Rec, rows, s.RecStride, NodeExpRecord)
	if cpu.Fast && s.pairFast() {
		return
	}
	for r := range rows {
		s.Rec[r*s.RecStride+2] = vec.Dot(s.X[r*s.XStride:][:width], s.V[r*s.VStride:][:width])
	}
}

package simd

// Spokes are some consecutive nodes of graph attention, each with its edges to
// columns, for eight heads of eight elements. A node's edges are walked once, and
// nothing is kept of them. The softmax is made of [Powers] of the two parts of
// each logit.
//
// In [Spokes.Attend] the nodes are destinations and the columns sources; in
// [Spokes.Retrace] it is the other way round.
type Spokes struct {
	Offsets []int64 // of the nodes and the end
	Cols    []int32 // of all edges
	Perm    []int32 // Retrace: the numbers of all edges

	Far []Float // of each column: its powers, or in Retrace the record
	X   []Float // of each column: Ft, or in Retrace the gradient of the result
	Y   []Float // of each node: the result, or in Retrace the gradient of Ft
	Rec []Float // of each node: the record, or in Retrace the gradient of El

	// Retrace alone has these: El, its powers and Ft of each node, and of each
	// column the gradient of Er.
	Near, Own, V, Der []Float

	FarStride, XStride, YStride, RecStride    int
	NearStride, OwnStride, VStride, DerStride int

	Ahead  int // how many edges ahead to ask memory for columns' rows; 0: not
	Last   int // the last edge of the matrix
	most   int // the edge that a call does not go beyond
	AddY   int // Retrace: 1 if Y is added to, which is else set
	AddRec int // and the same for Rec
	left   int // nodes that are not done

	slope, scale [8]Float
	k0, k1, lane [8]uint32 // of the mask
	flip, drop   [8]uint32 // its threshold, as the assembly takes it
	a, b, c      [8]Float  // an edge's numbers, of the assembly

	d      *Dropout
	column int
}

// SpokesMost is how many edges a call takes, which cannot be preempted.
const SpokesMost = 1 << 10

// Prepare sets what all calls have in common: the slope of LeakyReLU, between 0
// and 1, and the mask of the heads from column on. A nil d is none.
func (s *Spokes) Prepare(slope Float, d *Dropout, column int) {
	s.d, s.column = d, column
	for i := range s.slope {
		s.slope[i], s.scale[i] = slope, 1
		if d != nil {
			s.scale[i] = Float(d.Scale)
			s.k0[i], s.k1[i], s.lane[i] = d.k0, d.k1, uint32(column+i)*golden
			s.flip[i], s.drop[i] = d.drop>>16^1<<31, d.drop^1<<31
		}
	}
}

// ready reports whether there are nodes. It panics where a slice is too short for
// them.
func (s *Spokes) ready(record int) bool {
	s.left = len(s.Offsets) - 1
	if s.left < 1 {
		s.left = 0
		return false
	}
	_ = s.Cols[:s.Offsets[s.left]]
	s.most = int(s.Offsets[0]) + SpokesMost
	inside(s.Y, s.left, s.YStride, 64)
	inside(s.Rec, s.left, s.RecStride, record)
	return true
}

// factor is that of the mask.
func (s *Spokes) factor(edge, h int) Float {
	if s.d == nil || s.d.Keep(s.d.Row(edge), s.column+h) {
		return s.scale[h]
	}
	return 0
}

// Attend sets the results of destinations, and returns how many it has done: it
// stops before one with edges beyond those that a call takes. A record is Er, its
// powers up and down, and nothing yet:
//
//	p[e,h]   = max(up[r,h]·Far[Cols[e],h], down[r,h]·Far[Cols[e],8+h])
//	sum      = Σ_e p[e,h]
//	Y[r,h,:] = Σ_e p[e,h]·mask[e,h]·X[Cols[e],h,:] / sum
//
// The powers in the record are divided by the sum, so that p becomes the softmax;
// those of a row without edges become zero.
func (s *Spokes) Attend() (done int) {
	if !s.ready(Record * 8) {
		return 0
	}
	if fast {
		rows := s.left
		s.attendFast()
		return rows - s.left
	}
	for r := range s.left {
		lo, hi := int(s.Offsets[r]), int(s.Offsets[r+1])
		if hi > s.most {
			return r
		}
		for h := range 8 {
			s.attendHead(r, h, lo, hi)
		}
	}
	return s.left
}

// attendHead is Attend of one head of a node.
func (s *Spokes) attendHead(r, h, lo, hi int) {
	var sum, inverse Float
	var y [8]Float
	rec := s.Rec[r*s.RecStride:][:Record*8]
	for e := lo; e < hi; e++ {
		u := int(s.Cols[e])
		p := max(rec[8+h]*s.Far[u*s.FarStride+h], rec[16+h]*s.Far[u*s.FarStride+8+h])
		sum += p
		Axpy(y[:], p*s.factor(e, h), s.X[u*s.XStride+8*h:][:8])
	}
	if sum != 0 {
		inverse = 1 / sum
	}
	for j := range y {
		s.Y[r*s.YStride+8*h+j] = y[j] * inverse
	}
	rec[8+h] *= inverse
	rec[16+h] *= inverse
}

// Retrace is the backward pass of Attend, for sources, and returns how many it has
// done, as that does. The last part of a column's record is Σ α·dα:
//
//	α[e,h]           = max(Own[r,h]·up[Cols[e],h], Own[r,8+h]·down[Cols[e],h])
//	Y[r,h,:]         = Σ_e α·mask·X[Cols[e],h,:]
//	dz[e,h]          = α·LeakyReLU'·(mask·⟨X[Cols[e],h,:], V[r,h,:]⟩ − Σα·dα[Cols[e],h])
//	Rec[r,h]         = Σ_e dz[e,h]
//	Der[Cols[e],h]  += dz[e,h]    in order
func (s *Spokes) Retrace() (done int) {
	if !s.ready(8) {
		return 0
	}
	inside(s.Near, s.left, s.NearStride, 8)
	inside(s.Own, s.left, s.OwnStride, 16)
	inside(s.V, s.left, s.VStride, 64)
	if s.d != nil {
		_ = s.Perm[:s.Offsets[s.left]]
	}
	if fast {
		rows := s.left
		s.retraceFast()
		return rows - s.left
	}
	for r := range s.left {
		lo, hi := int(s.Offsets[r]), int(s.Offsets[r+1])
		if hi > s.most {
			return r
		}
		for h := range 8 {
			s.retraceHead(r, h, lo, hi)
		}
	}
	return s.left
}

// retraceHead is Retrace of one head of a node.
func (s *Spokes) retraceHead(r, h, lo, hi int) {
	y, rec := s.Y[r*s.YStride+8*h:][:8], &s.Rec[r*s.RecStride+h]
	own := s.Own[r*s.OwnStride:][:16]
	var del Float
	var acc [8]Float
	for e := lo; e < hi; e++ {
		u, edge := int(s.Cols[e]), 0
		if s.d != nil {
			edge = int(s.Perm[e])
		}
		far, x, mask := s.Far[u*s.FarStride:], s.X[u*s.XStride+8*h:][:8], s.factor(edge, h)
		alpha := max(far[8+h]*own[h], far[16+h]*own[8+h])
		Axpy(acc[:], alpha*mask, x)
		dz := alpha * (mask*Dot(x, s.V[r*s.VStride+8*h:][:8]) - far[24+h])
		if !(far[h]+s.Near[r*s.NearStride+h] > 0) {
			dz *= s.slope[h]
		}
		del += dz
		s.Der[u*s.DerStride+h] += dz
	}
	if s.AddY == 0 {
		clear(y)
	}
	for j, v := range acc {
		y[j] += v
	}
	if s.AddRec == 0 {
		*rec = 0
	}
	*rec += del
}

//go:build !noasm && !f64

package attend

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// The assembly moves pointers of slices on, beyond their ends at last, so it is
// given a copy on the stack, which no collector reads meanwhile.

func (s *NodeExpAttention) attendFast() bool {
	if s.d != nil && s.Heads == 1 {
		s.factorsFast(false)
	}
	c := *s
	c.setBias()
	p := &c
	switch drops := s.d != nil; {
	case s.Heads == 1 && !drops:
		attendOneHead(p)
	case s.Heads == 1:
		attendOneHeadDrop(p)
	case s.Heads == 2:
		attendTwoHeads(p)
	case s.Width == 8 && !drops:
		attendNodeExps(p)
	case s.Width == 8:
		attendNodeExpsDrop(p)
	case !drops:
		attendSlim(p)
	default:
		attendSlimDrop(p)
	}
	s.left = c.left
	return true
}

// setBias puts the bias where the assembly adds it. Without one it adds −0, which
// changes nothing.
func (s *NodeExpAttention) setBias() {
	if s.Bias != nil {
		copy(s.room[:], s.Bias)
		return
	}
	for i := range s.room {
		s.room[i] = Float(math.Copysign(0, -1))
	}
}

func (s *NodeExpAttention) retraceFast() bool {
	if s.d != nil && s.Heads == 1 {
		s.factorsFast(true)
	}
	c := *s
	if s.Rows != nil {
		c.toEdges()
	} else {
		c.toColumns()
	}
	s.left = c.left
	return true
}

// toColumns is Retrace that adds to rows of columns, and moves the slices of s on.
func (s *NodeExpAttention) toColumns() {
	switch drops := s.d != nil; {
	case s.Heads == 1 && !drops:
		retraceOneHead(s)
	case s.Heads == 1:
		retraceOneHeadDrop(s)
	case s.Width == 8 && !drops:
		retraceNodeExps(s)
	case s.Width == 8:
		retraceNodeExpsDrop(s)
	case !drops:
		retraceSlim(s)
	default:
		retraceSlimDrop(s)
	}
}

// toEdges is toColumns that sets rows of edges.
func (s *NodeExpAttention) toEdges() {
	switch drops := s.d != nil; {
	case s.Heads == 1 && !drops:
		retraceOneHeadApart(s)
	case s.Heads == 1:
		retraceOneHeadApartDrop(s)
	case s.Width == 8 && !drops:
		retraceNodeExpsApart(s)
	case s.Width == 8:
		retraceNodeExpsApartDrop(s)
	case !drops:
		retraceSlimApart(s)
	default:
		retraceSlimApartDrop(s)
	}
}

// factorsFast sets the factors of the mask for all edges that the call may take.
// Those beyond the last eight are not worth assembly.
func (s *NodeExpAttention) factorsFast(permuted bool) {
	lo, hi := int(s.Offsets[0]), min(int(s.Offsets[s.left]), s.most)
	f := s.Factors[:hi-lo]
	for i := range s.lane { // one head's edges are next to each other, not eight heads
		s.lane[i] = uint32(s.column) * vec.ColumnKey
	}
	whole := len(f) &^ 7
	if permuted {
		factorsOfPerm(s, lo, lo+whole)
	} else {
		factorsInOrder(s, lo, lo+whole)
	}
	for i := whole; i < len(f); i++ {
		edge := lo + i
		if permuted {
			edge = int(s.Perm[edge])
		}
		f[i] = s.factor(edge, 0)
	}
}

func (s *NodeExpAttention) pairFast() bool {
	pairOneHead(s)
	return true
}

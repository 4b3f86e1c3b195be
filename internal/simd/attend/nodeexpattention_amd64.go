//go:build !noasm && !f64

package attend

import (
	"math"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// The assembly moves pointers of slices on, beyond their ends at last, so it is
// given a copy on the stack, which no collector reads meanwhile.

func (s *NodeExpAttention) attendFast() {
	if s.d != nil && s.Heads == 1 {
		s.factorsFast(false)
	}
	c := *s
	c.setBias()
	p := (*byte)(unsafe.Pointer(&c))
	switch drops := s.d != nil; {
	case s.Heads == 1 && !drops:
		attendSpoke(p)
	case s.Heads == 1:
		attendSpokeDrop(p)
	case s.Width == 8 && !drops:
		attendSpokes(p)
	case s.Width == 8:
		attendSpokesDrop(p)
	case !drops:
		attendSlim(p)
	default:
		attendSlimDrop(p)
	}
	s.left = c.left
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

func (s *NodeExpAttention) retraceFast() {
	if s.d != nil && s.Heads == 1 {
		s.factorsFast(true)
	}
	c := *s
	p := (*byte)(unsafe.Pointer(&c))
	switch drops := s.d != nil; {
	case s.Heads == 1 && !drops:
		retraceSpoke(p)
	case s.Heads == 1:
		retraceSpokeDrop(p)
	case s.Width == 8 && !drops:
		retraceSpokes(p)
	case s.Width == 8:
		retraceSpokesDrop(p)
	case !drops:
		retraceSlim(p)
	default:
		retraceSlimDrop(p)
	}
	s.left = c.left
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
		factorsOfPerm((*byte)(unsafe.Pointer(s)), lo, lo+whole)
	} else {
		factorsInOrder((*byte)(unsafe.Pointer(s)), lo, lo+whole)
	}
	for i := whole; i < len(f); i++ {
		edge := lo + i
		if permuted {
			edge = int(s.Perm[edge])
		}
		f[i] = s.factor(edge, 0)
	}
}

func (s *NodeExpAttention) pairFast() { pairSpoke((*byte)(unsafe.Pointer(s))) }

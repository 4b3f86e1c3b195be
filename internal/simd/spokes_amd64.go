//go:build !noasm && !f64

package simd

import "unsafe"

// The assembly moves pointers of slices on, beyond their ends at last, so it is
// given a copy on the stack, which no collector reads meanwhile.

func (s *Spokes) attendFast() {
	if s.d != nil && s.Width > 0 {
		s.factorsFast(false)
	}
	c := *s
	p := (*byte)(unsafe.Pointer(&c))
	switch {
	case s.Width > 0 && s.d == nil:
		attendSpoke(p)
	case s.Width > 0:
		attendSpokeDrop(p)
	case s.d == nil:
		attendSpokes(p)
	default:
		attendSpokesDrop(p)
	}
	s.left = c.left
}

func (s *Spokes) retraceFast() {
	if s.d != nil && s.Width > 0 {
		s.factorsFast(true)
	}
	c := *s
	p := (*byte)(unsafe.Pointer(&c))
	switch {
	case s.Width > 0 && s.d == nil:
		retraceSpoke(p)
	case s.Width > 0:
		retraceSpokeDrop(p)
	case s.d == nil:
		retraceSpokes(p)
	default:
		retraceSpokesDrop(p)
	}
	s.left = c.left
}

// factorsFast sets the factors of the mask for all edges that the call may take.
// Those beyond the last eight are not worth assembly.
func (s *Spokes) factorsFast(permuted bool) {
	lo, hi := int(s.Offsets[0]), min(int(s.Offsets[s.left]), s.most)
	f := s.Factors[:hi-lo]
	for i := range s.lane { // one head's edges are next to each other, not eight heads
		s.lane[i] = uint32(s.column) * golden
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

func (s *Spokes) pairFast() { pairSpoke((*byte)(unsafe.Pointer(s))) }

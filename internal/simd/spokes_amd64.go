//go:build !noasm && !f64

package simd

import "unsafe"

// The assembly moves pointers of slices on, beyond their ends at last, so it is
// given a copy on the stack, which no collector reads meanwhile.

func (s *Spokes) attendFast() {
	c := *s
	p := (*byte)(unsafe.Pointer(&c))
	if s.d == nil {
		attendSpokes(p)
	} else {
		attendSpokesDrop(p)
	}
	s.left = c.left
}

func (s *Spokes) retraceFast() {
	c := *s
	p := (*byte)(unsafe.Pointer(&c))
	if s.d == nil {
		retraceSpokes(p)
	} else {
		retraceSpokesDrop(p)
	}
	s.left = c.left
}

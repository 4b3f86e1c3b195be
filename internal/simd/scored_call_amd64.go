//go:build !noasm && !f64

package simd

import (
	"math"
	"unsafe"
)

// The assembly moves pointers of slices on, beyond their ends at last, so it is
// given a copy on the stack, which no collector reads meanwhile.

func (s *Scored) attendFast() {
	c := *s
	c.complete()
	c.past = 0
	if s.Stream && aligned(s.Y, scoredRow, largest) {
		c.past = 1
	}
	for i := range c.add {
		c.add[i] = Float(math.Copysign(0, -1))
	}
	if s.Bias != nil {
		copy(c.add[:], s.Bias[:scoredRow])
	}
	if p := (*byte)(unsafe.Pointer(&c)); wide {
		scoredAttend512(p)
	} else {
		scoredAttend(p)
	}
	s.left = c.left
}

func (s *Scored) retraceFast() {
	c := *s
	c.complete()
	if p := (*byte)(unsafe.Pointer(&c)); wide {
		scoredRetrace512(p)
	} else {
		scoredRetrace(p)
	}
	s.left = c.left
}

// complete sets what both kernels take.
func (s *Scored) complete() {
	s.last, s.ahead = len(s.Cols)-1, 0
	if len(s.U) >= farFrom {
		s.ahead = aheadRows
	}
	for i := range s.slope {
		s.slope[i] = s.Slope
	}
}

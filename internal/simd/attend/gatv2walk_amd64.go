//go:build !noasm && !f64

package attend

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// The assembly moves pointers of slices on, beyond their ends at last, so it is
// given a copy on the stack, which no collector reads meanwhile.

func (s *GATv2Walk) attendFast() bool {
	c := *s
	c.complete()
	c.stream = 0
	if s.Stream && cpu.Aligned(s.Y, gatv2Row, cpu.Widest) {
		c.stream = 1
	}
	for i := range c.add {
		c.add[i] = Float(math.Copysign(0, -1))
	}
	if s.Bias != nil {
		copy(c.add[:], s.Bias[:gatv2Row])
	}
	if cpu.AVX512 {
		gatv2Attend512(&c)
	} else {
		gatv2Attend(&c)
	}
	s.left = c.left
	return true
}

func (s *GATv2Walk) retraceFast() bool {
	c := *s
	c.complete()
	if cpu.AVX512 {
		gatv2Retrace512(&c)
	} else {
		gatv2Retrace(&c)
	}
	s.left = c.left
	return true
}

// complete sets what both kernels take.
func (s *GATv2Walk) complete() {
	s.last, s.ahead = len(s.Cols)-1, 0
	if len(s.U) >= cpu.FarFrom {
		s.ahead = cpu.AheadRows
	}
	for i := range s.slope {
		s.slope[i] = s.Slope
	}
}

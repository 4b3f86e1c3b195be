//go:build !noasm && !f64

package attend

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// pairedHeads says in which order records have the numbers of heads: see DotPlace.
const pairedHeads = true

// The assembly moves pointers of slices on, beyond their ends at last, so it is
// given a copy on the stack, which no collector reads meanwhile.

func (s *DotWalk) attendFast() bool {
	c := *s
	c.complete(len(s.K))
	if s.Stream && cpu.Aligned(s.Y, DotRow, cpu.Widest) {
		c.stream = 1
	}
	if c.addStep = 4 * DotRow; s.Add == nil {
		c.Add, c.addStep = c.nothing[:], 0
		for i := range c.nothing {
			c.nothing[i] = Float(math.Copysign(0, -1))
		}
	}
	if c.recStep = 4 * DotRecord; s.Rec == nil {
		c.Rec, c.recStep = c.spare[:], 0
	}
	if cpu.AVX512 {
		dotAttend512(&c)
	} else {
		dotAttend(&c)
	}
	s.left = c.left
	return true
}

func (s *DotWalk) retraceFast() bool {
	c := *s
	c.complete(len(s.K))
	c.recStep = 4 * DotRecord
	c.DQ, c.qStep, c.SetQ = c.target(c.DQ, c.SetQ)
	if cpu.AVX512 {
		dotRetrace512(&c)
	} else {
		dotRetrace(&c)
	}
	s.left = c.left
	return true
}

func (s *DotWalk) returnFast() bool {
	c := *s
	c.complete(len(s.Q))
	c.DK, c.kStep, c.SetK = c.target(c.DK, c.SetK)
	c.DV, c.vStep, c.SetV = c.target(c.DV, c.SetV)
	if cpu.AVX512 {
		dotReturn512(&c)
	} else {
		dotReturn(&c)
	}
	s.left = c.left
	return true
}

// target is where a gradient goes, the bytes from a row to the next, and whether it is set: of
// one that is not wanted to a row that nobody reads.
func (s *DotWalk) target(x []Float, set bool) ([]Float, int, bool) {
	if x == nil {
		return s.room[:], 0, true
	}
	return x, 4 * DotRow, set
}

// dotAhead is how many edges ahead a dot walk asks for rows: further than others, since each
// edge has several, and few instructions between them.
const dotAhead = 40

// complete sets what all kernels take; the columns' tables have so many elements.
func (s *DotWalk) complete(table int) {
	s.stream, s.last, s.ahead = 0, len(s.Cols)-1, 0
	if table >= cpu.FarFrom {
		s.ahead = dotAhead
	}
	s.keptStep = 0
	if s.Kept != nil {
		s.keptStep = 32
	}
	for i := range s.scales {
		s.scales[i] = s.Scale
	}
}

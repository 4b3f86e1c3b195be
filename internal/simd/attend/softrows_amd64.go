//go:build !noasm && !f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// next takes off the first rows, no more than a call may take, as part. It reports whether
// there were any.
func (s *SoftRows) next(part *SoftRows) bool {
	if s.Rows <= 0 {
		return false
	}
	*part = *s
	part.Rows = min(max(cpu.AtOnce/s.Width, 1), s.Rows)
	if s.Rows -= part.Rows; s.Rows == 0 {
		return true
	}
	for _, x := range [...]*[]Float{&s.X, &s.G, &s.Kept} {
		if len(*x) > 0 {
			*x = (*x)[part.Rows*s.Stride:]
		}
	}
	for _, x := range [...]*[]Float{&s.Top, &s.Sum, &s.Center} {
		if len(*x) > 0 {
			*x = (*x)[part.Rows*s.Each:]
		}
	}
	if len(s.Most) > 0 {
		s.Most = s.Most[part.Rows:]
	}
	return true
}

func (s *SoftRows) largestFast() bool {
	var p SoftRows
	for left := *s; left.next(&p); {
		if cpu.AVX512 {
			softLargest512(&p)
		} else {
			softLargest(&p)
		}
	}
	return true
}

func (s *SoftRows) addFast() bool {
	var p SoftRows
	for left := *s; left.next(&p); {
		if cpu.AVX512 {
			softAdd512(&p)
		} else {
			softAdd(&p)
		}
	}
	return true
}

func (s *SoftRows) weighFast() bool {
	var p SoftRows
	for left := *s; left.next(&p); {
		if cpu.AVX512 {
			softWeigh512(&p)
		} else {
			softWeigh(&p)
		}
	}
	return true
}

func (s *SoftRows) dotsFast() bool {
	var p SoftRows
	for left := *s; left.next(&p); {
		softDots(&p)
	}
	return true
}

func (s *SoftRows) slopesFast() bool {
	var p SoftRows
	for left := *s; left.next(&p); {
		if cpu.AVX512 {
			softSlopes512(&p)
		} else {
			softSlopes(&p)
		}
	}
	return true
}

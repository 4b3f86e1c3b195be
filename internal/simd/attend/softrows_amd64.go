//go:build !noasm && !f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// inParts calls f with some rows at a time, no more than a call may take.
func (s *SoftRows) inParts(f func(p *SoftRows)) {
	rows := s.Rows
	step := max(cpu.AtOnce/s.Width, 1)
	for at := 0; at < rows; at += step {
		p := *s
		p.Rows = min(step, rows-at)
		for _, x := range [...]*[]Float{&p.X, &p.G, &p.Kept} {
			if len(*x) > 0 {
				*x = (*x)[at*s.Stride:]
			}
		}
		for _, x := range [...]*[]Float{&p.Top, &p.Sum, &p.Center} {
			if len(*x) > 0 {
				*x = (*x)[at*s.Each:]
			}
		}
		f(&p)
	}
}

func (s *SoftRows) addFast() {
	s.inParts(func(p *SoftRows) {
		if cpu.AVX512 {
			softAdd512(p)
		} else {
			softAdd(p)
		}
	})
}

func (s *SoftRows) weighFast() {
	s.inParts(func(p *SoftRows) {
		if cpu.AVX512 {
			softWeigh512(p)
		} else {
			softWeigh(p)
		}
	})
}

func (s *SoftRows) dotsFast() { s.inParts(func(p *SoftRows) { softDots(p) }) }

func (s *SoftRows) slopesFast() {
	s.inParts(func(p *SoftRows) {
		if cpu.AVX512 {
			softSlopes512(p)
		} else {
			softSlopes(p)
		}
	})
}

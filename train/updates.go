package train

import "github.com/edgewise-ml/edgewise/internal/par"

// partSize is how many numbers are updated at a time: some microseconds of Adam. It does not
// depend on the threads, so neither do the bits.
const partSize = 1 << 13

// parts is one step of an optimiser, cut up.
type parts struct {
	rule rule
	list []update
}

// add counts a step of a Param and cuts its update into parts.
func (p *parts) add(r rule, s *slot, u update) {
	s.steps++
	u.steps, u.number = s.steps, s.number
	if c, ok := r.(carrier); ok {
		s.number = c.carry(s.number, s.steps)
	}
	for lo := 0; lo < len(u.w); lo += partSize {
		hi := min(lo+partSize, len(u.w))
		part := u
		part.w, part.g = u.w[lo:hi], u.g[lo:hi]
		for i := range s.count() {
			part.arrays[i] = s.arrays[i][lo:hi]
		}
		p.list = append(p.list, part)
	}
}

// run makes the step, and forgets it but for the memory.
func (p *parts) run(r rule) {
	p.rule = r
	par.Run(len(p.list), p)
	clear(p.list)
	p.rule, p.list = nil, p.list[:0]
}

// Chunk makes one part of the step.
func (p *parts) Chunk(i int) { p.rule.update(&p.list[i]) }

package train

import "github.com/edgewise-ml/edgewise/internal/par"

// partSize is how many numbers are updated at a time: some microseconds of Adam.
const partSize = 1 << 13

// parts is one step of an optimiser, cut up. Small Params go together, since to hand one over
// to another thread takes longer than its update.
type parts struct {
	rule rule
	list []update
	ends []int // of those that go together, in list
	held int   // numbers of the last of them
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
		p.append(part)
	}
}

// append puts a part behind the others.
func (p *parts) append(u update) {
	if p.held += len(u.w); len(p.ends) == 0 || p.held > partSize {
		p.ends, p.held = append(p.ends, 0), len(u.w)
	}
	p.list = append(p.list, u)
	p.ends[len(p.ends)-1] = len(p.list)
}

// run makes the step, and forgets it but for the memory.
func (p *parts) run(r rule) {
	p.rule = r
	par.Run(len(p.ends), p)
	clear(p.list)
	p.rule, p.list, p.ends = nil, p.list[:0], p.ends[:0]
}

// Chunk makes those parts of the step that go together.
func (p *parts) Chunk(i int) {
	lo := 0
	if i > 0 {
		lo = p.ends[i-1]
	}
	for j := range p.list[lo:p.ends[i]] {
		p.rule.update(&p.list[lo+j])
	}
}

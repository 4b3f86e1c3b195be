package tensor

// Pairing walks two arrays that broadcast to a third, run by run: in a run of N
// elements either operand advances by its step, 0 or 1. [Pair] makes one.
type Pairing struct {
	N, SX, SY int

	dims [MaxAxes]int // of the outer axes, the innermost first
	x, y [MaxAxes]int // strides of the operands there
	axes int
}

// Pair returns the walk over arrays of shapes x and y that broadcast to z, the
// shape that [Broadcast] gave. It has no runs if z has no elements.
func Pair(x, y, z []int) Pairing {
	p := Pairing{N: 1}
	sx, sy := 1, 1 // strides of the next axis, from the last on
	for i := len(z) - 1; i >= 0; i-- {
		ax, ay := 0, 0
		if j := len(x) - len(z) + i; j >= 0 && x[j] != 1 {
			ax, sx = sx, sx*x[j]
		}
		if j := len(y) - len(z) + i; j >= 0 && y[j] != 1 {
			ay, sy = sy, sy*y[j]
		}
		p.push(z[i], ax, ay)
	}
	return p
}

// push adds the next outer axis, merging it with the one inside it if both
// operands run on.
func (p *Pairing) push(n, ax, ay int) {
	if n == 1 {
		return
	}
	if n == 0 || p.N == 0 {
		p.N = 0
		return
	}
	if p.axes == 0 && p.N == 1 {
		p.N, p.SX, p.SY = n, ax, ay
		return
	}
	if p.axes == 0 && ax == p.SX*p.N && ay == p.SY*p.N {
		p.N *= n
		return
	}
	p.dims[p.axes], p.x[p.axes], p.y[p.axes] = n, ax, ay
	p.axes++
}

// runs is the number of runs.
func (p *Pairing) runs() int {
	if p.N == 0 {
		return 0
	}
	n := 1
	for _, d := range p.dims[:p.axes] {
		n *= d
	}
	return n
}

// Rows calls f for every run, in order, with the numbers of its first elements
// in the third array and in the two.
func (p *Pairing) Rows(f func(z, x, y int)) {
	w := p.from(0)
	for range p.runs() {
		f(w.z, w.x, w.y)
		w.next(p)
	}
}

// walk is a place in a Pairing: the first elements of a run.
type walk struct {
	z, x, y int
	at      [MaxAxes]int
}

// from is the place of run k.
func (p *Pairing) from(k int) walk {
	w := walk{z: k * p.N}
	for i, d := range p.dims[:p.axes] {
		w.at[i] = k % d
		k /= d
		w.x += w.at[i] * p.x[i]
		w.y += w.at[i] * p.y[i]
	}
	return w
}

// next goes on to the next run; after the last one it is at the first.
func (w *walk) next(p *Pairing) {
	w.z += p.N
	for i := range p.axes {
		w.at[i]++
		w.x += p.x[i]
		w.y += p.y[i]
		if w.at[i] < p.dims[i] {
			return
		}
		w.at[i] = 0
		w.x -= p.x[i] * p.dims[i]
		w.y -= p.y[i] * p.dims[i]
	}
}

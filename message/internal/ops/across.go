package ops

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// across is an operation of its functions.
func across(name string, reads Reads, a *Across) Op {
	return Op{
		Name: name, Operands: 1, InPlace: true, Reads: always(reads), Across: a,
		Forward: a.forward, Backward: a.backward,
	}
}

// Into returns the edges of the tile into its destination i, and how many they are.
func (t *Tile) Into(i int) (d *Into, edges int) {
	lo, hi := int(t.Off[i])-t.Lo, int(t.Off[i+1])-t.Lo
	d, at, end := &t.into, i*t.Apart, i*t.Apart+t.Width
	d.Tile, d.Lo, d.Top, d.Sum = t, t.Lo+lo, t.Top[at:end], t.Sum[at:end]
	if t.Edge != nil {
		d.Edge = t.Edge[at:end]
	}
	at, end = lo*t.Width, hi*t.Width
	d.A, d.Y, d.DY, d.DX = part(t.A, at, end), part(t.Y, at, end), part(t.DY, at, end), part(t.DX, at, end)
	return d, hi - lo
}

// part returns some elements of x, if it is there.
func part(x []tensor.Float, lo, hi int) []tensor.Float {
	if x == nil {
		return nil
	}
	return x[lo:hi]
}

// Forget drops what the room was last used for.
func (r *Room) Forget() { r.into = Into{} }

// Begin empties the statistics of a destination.
func (a *Across) Begin(d *Into) {
	clear(d.Sum)
	vec.NoTop(d.Top)
	d.best, d.edges = d.best[:0], d.edges[:0]
}

// Complete does what is left when all edges have been seen.
func (a *Across) Complete(d *Into) {
	if a.Settle != nil {
		a.Settle(d)
	}
}

func (a *Across) forward(t *Tile) {
	for i := range len(t.Off) - 1 {
		d, n := t.Into(i)
		if n == 0 {
			continue
		}
		if !t.Known {
			a.Begin(d)
			for sighting := range a.Sightings {
				a.Observe(d, sighting)
			}
			a.Complete(d)
		}
		a.Apply(d)
	}
}

func (a *Across) backward(t *Tile, _ int) {
	g, sums := t.Tmp[:len(t.DY)], a.Terms != nil && !t.Part
	if sums {
		a.Terms(g, t.Y, t.DY)
	}
	for i := range len(t.Off) - 1 {
		d, n := t.Into(i)
		if n == 0 {
			continue
		}
		if sums {
			clear(t.Sums)
			at := (d.Lo - t.Lo) * t.Width
			vec.AddRows(t.Sums, g[at:at+n*t.Width])
		}
		a.Pull(d)
	}
}

// products are the Terms of a weight: y·dy.
func products(g, y, dy []tensor.Float) { vec.Mul.Forward(g, y, dy, 1, 1) }

// observeSoftmax takes the largest entry and then Σexp(x − top).
func observeSoftmax(d *Into, sighting int) {
	if sighting == 0 {
		vec.TopRows(d.Top, d.A)
		return
	}
	vec.WeighRows(d.Tmp[:len(d.A)], d.A, d.Top, d.Sum)
}

// before reports whether entry x of edge e is chosen before y of edge f.
func before(x tensor.Float, e int32, y tensor.Float, f int32) bool {
	switch xNaN, yNaN := x != x, y != y; {
	case xNaN || yNaN:
		return xNaN && (!yNaN || e < f)
	case x != y:
		return x > y
	}
	return e < f
}

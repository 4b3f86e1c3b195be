package message

import (
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Some steps that follow each other are joined to one, which reads the rows of
// their leaves where they stand and makes nothing in between.

// joins is switched off by tests that compare joined steps with their parts.
var joins = true

// ends are the leaves' steps that a joined step reads.
type ends struct{ u, v, w int }

// join replaces steps by joined ones. summed says that all messages of a
// destination are added up.
func (p *plan) join(summed bool) {
	if !joins {
		return
	}
	gone := make([]bool, len(p.steps))
	for i := range p.steps {
		switch p.steps[i].kind {
		case dotLast:
			p.joinScore(i, gone)
		case binary:
			p.joinAffine(i, gone)
		}
	}
	last := p.out()
	p.lazy = summed && last.kind == scaleBy && last.run%8 == 0 && p.nearLeaf(last.a, leafU)
	p.drop(gone)
	p.settleLeaves()
	p.joinBoth()
	p.findScored()
}

// nearLeaf reports whether step i is a leaf whose rows are those of the graph's
// nodes, or is W.
func (p *plan) nearLeaf(i int, k kind) bool {
	s := &p.steps[i]
	return s.kind == k && !s.taken && !s.moved
}

// pairUV returns the steps of U and V if x and y are these.
func (p *plan) pairUV(x, y int) (e ends, ok bool) {
	if p.nearLeaf(y, leafU) {
		x, y = y, x
	}
	return ends{u: x, v: y}, p.nearLeaf(x, leafU) && p.nearLeaf(y, leafV)
}

// joinScore joins the product of LeakyReLU(U + V) with W.
func (p *plan) joinScore(i int, gone []bool) {
	s := &p.steps[i]
	x, w := s.a, s.b
	if p.nearLeaf(x, leafW) {
		x, w = w, x
	}
	bent := &p.steps[x]
	d := bent.width / max(s.width, 1)
	if !p.nearLeaf(w, leafW) || bent.kind != unary || bent.un != simd.LeakyReLU || bent.uses != 1 || d == 0 || d%8 != 0 {
		return
	}
	sum := &p.steps[bent.a]
	if sum.kind != binary || sum.bin != simd.Add || sum.uses != 1 {
		return
	}
	e, ok := p.pairUV(sum.a, sum.b)
	if !ok {
		return
	}
	e.w = w
	gone[x], gone[bent.a] = true, true
	s.kind, s.c = score, bent.c
	s.a, s.b, s.ends, s.run = -1, -1, e, d
}

// joinAffine joins the sum of V and a product of U with one number for each run.
func (p *plan) joinAffine(i int, gone []bool) {
	s := &p.steps[i]
	if s.bin != simd.Add {
		return
	}
	x, v := s.a, s.b
	if p.nearLeaf(x, leafV) {
		x, v = v, x
	}
	scaled := &p.steps[x]
	if scaled.kind != scaleBy || scaled.uses != 1 || scaled.run%8 != 0 || !p.nearLeaf(scaled.a, leafU) || !p.nearLeaf(v, leafV) {
		return
	}
	gone[x] = true
	s.kind = affine
	s.a, s.b, s.ends, s.run = -1, scaled.b, ends{u: scaled.a, v: v}, scaled.run
}

// joinBoth finds the score from which the numbers of a lazy plan come, if it reads
// the rows that are summed: attention by GATv2. Nothing else in such a plan does.
// Backward then reads these once for the score and for the gradients of the
// numbers, and keeps of an edge what tells both their gradients for the source.
func (p *plan) joinBoth() {
	out := p.out()
	if !p.lazy || !p.steps[out.a].needs {
		return
	}
	at := out.b
	for s := &p.steps[at]; s.kind != score; s = &p.steps[at] {
		if s.a < 0 || s.b >= 0 || !s.needs {
			return
		}
		at = s.a
	}
	if s := &p.steps[at]; s.ends.u == out.a && s.run == out.run {
		p.both = at
	}
}

// drop takes steps that are gone out of the plan.
func (p *plan) drop(gone []bool) {
	to, n := make([]int, len(p.steps)), 0
	for i := range p.steps {
		to[i] = n
		if !gone[i] {
			p.steps[n] = p.steps[i]
			n++
		}
	}
	p.steps = p.steps[:n]
	for i := range p.steps {
		s := &p.steps[i]
		for _, x := range []*int{&s.a, &s.b} {
			if *x >= 0 {
				*x = to[*x]
			}
		}
		s.ends = ends{to[s.ends.u], to[s.ends.v], to[s.ends.w]}
		s.uses = 0
	}
}

// settleLeaves counts the uses of each step again, and finds the leaves of which
// no copy is read.
func (p *plan) settleLeaves() {
	last := len(p.steps) - 1
	for i := range p.steps {
		s := &p.steps[i]
		for _, x := range []int{s.a, s.b} {
			if x >= 0 && !(p.lazy && i == last && x == s.a) {
				p.steps[x].uses++
			}
		}
	}
	for i := range p.steps {
		s := &p.steps[i]
		if s.kind <= leafW && s.uses == 0 && i != last {
			s.there = true
			if s.kind == leafU {
				p.near += s.width
			}
		}
	}
}

// made is the number of steps whose values are computed.
func (p *plan) made() int {
	if p.lazy || p.even {
		return len(p.steps) - 1
	}
	return len(p.steps)
}

// near sets the worker's fan to the edges of a tile under rows of n elements in
// runs of d, and returns it.
func (w *worker) near(t tile, n, d int) *simd.Fan {
	g := w.g.In()
	w.fan = simd.Fan{Offsets: g.Offsets[t.r0 : t.r1+1], Cols: g.Cols, Width: d, H: n / d}
	if t.part {
		w.span = [2]int64{int64(t.lo), int64(t.hi)}
		w.fan.Offsets = w.span[:]
	}
	return &w.fan
}

// again is near for rows of sources that the tile has read before: they are in
// cache, so that meanwhile those of the tile that follows can be asked for.
func (w *worker) again(t tile, n, d int) *simd.Fan {
	f := w.near(t, n, d)
	f.Ahead = t.hi - t.lo
	return f
}

// rowsOf returns the rows that V reads on a tile.
func (w *worker) rowsOf(i int, t tile) []tensor.Float {
	s := &w.steps[i]
	return w.data[s.leaf][t.r0*s.width : t.r1*s.width]
}

// array returns what a leaf's step reads.
func (w *worker) array(i int) []tensor.Float { return w.data[w.steps[i].leaf] }

// score computes a joined score on a tile.
func (w *worker) score(i int, t tile) {
	s := &w.steps[i]
	f := w.near(t, w.steps[s.ends.u].width, s.run)
	f.U, f.V, f.A, f.C, f.Slope = w.array(s.ends.u), w.rowsOf(s.ends.v, t), w.array(s.ends.w), w.vals[i], s.c
	if w.back && i == w.both {
		out := w.out()
		f.R, f.G = w.dOut[t.r0*out.width:t.r1*out.width], w.own[out.b]
		f.ScoreDots()
		return
	}
	f.Score()
}

// affine computes a joined multiple of U plus V on a tile.
func (w *worker) affine(i int, t tile) {
	s := &w.steps[i]
	f := w.near(t, s.width, s.run)
	f.U, f.V, f.C, f.Z = w.array(s.ends.u), w.rowsOf(s.ends.v, t), w.vals[s.b], w.vals[i]
	f.Affine()
}

// sumNear adds the messages of a lazy plan to their destinations.
func (w *worker) sumNear(y []tensor.Float, t tile) {
	s := w.out()
	f := w.again(t, s.width, s.run)
	f.U, f.C, f.DV = w.array(s.a), w.vals[s.b], y[t.r0*s.width:t.r1*s.width]
	f.Sum()
}

// pullNear is the gradient of sumNear.
func (w *worker) pullNear(s *step, t tile) {
	if w.both >= 0 { // score has computed it, and pullScore does the rest
		w.has[s.b] = true
		return
	}
	f := w.near(t, s.width, s.run)
	f.U, f.V = w.array(s.a), w.dOut[t.r0*s.width:t.r1*s.width]
	if w.steps[s.b].needs {
		f.G, _ = w.into(s.b)
		f.Dots()
	}
	if w.steps[s.a].needs && w.pass != nil {
		f.C = w.vals[s.b]
		f.Z, f.Add = w.toWindow(s.a, t)
		f.Spread()
	}
}

// pullScore is the gradient of a joined score.
func (w *worker) pullScore(i int, t tile, dy []tensor.Float) {
	s := &w.steps[i]
	if w.pass == nil {
		return // only leaves are wanted of it
	}
	n := w.steps[s.ends.u].width
	f := w.again(t, n, s.run)
	f.U, f.V, f.A, f.C, f.Slope = w.array(s.ends.u), w.rowsOf(s.ends.v, t), w.array(s.ends.w), dy, s.c
	f.DV, f.DA = w.toRows(s.ends.v, t), w.toSum(s.ends.w)
	if i == w.both {
		b, k := w.pass, w.pass.sinkOf[s.ends.u]
		f.G, f.Z, f.Signs, f.Places = w.vals[w.out().b], k.win, b.signs, b.places[t.lo-b.base:t.hi-b.base]
		f.ScoreBrief()
		return
	}
	f.Z, f.Add = w.toWindow(s.ends.u, t)
	f.ScoreGrad()
}

// pullAffine is the gradient of a joined multiple of U plus V.
func (w *worker) pullAffine(s *step, t tile, dy []tensor.Float) {
	n := (t.hi - t.lo) * s.width / s.run
	f := w.again(t, s.width, s.run)
	f.U, f.C, f.D = w.array(s.ends.u), w.vals[s.b], dy
	f.Z, f.Add = w.toWindow(s.ends.u, t)
	if !w.steps[s.ends.u].needs { // then the numbers need not be there
		f.C = dy
	}
	f.DV = w.toRows(s.ends.v, t)
	dc, fresh := w.tmp[:n], false
	if w.steps[s.b].needs {
		if dc, fresh = w.into(s.b); !fresh {
			dc = w.tmp[:n]
		}
	}
	f.G = dc
	f.AffineGrad()
	if w.steps[s.b].needs && !fresh {
		add(w.adj[s.b][:n], dc)
	}
}

// toWindow returns where gradients of a gathered leaf go, and whether they are
// added there.
func (w *worker) toWindow(i int, t tile) (z []tensor.Float, more bool) {
	s := &w.steps[i]
	if !s.needs || w.adj[i] == nil {
		w.bin = resize(w.bin, max((t.hi-t.lo)*s.width, cap(w.bin)))
		return w.bin, false
	}
	more, w.has[i] = w.has[i], true
	return w.adj[i], more
}

// toRows returns where gradients of V are added.
func (w *worker) toRows(i int, t tile) []tensor.Float {
	n := w.steps[i].width
	if w.pass == nil || w.pass.sinkOf[i] == nil {
		w.rest = resize(w.rest, max((t.r1-t.r0)*n, cap(w.rest)))
		return w.rest
	}
	k := w.pass.sinkOf[i]
	if w.work.hub >= 0 {
		return w.part[k.at : k.at+n]
	}
	return k.dx[t.r0*n : t.r1*n]
}

// toSum returns where gradients of W are added.
func (w *worker) toSum(i int) []tensor.Float {
	n := w.steps[i].width
	if k := w.pass.sinkOf[i]; k != nil {
		return w.part[k.at : k.at+n]
	}
	w.mix = resize(w.mix, max(n, cap(w.mix)))
	return w.mix[:n]
}

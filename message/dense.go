package message

import (
	"math"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/tensor"
)

// dense is dot-product attention on a graph of blocks, where no edge is listed:
// products of blocks of rows, and a softmax that goes along.
//
//	y[v,h,:] = Σ_u drop(softmax_u(scale·⟨k[u,h,:], q[v,h,:]⟩ + bias[e,h]))·x[u,h,:]
//
// It keeps a maximum and a sum for each destination and head.
type dense struct {
	spans         []graph.Span
	q, k, x       *grad.Var
	bias          denseBias
	drop          *simd.Dropout // nil: none
	heads, d, f   int
	scale         tensor.Float
	out, top, sum []tensor.Float
}

// A block has so many destinations and sources.
const (
	denseDst = 48
	denseSrc = 64
)

// matchDense returns the dense attention that the weights w of x are, or nil.
func matchDense(g *graph.Graph, x *grad.Var, w *expr) *dense {
	m := &dense{spans: g.Spans(), x: x, scale: 1}
	if w.kind == dropout {
		m.drop, w = w.drop, w.a
	}
	if m.spans == nil || w.kind != softmax || g.Bipartite() && g.DstRows() != nil {
		return nil
	}
	z := w.a
	if z.kind == binary && z.bin == simd.Add {
		switch {
		case m.bias.read(z.b):
			z = z.a
		case m.bias.read(z.a):
			z = z.b
		default:
			return nil
		}
	}
	if z.kind == unary && z.un == simd.Scale {
		m.scale, z = z.c, z.a
	}
	if z.kind != dotLast || !z.a.plainLeaf(leafU) || !z.b.plainLeaf(leafV) {
		return nil
	}
	m.k, m.q = z.a.x, z.b.x
	if !m.fits(g) {
		return nil
	}
	return m
}

// fits reports whether the operands have the same heads, and g's rows. What is
// not finite would leak from a source into destinations that do not hear it.
func (m *dense) fits(g *graph.Graph) bool {
	ks, qs, xs := m.k.Shape(), m.q.Shape(), m.x.Shape()
	n := len(ks) - 1
	if n < 1 || len(xs) != n+1 || !slices.Equal(ks[1:], qs[1:]) || !slices.Equal(ks[1:n], xs[1:n]) || ks[n] == 0 || xs[n] == 0 {
		return false
	}
	m.d, m.f, m.heads = ks[n], xs[n], m.k.Value().RowLen()/ks[n]
	if m.d > 512 || m.f > 512 || ks[0] != g.NumSrc() || xs[0] != g.NumSrc() || qs[0] != g.NumDst() {
		return false
	}
	if m.bias.x != nil && !m.bias.fits(g, ks[1:n]) {
		return false
	}
	if grad.Begin("UpdateAll.Dense", m.vars()...).Measuring() {
		return true
	}
	for _, v := range []*grad.Var{m.q, m.k, m.x} {
		if s := float64(simd.Sum(v.Value().Data)); math.IsNaN(s) || math.IsInf(s, 0) {
			return false
		}
	}
	return m.bias.bounded()
}

// vars returns the operands.
func (m *dense) vars() []*grad.Var {
	if m.bias.x == nil {
		return []*grad.Var{m.q, m.k, m.x}
	}
	return []*grad.Var{m.q, m.k, m.x, m.bias.x}
}

func (m *dense) run(g *graph.Graph) *grad.Var {
	op := grad.Begin("UpdateAll.Dense", m.vars()...)
	y := op.New(append([]int{g.NumDst()}, m.x.Shape()[1:]...)...)
	m.out = y.Value().Data
	m.top, m.sum = op.Floats(g.NumDst()*m.heads), op.Floats(g.NumDst()*m.heads)
	if !op.Dry(len(m.top) + m.bias.room()) {
		m.each(destinationsOf, func(b *block, j job) { b.forward(m, j) })
	}
	return op.Record(y, func(dy *tensor.Dense) {
		op.Scratch(len(m.top)+m.bias.room(), func(buf []tensor.Float) { m.backward(dy.Data, buf[:len(m.top)], buf[len(m.top):]) })
	})
}

// job is a range of the destinations, or of the sources, of a block and a head.
type job struct {
	graph.Span
	first     int // the block's first edge
	h, lo, hi int
}

// A side of a block is cut into ranges of so many rows.
type side func(s graph.Span) (n, step int)

func destinationsOf(s graph.Span) (n, step int) { return s.NumDst, denseDst }
func sourcesOf(s graph.Span) (n, step int)      { return s.NumSrc, denseSrc }

var jobLists = sync.Pool{New: func() any { return new([]job) }}

// each calls f with the ranges of one side of all blocks, for each head, on
// several threads.
func (m *dense) each(cut side, f func(b *block, j job)) {
	list := jobLists.Get().(*[]job)
	all := m.jobs((*list)[:0], cut, m.heads)
	eachChunk(len(all), func(i int) {
		b := blocks.Get().(*block)
		b.spoil()
		f(b, all[i])
		blocks.Put(b)
	})
	*list = all
	jobLists.Put(list)
}

// jobs appends the ranges of one side of all blocks, for so many heads.
func (m *dense) jobs(all []job, cut side, heads int) []job {
	first := 0
	for _, s := range m.spans {
		n, step := cut(s)
		for h := range heads {
			for lo := 0; lo < n; lo += step {
				all = append(all, job{s, first, h, lo, min(lo+step, n)})
			}
		}
		first += s.NumEdges()
	}
	return all
}

// backward adds the gradients: first those of the destinations, each of which is
// one job's, and of the bias, then block after block those of the sources. c,
// which is zero, becomes Σ_u p·dp of each destination and head. That is ⟨dy, y⟩, but
// summed of the numbers it is taken off: where one source has all weight, what is
// left is zero and no rounding, which long queries and keys would multiply.
func (m *dense) backward(dy, c, room []tensor.Float) {
	if m.scored() {
		m.each(destinationsOf, func(b *block, j job) { b.center(m, j, denseGrads{dy: dy, c: c}) })
	}
	if m.bias.x != nil && m.bias.x.Needs() {
		m.pullBias(denseGrads{dy: dy, c: c}, room)
	}
	if dq := m.q.Grad(); dq != nil {
		m.each(destinationsOf, func(b *block, j job) { b.pullQ(m, j, denseGrads{dy: dy, c: c, dq: dq.Data}) })
	}
	dk, dx := m.k.Grad(), m.x.Grad()
	if dk == nil && dx == nil {
		return
	}
	to := denseGrads{dy: dy, c: c}
	if dk != nil {
		to.dk = dk.Data
	}
	if dx != nil {
		to.dx = dx.Data
	}
	m.pullSources(to)
}

// scored reports whether a gradient of the logits is wanted.
func (m *dense) scored() bool {
	return m.q.Needs() || m.k.Needs() || m.bias.x != nil && m.bias.x.Needs()
}

// pullSources adds the gradients of k and x, block after block, since the sources of
// two may be the same: one after the other where these share memory in another way than
// whole.
func (m *dense) pullSources(to denseGrads) {
	first := 0
	for i := range m.spans {
		one := dense{spans: m.spans[i : i+1], heads: m.heads}
		parts := [2]denseGrads{to}
		if overlap(to.dx, to.dk) && !m.oneArray(to) {
			parts = [2]denseGrads{{dy: to.dy, c: to.c, dx: to.dx}, {dy: to.dy, c: to.c, dk: to.dk}}
		}
		for _, part := range parts {
			if part.dx != nil || part.dk != nil {
				one.each(sourcesOf, func(b *block, j job) {
					j.first = first
					b.pullSource(m, j, part)
				})
			}
		}
		first += m.spans[i].NumEdges()
	}
}

// oneArray reports whether k and x have one gradient, of which a job has the same rows and
// columns in both.
func (m *dense) oneArray(to denseGrads) bool { return &to.dx[0] == &to.dk[0] && m.d == m.f }

// denseGrads are the gradients that are known, and those wanted.
type denseGrads struct{ dy, c, dq, dk, dx []tensor.Float }

// block is the scratch of a block of destinations and sources.
type block struct {
	p, dp [denseDst * denseSrc]tensor.Float // the logits, then weights; their gradients
	kept  [denseDst * denseSrc]tensor.Float // what dropout multiplies weights with
	turn  []tensor.Float                    // rows of sources, turned to columns
}

var blocks = sync.Pool{New: func() any { return new(block) }}

// spoil spoils what holds anything until it is set.
func (b *block) spoil() {
	spoil.Floats(b.p[:])
	spoil.Floats(b.dp[:])
	spoil.Floats(b.kept[:])
	spoil.Floats(b.turn)
}

// reach returns the sources that any destination from lo to hi may hear.
func reach(s graph.Span, lo, hi int) (from, to int) {
	from, to = s.Src+s.NumSrc, s.Src
	for j := lo; j < hi; j++ {
		if a, z, _ := s.Sources(j); a < z {
			from, to = min(from, a), max(to, z)
		}
	}
	return from, to
}

// columnsOf turns a block of rows of an array, of head h, to columns.
func (b *block) columnsOf(x []tensor.Float, u, n int, h headOf) {
	b.turn = resize(b.turn, h.d*denseSrc)
	for i := range n {
		row := x[(u+i)*h.all+h.at : (u+i)*h.all+h.at+h.d]
		for j, v := range row {
			b.turn[j*denseSrc+i] = v
		}
	}
}

// headOf is where a head stands in rows of all elements: d of them from at on.
type headOf struct{ at, d, all int }

func (m *dense) inQ(h int) headOf { return headOf{h * m.d, m.d, m.heads * m.d} }
func (m *dense) inX(h int) headOf { return headOf{h * m.f, m.f, m.heads * m.f} }

// logits sets p to the scaled inner products of destinations and sources; −∞
// where there is no edge.
func (b *block) logits(m *dense, j job, r rect) {
	s, at := j.Span, m.inQ(j.h)
	b.columnsOf(m.k.Value().Data, r.u, r.nu, at)
	p := b.p[:r.nv*denseSrc]
	clear(p)
	q := m.q.Value().Data[r.v*at.all+at.at:]
	(&simd.Product{A: q, RS: at.all, CS: 1, B: b.turn, LDB: denseSrc, C: p, LDC: denseSrc, M: r.nv, N: r.nu, K: m.d}).MulAdd()
	simd.Scale.Forward(p, p, m.scale)
	if m.bias.x != nil {
		b.addBias(m, j, r)
	}
	for i := range r.nv {
		lo, hi, skip := s.Sources(r.v + i - s.Dst)
		row := p[i*denseSrc : i*denseSrc+denseSrc]
		simd.NoTop(row[:min(max(lo-r.u, 0), r.nu)])
		simd.NoTop(row[min(max(hi-r.u, 0), r.nu):])
		if at := skip - r.u; skip >= 0 && at >= 0 && at < r.nu {
			row[at] = tensor.Float(math.Inf(-1))
		}
	}
}

// rect is a block: destinations v to v+nv and sources u to u+nu.
type rect struct{ v, nv, u, nu int }

func (b *block) forward(m *dense, j job) {
	v, nv := j.Dst+j.lo, j.hi-j.lo
	stat := func(i int) int { return (v+i)*m.heads + j.h }
	for i := range nv {
		m.top[stat(i)] = tensor.Float(math.Inf(-1))
	}
	in := m.inX(j.h)
	out := m.out[v*in.all+in.at:]
	from, to := reach(j.Span, j.lo, j.hi)
	for u := from; u < to; u += denseSrc {
		r := rect{v, nv, u, min(denseSrc, to-u)}
		b.logits(m, j, r)
		for i := range nv {
			k := stat(i)
			b.weigh(i, &m.top[k], &m.sum[k], out[i*in.all:i*in.all+in.d])
		}
		if m.drop != nil {
			b.keep(m, j, r)
			simd.Mul.Forward(b.p[:nv*denseSrc], b.p[:nv*denseSrc], b.kept[:nv*denseSrc], 1, 1)
		}
		x := m.x.Value().Data[u*in.all+in.at:]
		(&simd.Product{A: b.p[:], RS: denseSrc, CS: 1, B: x, LDB: in.all, C: out, LDC: in.all, M: nv, N: in.d, K: r.nu}).MulAdd()
	}
	for i := range nv {
		simd.DivideRows(out[i*in.all:i*in.all+in.d], m.sum[stat(i):stat(i)+1])
	}
}

// weigh turns the logits of destination i into weights under the largest so far,
// to which the sum and the result are brought.
func (b *block) weigh(i int, top, sum *tensor.Float, out []tensor.Float) {
	row := b.p[i*denseSrc : i*denseSrc+denseSrc]
	now := max(*top, simd.MaxOf(row))
	if now != *top {
		less := simd.Weigh(*top, now)
		simd.Scale.Forward(out, out, less)
		*sum *= less
		*top = now
	}
	simd.ExpRows(row, row, []tensor.Float{now})
	*sum += simd.Sum(row)
}

// shares sets p to the weights, from statistics that stand, and dp to their
// gradients.
func (b *block) shares(m *dense, j job, r rect, dy []tensor.Float) {
	b.shareOut(m, j, r)
	in := m.inX(j.h)
	b.columnsOf(m.x.Value().Data, r.u, r.nu, in)
	dp := b.dp[:r.nv*denseSrc]
	clear(dp)
	(&simd.Product{A: dy[r.v*in.all+in.at:], RS: in.all, CS: 1, B: b.turn, LDB: denseSrc, C: dp, LDC: denseSrc, M: r.nv, N: r.nu, K: in.d}).MulAdd()
	if m.drop != nil {
		b.keep(m, j, r)
		simd.Mul.Forward(dp, dp, b.kept[:len(dp)], 1, 1)
	}
}

// shareOut sets p to the weights.
func (b *block) shareOut(m *dense, j job, r rect) {
	b.logits(m, j, r)
	for i := range r.nv {
		k := (r.v+i)*m.heads + j.h
		p := b.p[i*denseSrc : (i+1)*denseSrc]
		simd.ExpRows(p, p, m.top[k:k+1])
		simd.DivideRows(p, m.sum[k:k+1])
	}
}

// center adds Σ p·dp of some destinations to c.
func (b *block) center(m *dense, j job, g denseGrads) {
	from, to := reach(j.Span, j.lo, j.hi)
	for u := from; u < to; u += denseSrc {
		r := rect{j.Dst + j.lo, j.hi - j.lo, u, min(denseSrc, to-u)}
		b.shares(m, j, r, g.dy)
		for i := range r.nv {
			k, row := (r.v+i)*m.heads+j.h, i*denseSrc
			simd.Runs(denseSrc).Dot(g.c[k:k+1], b.p[row:row+denseSrc], b.dp[row:row+denseSrc])
		}
	}
}

// weights sets p to the weights after dropout, and dp to the gradients of the logits.
func (b *block) weights(m *dense, j job, r rect, g denseGrads) {
	b.shares(m, j, r, g.dy)
	for i := range r.nv {
		k := (r.v+i)*m.heads + j.h
		p, d := b.p[i*denseSrc:(i+1)*denseSrc], b.dp[i*denseSrc:(i+1)*denseSrc]
		simd.Shift.Forward(d, d, -g.c[k])
		simd.Mul.Forward(d, d, p, 1, 1)
	}
	b.dropWeights(m, r)
}

// dropWeights drops of the weights what kept says.
func (b *block) dropWeights(m *dense, r rect) {
	if m.drop != nil {
		p := b.p[:r.nv*denseSrc]
		simd.Mul.Forward(p, p, b.kept[:len(p)], 1, 1)
	}
}

// products makes of the logits' gradients those of the inner products.
func (b *block) products(m *dense, r rect) {
	d := b.dp[:r.nv*denseSrc]
	simd.Scale.Forward(d, d, m.scale)
}

// pullQ adds to the gradient of some destinations' q.
func (b *block) pullQ(m *dense, j job, g denseGrads) {
	v, nv := j.Dst+j.lo, j.hi-j.lo
	in := m.inQ(j.h)
	from, to := reach(j.Span, j.lo, j.hi)
	for u := from; u < to; u += denseSrc {
		r := rect{v, nv, u, min(denseSrc, to-u)}
		b.weights(m, j, r, g)
		b.products(m, r)
		k := m.k.Value().Data[u*in.all+in.at:]
		(&simd.Product{A: b.dp[:], RS: denseSrc, CS: 1, B: k, LDB: in.all, C: g.dq[v*in.all+in.at:], LDC: in.all, M: nv, N: in.d, K: r.nu}).MulAdd()
	}
}

// pullSource adds to the gradient of some sources' k or x.
func (b *block) pullSource(m *dense, j job, g denseGrads) {
	u, nu := j.Src+j.lo, j.hi-j.lo
	for lo := 0; lo < j.NumDst; lo += denseDst {
		hi := min(lo+denseDst, j.NumDst)
		if from, to := reach(j.Span, lo, hi); to <= u || from >= u+nu {
			continue
		}
		r := rect{j.Dst + lo, hi - lo, u, nu}
		if g.dk != nil {
			b.weights(m, j, r, g)
		} else {
			b.shareOut(m, j, r)
			if m.drop != nil {
				b.keep(m, j, r)
				b.dropWeights(m, r)
			}
		}
		add := func(a []tensor.Float, in headOf, of, to []tensor.Float) {
			(&simd.Product{A: a, RS: 1, CS: denseSrc, B: of[r.v*in.all+in.at:], LDB: in.all, C: to[u*in.all+in.at:], LDC: in.all, M: nu, N: in.d, K: r.nv}).MulAdd()
		}
		if g.dx != nil {
			add(b.p[:], m.inX(j.h), g.dy, g.dx)
		}
		if g.dk != nil {
			b.products(m, r)
			add(b.dp[:], m.inQ(j.h), m.q.Value().Data, g.dk)
		}
	}
}

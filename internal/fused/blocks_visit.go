package fused

import (
	"github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The backward pass takes visitPart sources at a time, whose weights and gradients are in cache
// from product to product. It keeps those of all sources that a tile's destinations hear, if they
// are not more than visitMost; else it computes them once more.
const (
	visitMost = 4096
	visitPart = 192 // a multiple of blockSrc, and of the rows that a kernel takes

	visitFar = 1 << 17 // so many elements of K and X, twice, and of their gradients fill the second cache
)

// visit adds to the gradients that are wanted, tile after tile.
func (b *block) visit(m *Blocks, j job, g *BlockGrads) {
	b.reserve(&j, visitMost, visitPart)
	b.gather(m, &j, g)
	for lo := j.lo; lo < j.hi; {
		hi := tileEnd(&j.Span, lo)
		b.visitTile(m, &j, lo, hi, g)
		lo = hi
	}
	b.dx.end()
	b.dk.end()
}

// reserve makes room for the largest tile of a block at once: causal ones grow. A tile takes
// at most so many sources, or parts of them.
func (b *block) reserve(j *job, most, part int) {
	wide := min(widest(&j.Span), j.to-j.from)
	if wide > most {
		wide = part
	}
	r := rect{nu: wide, skip: gemm.ProductPanel - 1}
	size := min(tileMost(&j.Span), j.NumDst) * (max(r.skip+r.wide(), r.panels()) + gemm.ProductPanel)
	b.p, b.dp = room(b.p, size), room(b.dp, size)
}

// visitTile is visit of a tile's destinations.
func (b *block) visitTile(m *Blocks, j *job, lo, hi int, g *BlockGrads) {
	from, to := j.reach(lo, hi)
	if from >= to {
		return
	}
	v, nv := j.Dst+lo, hi-lo
	b.take(m, j, v, nv, g)
	step, kept := visitPart, to-from <= visitMost
	all := b.tile(j, v, nv, from, to-from)
	if !kept {
		all = b.tile(j, v, nv, from, step)
	} else if all.skip > 0 { // parts would share a panel
		step = all.nu
	}
	part := func(u int) rect {
		r := all
		r.u, r.nu = u, min(step, to-u)
		if kept {
			r.at = u - from
		}
		return r
	}
	b.dq.begin(g.Q, v, nv, m.ofKeys(j.h), to-from > step)
	if g.wantsDots() {
		for u := from; u < to; u += step {
			r := part(u)
			b.weightsAndGrads(m, j, &r)
			soft := b.softGrads(m, j, &r, g)
			soft.Dots()
		}
	}
	for u := from; u < to; u += step {
		r := part(u)
		b.slopes(m, j, &r, g, kept && g.wantsDots())
		b.addGrads(m, j, &r, g)
	}
	b.dq.end()
}

// slopes sets p to the weights after dropout and dp to the gradients of the inner products, or,
// where all is known but those of X, p alone. Σ p·dp is known; the weights before dropout and their
// gradients are there, or not.
func (b *block) slopes(m *Blocks, j *job, r *rect, g *BlockGrads, there bool) {
	if g.Q == nil && g.K == nil && g.known {
		b.weights(m, j, r)
		b.keep(m, j, r)
		b.dropOf(m, r, b.p)
		return
	}
	if !there {
		b.weightsAndGrads(m, j, r)
		b.dropOf(m, r, b.dp)
	}
	soft := b.softGrads(m, j, r, g)
	soft.Slopes()
}

// wantsDots reports whether Σ p·dp is to be computed.
func (g *BlockGrads) wantsDots() bool { return !g.known }

// take copies the rows of a tile's destinations.
func (b *block) take(m *Blocks, j *job, v, nv int, g *BlockGrads) {
	b.q.take(m.Q, v, nv, m.ofKeys(j.h))
	b.dy.take(g.Out, v, nv, m.ofValues(j.h))
}

// weightsAndGrads sets p to the weights before dropout, and dp to the gradients of those
// after.
func (b *block) weightsAndGrads(m *Blocks, j *job, r *rect) {
	b.weights(m, j, r)
	b.dp = room(b.dp, r.nv*b.pitch)
	b.inner(b.dp, r, &b.dy, b.values.turned(m.X, j, r, m.ofValues(j.h)))
	b.keep(m, j, r)
}

// addGrads adds to the gradients of Q, X and K, from the weights and the gradients of the
// inner products.
func (b *block) addGrads(m *Blocks, j *job, r *rect, g *BlockGrads) {
	if g.X != nil {
		b.addToSources(b.p, r, &b.dy, &b.dx, b.dk.ahead(r.u, r.nu))
	}
	if g.K != nil {
		b.addToSources(b.dp, r, &b.q, &b.dk, b.dx.ahead(r.u+r.nu, r.nu))
	}
	if g.Q != nil {
		k := b.keyRows.across(m.K, j, r, m.ofKeys(j.h))
		k.before(r.nu*gemm.ProductPanel, b.far, gemm.Product{A: b.dp[r.first():], RS: b.pitch, CS: 1, C: b.dq.row(r.v), LDC: b.dq.ld, M: r.nv, N: b.q.d, K: r.nu})
	}
}

// addToSources adds to rows of the tile's sources those of its destinations, weighed by w. Meanwhile
// the rows are fetched to which is added next.
func (b *block) addToSources(w []tensor.Float, r *rect, of *near, to *sums, next []tensor.Float) {
	rows := of.across()
	for u := 0; u < r.nu; u += visitPart {
		p := gemm.Product{A: w[r.first()+u:], RS: 1, CS: b.pitch, C: to.row(r.u + u), LDC: to.ld, M: min(visitPart, r.nu-u), N: of.d, K: r.nv}
		if asks := p.Asks(); b.far && asks > 0 && len(next) > 0 {
			p.Fetch(next, asks)
		}
		rows.times(p)
	}
}

// gather begins the gradients of a job's sources. They are copied where many tiles add to each.
func (b *block) gather(m *Blocks, j *job, g *BlockGrads) {
	n := j.to - j.from
	b.far = n*(m.KeyWidth+m.ValueWidth) > visitFar
	copied := m.Heads > 1 && j.hi-j.lo > 2*blockDst && n <= visitMost && !banded(&j.Span)
	b.dx.begin(g.X, j.from, n, m.ofValues(j.h), copied)
	if overlap(g.X, g.K) { // they are one array
		b.dk.same(&b.dx)
		return
	}
	b.dk.begin(g.K, j.from, n, m.ofKeys(j.h), copied)
}

package attend

import (
	"github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The backward pass keeps the weights of a tile's destinations, and their gradients, for
// all sources that these hear, if they are not more than visitMost; else it takes
// visitPart sources at a time, and computes them once more.
const (
	visitMost = 4096
	visitPart = 1024 // a multiple of blockSrc
)

// visit adds to the gradients that are wanted, tile after tile.
func (b *block) visit(m *Blocks, j job, g *BlockGrads) {
	b.reserve(&j, visitMost, visitPart)
	for lo := j.lo; lo < j.hi; {
		hi := tileEnd(&j.Span, lo)
		b.visitTile(m, &j, lo, hi, g)
		lo = hi
	}
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
	step := to - from
	if step > visitMost {
		step = visitPart
		for u := from; u < to && g.wantsDots(); u += step {
			r := b.tile(j, v, nv, u, min(step, to-u))
			b.weightsAndGrads(m, j, &r)
			soft := b.softGrads(m, j, &r, g)
			soft.Dots()
		}
	}
	for u := from; u < to; u += step {
		r := b.tile(j, v, nv, u, min(step, to-u))
		b.slopes(m, j, &r, g, step == to-from)
		b.addGrads(m, j, &r, g)
	}
}

// slopes sets p to the weights after dropout and dp to the gradients of the inner products, or,
// where all is known but those of X, p alone. Σ p·dp is one of the whole row or is there.
func (b *block) slopes(m *Blocks, j *job, r *rect, g *BlockGrads, whole bool) {
	if g.Q == nil && g.K == nil && g.known {
		b.weights(m, j, r)
		b.keep(m, j, r)
		b.dropOf(m, r, b.p)
		return
	}
	b.weightsAndGrads(m, j, r)
	soft := b.softGrads(m, j, r, g)
	if whole && g.wantsDots() {
		soft.Dots()
	} else {
		b.dropOf(m, r, b.dp)
	}
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
	keys, values := m.ofKeys(j.h), m.ofValues(j.h)
	if g.X != nil {
		b.addToSources(b.p, r, &b.dy, g.X[r.u*values.all+values.at:], values.all)
	}
	if g.K != nil {
		b.addToSources(b.dp, r, &b.q, g.K[r.u*keys.all+keys.at:], keys.all)
	}
	if g.Q != nil {
		k := b.keyRows.across(m.K, j, r, keys)
		k.times(gemm.Product{A: b.dp[r.skip:], RS: b.pitch, CS: 1, C: g.Q[r.v*keys.all+keys.at:], LDC: keys.all, M: r.nv, N: keys.d, K: r.nu})
	}
}

// addToSources adds to rows of the tile's sources, which are ld apart, those of its
// destinations, weighed by w.
func (b *block) addToSources(w []tensor.Float, r *rect, of *near, to []tensor.Float, ld int) {
	rows := of.across()
	for u := 0; u < r.nu; u += visitPart {
		rows.times(gemm.Product{A: w[r.skip+u:], RS: 1, CS: b.pitch, C: to[u*ld:], LDC: ld, M: min(visitPart, r.nu-u), N: of.d, K: r.nv})
	}
}

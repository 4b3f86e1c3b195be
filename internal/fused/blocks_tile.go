package fused

import (
	"math"
	"sync"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/tensor"
)

// block is the scratch of a job: a tile of destinations and sources, and rows of
// these in the layout of products.
type block struct {
	p, dp []tensor.Float // the logits, then weights; their gradients
	kept  []tensor.Float // what dropout multiplies weights with
	pitch int            // from a row of these to the next
	far   bool           // between two tiles more is read than the second cache keeps
	y     []tensor.Float // the results of the tile's destinations
	most  []tensor.Float // their largest logits

	keys, keyRows     sheet // of sources: K turned, and not
	values, valueRows sheet // X turned, and not
	q, dy             near  // of the tile's destinations
	dq, dk, dx        sums  // gradients of the tile's destinations, and of the job's sources
}

var blocks = sync.Pool{New: func() any { return new(block) }}

// begin forgets the job before, and spoils what holds anything until it is set.
func (b *block) begin() {
	b.far = false
	for _, s := range [...]*sheet{&b.keys, &b.keyRows, &b.values, &b.valueRows} {
		s.lo, s.hi = 0, 0
		spoil.Floats(s.data)
	}
	for _, x := range [...][]tensor.Float{b.p, b.dp, b.kept, b.y, b.most, b.q.rows, b.q.panels, b.dy.rows, b.dy.panels, b.dq.copied, b.dk.copied, b.dx.copied} {
		spoil.Floats(x)
	}
}

// rect is a tile: destinations v to v+nv and sources u to u+nu. The first source stands
// in column at+skip of the block's rows, and a panel begins in column at.
type rect struct{ v, nv, u, nu, skip, at int }

// first is the column of the first source.
func (r *rect) first() int { return r.at + r.skip }

// wide is how many columns a row is filled to.
func (r *rect) wide() int { return (r.nu + blockSrc - 1) / blockSrc * blockSrc }

// panels is how many columns panels fill that come by twos.
func (r *rect) panels() int {
	const two = 2 * gemm.ProductPanel
	return (r.skip + r.nu + two - 1) / two * two
}

// tile returns a rect, for which there is room.
func (b *block) tile(j *job, v, nv, u, nu int) rect {
	r := rect{v: v, nv: nv, u: u, nu: nu, skip: (u - j.Src) % gemm.ProductPanel}
	b.pitch = max(r.skip+r.wide(), r.panels()) + gemm.ProductPanel
	return r
}

// row returns that of destination i: as many elements as it is filled to.
func (b *block) row(x []tensor.Float, r *rect, i int) []tensor.Float {
	at := i*b.pitch + r.first()
	return x[at : at+r.wide()]
}

// room returns x with n elements at least.
func room(x []tensor.Float, n int) []tensor.Float {
	if cap(x) < n {
		x = make([]tensor.Float, n)
		spoil.Floats(x)
	}
	return x[:n]
}

// inner sets rows of the block to the inner products of the tile's destinations, whose
// rows are a, with its sources, whose rows are turned to columns.
func (b *block) inner(to []tensor.Float, r *rect, a *near, columns operand) {
	to, n := to[r.at:], r.panels()
	columns.before(n/gemm.ProductPanel*columns.pitch, b.far, gemm.Product{A: a.rows, RS: a.d, CS: 1, C: to, LDC: b.pitch, M: r.nv, N: n, K: a.d, Set: true})
	for i := range r.nv {
		if end := b.pitch*i + r.skip + r.wide(); i*b.pitch+n < end {
			clear(to[i*b.pitch+n : end])
		}
	}
}

// products sets p to the inner products of destinations and sources.
func (b *block) products(m *Blocks, j *job, r *rect) {
	b.p = room(b.p, r.nv*b.pitch)
	b.inner(b.p, r, &b.q, b.keys.turned(m.K, j, r, m.ofKeys(j.h)))
}

// logits sets p to what times scale is the logits of destinations and sources; −∞ where there
// is no edge.
func (b *block) logits(m *Blocks, j *job, r *rect) (scale tensor.Float) {
	b.products(m, j, r)
	scale = m.Scale
	if m.Bias.X != nil || !(scale > 0) { // else the largest logit is that of the largest product
		for i := range r.nv {
			row := b.row(b.p, r, i)
			vec.Scale.Forward(row, row, scale)
		}
		scale = 1
	}
	if m.Bias.X != nil {
		b.addBias(m, j, r)
	}
	if !j.masked() {
		b.none(r)
		return scale
	}
	for i := range r.nv {
		lo, hi, skip := j.Sources(r.v + i - j.Dst)
		row := b.row(b.p, r, i)
		vec.NoTop(row[:min(max(lo-r.u, 0), r.nu)])
		vec.NoTop(row[min(max(hi-r.u, 0), r.nu):])
		if at := skip - r.u; skip >= 0 && at >= 0 && at < r.nu {
			row[at] = tensor.Float(math.Inf(-1))
		}
	}
	return scale
}

// weights sets p to the weights before dropout, from statistics that stand.
func (b *block) weights(m *Blocks, j *job, r *rect) {
	scale := b.logits(m, j, r)
	soft := b.soft(m, j, r)
	soft.Scale = scale
	soft.Weigh()
}

// none sets the logits of a tile's sources that are not there.
func (b *block) none(r *rect) {
	if r.nu == r.wide() {
		return
	}
	for i := range r.nv {
		vec.NoTop(b.row(b.p, r, i)[r.nu:])
	}
}

// masked reports whether some pair of the block is no edge.
func (j *job) masked() bool { return j.Mask != graph.FullMask }

// soft returns the rows of the tile's destinations.
func (b *block) soft(m *Blocks, j *job, r *rect) attend.SoftRows {
	k := m.stat(r.v, j.h)
	return attend.SoftRows{
		X: b.p[r.first():], Top: m.Stats.Top[k:], Sum: m.Stats.Sum[k:],
		Rows: r.nv, Stride: b.pitch, Width: r.wide(), Each: m.Heads, Scale: 1,
	}
}

// softGrads is soft with the gradients of the weights and Σ p·dp.
func (b *block) softGrads(m *Blocks, j *job, r *rect, g *BlockGrads) attend.SoftRows {
	s := b.soft(m, j, r)
	s.G, s.Center, s.Scale = b.dp[r.first():], g.center[m.stat(r.v, j.h):], m.Scale
	if m.Drop != nil {
		s.Kept = b.kept[r.first():]
	}
	return s
}

// keep sets kept to what dropout makes of ones: the element of an edge and a head
// is that of the same message in tiles. What is no edge has any number.
func (b *block) keep(m *Blocks, j *job, r *rect) {
	if m.Drop == nil {
		return
	}
	b.kept = room(b.kept, r.nv*b.pitch)
	drop := m.drop()
	for i := range r.nv {
		if row := b.row(b.kept, r, i); j.masked() {
			clear(row)
		} else {
			clear(row[r.nu:])
		}
		for _, run := range j.runs(r, i) {
			if run.n > 0 { // by eights, which may go on behind it
				at := b.at(r, i, run.u)
				drop.Column(b.kept[at:min(at+(run.n+7)&^7, len(b.kept))], run.e, j.h)
			}
		}
	}
}

// at is where a source's element stands in the row of destination i.
func (b *block) at(r *rect, i, u int) int { return i*b.pitch + r.first() + u - r.u }

// dropOf multiplies the rows of x by what dropout keeps.
func (b *block) dropOf(m *Blocks, r *rect, x []tensor.Float) {
	if m.Drop == nil {
		return
	}
	for i := range r.nv {
		row := b.row(x, r, i)
		vec.Mul.Forward(row, row, b.row(b.kept, r, i), 1, 1)
	}
}

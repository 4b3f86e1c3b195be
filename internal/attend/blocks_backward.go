package attend

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// BlockGrads are the gradient of the result, and those that [Blocks.Backward] adds to.
// One that is nil is not wanted. Those of K and X may be one array, or share elements.
type BlockGrads struct {
	Out           []tensor.Float
	Q, K, X, Bias []tensor.Float

	center []tensor.Float // Σ_u p·dp of each destination and head
}

// Room is how many elements of scratch [Blocks.Backward] needs: one for each destination
// and head, and copies of the gradient of a table of biases if that is wanted.
func (m *Blocks) Room(bias bool) int {
	if !bias {
		return len(m.Stats.Top)
	}
	return len(m.Stats.Top) + m.Bias.room()
}

// Backward adds the gradients: first those of the bias and of the destinations, each of
// which is one job's, then block after block those of the sources. Room is zero; the first
// elements become Σ_u p·dp of each destination and head. That is ⟨dy, y⟩, but summed of
// the numbers it is taken off: where one source has all weight, what is left is zero and
// no rounding, which long queries and keys would multiply.
func (m *Blocks) Backward(g *BlockGrads, room []tensor.Float) {
	n := len(m.Stats.Top)
	g.center = room[:n]
	if m.short(g) {
		m.each(wholeOf, func(b *block, j job) { b.shortGrads(m, j, g) })
		return
	}
	if g.Q != nil && g.Bias == nil && m.kept() {
		m.each(destinationsOf, func(b *block, j job) { b.centerAndQueryGrad(m, j, g) })
		if g.K != nil || g.X != nil {
			m.sourceGrads(g)
		}
		return
	}
	if g.Q != nil || g.K != nil || g.Bias != nil {
		m.each(destinationsOf, func(b *block, j job) { b.center(m, j, g) })
	}
	if g.Bias != nil {
		m.biasGrad(g, room[n:])
	}
	if g.Q != nil {
		m.each(destinationsOf, func(b *block, j job) { b.queryGrad(m, j, g) })
	}
	if g.K != nil || g.X != nil {
		m.sourceGrads(g)
	}
}

// sourceGrads adds the gradients of K and X, block after block, since the sources of
// two may be the same: one after the other where these share memory in another way than
// whole.
func (m *Blocks) sourceGrads(g *BlockGrads) {
	parts := [2]*BlockGrads{g, nil}
	if overlap(g.X, g.K) && !m.oneArray(g) {
		x, k := *g, *g
		x.K, k.X = nil, nil
		parts = [2]*BlockGrads{&x, &k}
	}
	first := 0
	for i := range m.Spans {
		one := Blocks{Spans: m.Spans[i : i+1], Heads: m.Heads}
		for _, part := range parts {
			if part != nil {
				one.each(sourcesOf, func(b *block, j job) {
					j.first = first
					b.sourceGrad(m, j, part)
				})
			}
		}
		first += m.Spans[i].NumEdges()
	}
}

// oneArray reports whether K and X have one gradient, of which a job has the same rows and
// columns in both.
func (m *Blocks) oneArray(g *BlockGrads) bool {
	return &g.X[0] == &g.K[0] && m.KeyWidth == m.ValueWidth
}

// overlap reports whether x and y share elements.
func overlap(x, y []tensor.Float) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	start := func(s []tensor.Float) uintptr { return uintptr(unsafe.Pointer(&s[0])) }
	end := func(s []tensor.Float) uintptr { return uintptr(unsafe.Pointer(&s[len(s)-1])) }
	return start(x) <= end(y) && start(y) <= end(x)
}

// weightsAndGrads sets p to the weights before dropout, from statistics that stand, and
// dp to their gradients.
func (b *block) weightsAndGrads(m *Blocks, j job, r rect, dy []tensor.Float) {
	b.weights(m, j, r)
	in := m.ofValues(j.h)
	b.columnsOf(m.X, r.u, r.nu, in)
	dp := b.dp[:r.nv*blockSrc]
	clear(dp)
	(&gemm.Product{A: dy[r.v*in.all+in.at:], RS: in.all, CS: 1, B: b.turn, LDB: blockSrc, C: dp, LDC: blockSrc, M: r.nv, N: r.nu, K: in.d}).MulAdd()
	if m.Drop != nil {
		b.keep(m, j, r)
		vec.Mul.Forward(dp, dp, b.kept[:len(dp)], 1, 1)
	}
}

// weights sets p to the weights before dropout.
func (b *block) weights(m *Blocks, j job, r rect) {
	b.logits(m, j, r)
	for i := range r.nv {
		k := (r.v+i)*m.Heads + j.h
		vec.DivideRows(b.exponentials(i, m.Stats.Top[k:k+1]), m.Stats.Sum[k:k+1])
	}
}

// center adds Σ p·dp of some destinations.
func (b *block) center(m *Blocks, j job, g *BlockGrads) {
	from, to := reach(j.Span, j.lo, j.hi)
	for u := from; u < to; u += blockSrc {
		r := rect{j.Dst + j.lo, j.hi - j.lo, u, min(blockSrc, to-u)}
		b.weightsAndGrads(m, j, r, g.Out)
		for i := range r.nv {
			k, row := (r.v+i)*m.Heads+j.h, i*blockSrc
			vec.Runs(blockSrc).Dot(g.center[k:k+1], b.p[row:row+blockSrc], b.dp[row:row+blockSrc])
		}
	}
}

// mostAlong is of how many sources a thread keeps the weights of some destinations, and their
// gradients, between the two things that Backward does with them: three megabytes.
const mostAlong = 8192

// kept reports whether no block has more sources.
func (m *Blocks) kept() bool {
	for _, s := range m.Spans {
		if s.NumSrc > mostAlong {
			return false
		}
	}
	return true
}

// centerAndQueryGrad is center and then queryGrad, with the weights and their gradients kept
// between the two.
func (b *block) centerAndQueryGrad(m *Blocks, j job, g *BlockGrads) {
	v, nv := j.Dst+j.lo, j.hi-j.lo
	in := m.ofKeys(j.h)
	from, to := reach(j.Span, j.lo, j.hi)
	b.along = b.along[:0]
	for u := from; u < to; u += blockSrc {
		r := rect{v, nv, u, min(blockSrc, to-u)}
		b.weightsAndGrads(m, j, r, g.Out)
		for i := range nv {
			k, row := (v+i)*m.Heads+j.h, i*blockSrc
			vec.Runs(blockSrc).Dot(g.center[k:k+1], b.p[row:row+blockSrc], b.dp[row:row+blockSrc])
		}
		b.along = append(append(b.along, b.p[:nv*blockSrc]...), b.dp[:nv*blockSrc]...)
	}
	rest := b.along
	for u := from; u < to; u += blockSrc {
		p, d := rest[:nv*blockSrc], rest[nv*blockSrc:2*nv*blockSrc]
		rest = rest[2*nv*blockSrc:]
		for i := range nv {
			row := d[i*blockSrc : (i+1)*blockSrc]
			vec.Shift.Forward(row, row, -g.center[(v+i)*m.Heads+j.h])
		}
		vec.Mul.Forward(d, d, p, 1, 1)
		vec.Scale.Forward(d, d, m.Scale)
		k := m.K[u*in.all+in.at:]
		(&gemm.Product{A: d, RS: blockSrc, CS: 1, B: k, LDB: in.all, C: g.Q[v*in.all+in.at:], LDC: in.all, M: nv, N: in.d, K: min(blockSrc, to-u)}).MulAdd()
	}
}

// logitGrads sets p to the weights after dropout, and dp to the gradients of the logits.
func (b *block) logitGrads(m *Blocks, j job, r rect, g *BlockGrads) {
	b.weightsAndGrads(m, j, r, g.Out)
	for i := range r.nv {
		k := (r.v+i)*m.Heads + j.h
		p, d := b.p[i*blockSrc:(i+1)*blockSrc], b.dp[i*blockSrc:(i+1)*blockSrc]
		vec.Shift.Forward(d, d, -g.center[k])
		vec.Mul.Forward(d, d, p, 1, 1)
	}
	b.dropWeights(m, r)
}

// dropWeights drops of the weights what kept says.
func (b *block) dropWeights(m *Blocks, r rect) {
	if m.Drop != nil {
		p := b.p[:r.nv*blockSrc]
		vec.Mul.Forward(p, p, b.kept[:len(p)], 1, 1)
	}
}

// scaleGrads makes of the logits' gradients those of the inner products.
func (b *block) scaleGrads(m *Blocks, r rect) {
	d := b.dp[:r.nv*blockSrc]
	vec.Scale.Forward(d, d, m.Scale)
}

// queryGrad adds to the gradient of some destinations' Q.
func (b *block) queryGrad(m *Blocks, j job, g *BlockGrads) {
	v, nv := j.Dst+j.lo, j.hi-j.lo
	in := m.ofKeys(j.h)
	from, to := reach(j.Span, j.lo, j.hi)
	for u := from; u < to; u += blockSrc {
		r := rect{v, nv, u, min(blockSrc, to-u)}
		b.logitGrads(m, j, r, g)
		b.scaleGrads(m, r)
		k := m.K[u*in.all+in.at:]
		(&gemm.Product{A: b.dp[:], RS: blockSrc, CS: 1, B: k, LDB: in.all, C: g.Q[v*in.all+in.at:], LDC: in.all, M: nv, N: in.d, K: r.nu}).MulAdd()
	}
}

// sourceGrad adds to the gradient of some sources' K or X.
func (b *block) sourceGrad(m *Blocks, j job, g *BlockGrads) {
	u, nu := j.Src+j.lo, j.hi-j.lo
	for lo := 0; lo < j.NumDst; lo += blockDst {
		hi := min(lo+blockDst, j.NumDst)
		if from, to := reach(j.Span, lo, hi); to <= u || from >= u+nu {
			continue
		}
		r := rect{j.Dst + lo, hi - lo, u, nu}
		if g.K != nil {
			b.logitGrads(m, j, r, g)
		} else {
			b.weights(m, j, r)
			if m.Drop != nil {
				b.keep(m, j, r)
				b.dropWeights(m, r)
			}
		}
		add := func(a []tensor.Float, in headOf, of, to []tensor.Float) {
			(&gemm.Product{A: a, RS: 1, CS: blockSrc, B: of[r.v*in.all+in.at:], LDB: in.all, C: to[u*in.all+in.at:], LDC: in.all, M: nu, N: in.d, K: r.nv}).MulAdd()
		}
		if g.X != nil {
			add(b.p[:], m.ofValues(j.h), g.Out, g.X)
		}
		if g.K != nil {
			b.scaleGrads(m, r)
			add(b.dp[:], m.ofKeys(j.h), m.Q, g.K)
		}
	}
}

package attend

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// forward computes some destinations, tile after tile.
func (b *block) forward(m *Blocks, j job, y []tensor.Float) {
	for lo := j.lo; lo < j.hi; {
		hi := tileEnd(&j.Span, lo)
		b.forwardTile(m, &j, lo, hi, y)
		lo = hi
	}
}

// forwardTile computes a tile's destinations, over all sources that any of them hears.
func (b *block) forwardTile(m *Blocks, j *job, lo, hi int, y []tensor.Float) {
	v, nv := j.Dst+lo, hi-lo
	top, sum := m.Stats.Top, m.Stats.Sum
	for i := range nv {
		top[m.stat(v+i, j.h)] = tensor.Float(math.Inf(-1))
	}
	in := m.ofValues(j.h)
	out := y[v*in.all+in.at:]
	b.q.take(m.Q, v, nv, m.ofKeys(j.h))
	from, to := j.reach(lo, hi)
	for u := from; u < to; u += blockSrc {
		r := b.tile(j, v, nv, u, min(blockSrc, to-u))
		b.logits(m, j, &r)
		for i := range nv {
			k := m.stat(v+i, j.h)
			raise(b.row(b.p, &r, i), &top[k], &sum[k], out[i*in.all:i*in.all+in.d])
		}
		soft := b.soft(m, j, &r)
		soft.Add()
		b.keep(m, j, &r)
		b.dropOf(m, &r, b.p)
		x := b.valueRows.across(m.X, j, &r, in)
		x.times(gemm.Product{A: b.p[r.skip:], RS: b.pitch, CS: 1, C: out, LDC: in.all, M: nv, N: in.d, K: r.nu})
	}
	for i := range nv {
		k := m.stat(v+i, j.h)
		if row := out[i*in.all : i*in.all+in.d]; sum[k] != 0 {
			vec.Div.Forward(row, row, sum[k:k+1], 1, 0)
		}
	}
}

// raise raises the largest logit so far of a destination to that of a row, to which the sum
// and the result are brought.
func raise(row []tensor.Float, top, sum *tensor.Float, out []tensor.Float) {
	now := max(*top, vec.MaxOf(row))
	if now == *top {
		return
	}
	if *sum != 0 { // else there is nothing yet
		less := vec.Weigh(*top, now)
		vec.Scale.Forward(out, out, less)
		*sum *= less
	}
	*top = now
}

package fused

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/attend"
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
	b.y = room(b.y, nv*in.d)
	b.q.take(m.Q, v, nv, m.ofKeys(j.h))
	from, to := j.reach(lo, hi)
	step := sumStep(!j.masked(), j.NumSrc)
	for u := from; u < to; u += step {
		r := b.tile(j, v, nv, u, min(step, to-u))
		scale := b.logits(m, j, &r)
		soft := b.soft(m, j, &r)
		soft.Scale = scale
		b.raise(&soft, in.d)
		soft.Add()
		b.keep(m, j, &r)
		b.dropOf(m, &r, b.p)
		x := b.valueRows.across(m.X, j, &r, in)
		x.times(gemm.Product{A: b.p[r.skip:], RS: b.pitch, CS: 1, C: b.y, LDC: in.d, M: nv, N: in.d, K: r.nu, Set: u == from})
	}
	for i := range nv {
		if k := m.stat(v+i, j.h); sum[k] != 0 {
			vec.Div.Forward(y[(v+i)*in.all+in.at:][:in.d], b.y[i*in.d:(i+1)*in.d], sum[k:k+1], 1, 0)
		}
	}
}

// raise raises the largest logits so far to those of some rows, to which the sums and the results,
// of d elements, are brought.
func (b *block) raise(rows *attend.SoftRows, d int) {
	b.most = room(b.most, rows.Rows)
	rows.Most = b.most
	rows.Largest()
	for i, most := range b.most {
		k := i * rows.Each
		if most <= rows.Top[k] { // as most are
			continue
		}
		raise(most, &rows.Top[k], &rows.Sum[k], b.y[i*d:(i+1)*d])
	}
}

// raise raises the largest logit so far of a destination, to which the sum and the result are
// brought.
func raise(to tensor.Float, top, sum *tensor.Float, out []tensor.Float) {
	now := max(*top, to)
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

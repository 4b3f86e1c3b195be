package attend

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// forward computes some destinations, over all sources that any of them hears.
func (b *block) forward(m *Blocks, j job, y []tensor.Float) {
	v, nv := j.Dst+j.lo, j.hi-j.lo
	top, sum := m.Stats.Top, m.Stats.Sum
	stat := func(i int) int { return (v+i)*m.Heads + j.h }
	for i := range nv {
		top[stat(i)] = tensor.Float(math.Inf(-1))
	}
	in := m.ofValues(j.h)
	out := y[v*in.all+in.at:]
	from, to := reach(j.Span, j.lo, j.hi)
	for u := from; u < to; u += blockSrc {
		r := rect{v, nv, u, min(blockSrc, to-u)}
		b.logits(m, j, r)
		for i := range nv {
			k := stat(i)
			b.weigh(i, &top[k], &sum[k], out[i*in.all:i*in.all+in.d])
		}
		if m.Drop != nil {
			b.keep(m, j, r)
			vec.Mul.Forward(b.p[:nv*blockSrc], b.p[:nv*blockSrc], b.kept[:nv*blockSrc], 1, 1)
		}
		x := m.X[u*in.all+in.at:]
		(&gemm.Product{A: b.p[:], RS: blockSrc, CS: 1, B: x, LDB: in.all, C: out, LDC: in.all, M: nv, N: in.d, K: r.nu}).MulAdd()
	}
	for i := range nv {
		vec.DivideRows(out[i*in.all:i*in.all+in.d], sum[stat(i):stat(i)+1])
	}
}

// logits sets p to the scaled inner products of destinations and sources, where heard says;
// −∞ where there is no edge.
func (b *block) logits(m *Blocks, j job, r rect) {
	s, at := j.Span, m.ofKeys(j.h)
	b.columnsOf(m.K, r.u, r.nu, at)
	p := b.p[:r.nv*blockSrc]
	clear(p)
	q := m.Q[r.v*at.all+at.at:]
	(&gemm.Product{A: q, RS: at.all, CS: 1, B: b.turn, LDB: blockSrc, C: p, LDC: blockSrc, M: r.nv, N: r.nu, K: at.d}).MulAdd()
	vec.Scale.Forward(p, p, m.Scale)
	if m.Bias.X != nil {
		b.addBias(m, j, r)
	}
	for i := range r.nv {
		lo, hi, skip := s.Sources(r.v + i - s.Dst)
		row := p[i*blockSrc : i*blockSrc+blockSrc]
		b.hears(i, min(max(lo-r.u, 0), r.nu), min(max(hi-r.u, 0), r.nu))
		if at := skip - r.u; skip >= 0 && at >= 0 && at < r.nu {
			row[at] = tensor.Float(math.Inf(-1))
		}
	}
}

// weigh turns the logits of destination i into weights under the largest so far,
// to which the sum and the result are brought.
func (b *block) weigh(i int, top, sum *tensor.Float, out []tensor.Float) {
	row := b.p[i*blockSrc : i*blockSrc+blockSrc]
	now := max(*top, vec.MaxOf(row[b.heard[i].from:b.heard[i].to]))
	if now != *top {
		less := vec.Weigh(*top, now)
		vec.Scale.Forward(out, out, less)
		*sum *= less
		*top = now
	}
	b.exponentials(i, []tensor.Float{now})
	*sum += vec.Sum(row)
}

// keep sets kept to what dropout makes of ones: the element of an edge and a head
// is that of the same message in tiles.
func (b *block) keep(m *Blocks, j job, r rect) {
	clear(b.kept[:r.nv*blockSrc])
	drop := m.drop()
	scale := tensor.Float(drop.Scale)
	for i := range r.nv {
		for _, run := range j.runs(r, i) {
			for k := range run.n {
				if drop.Keep(drop.Row(run.e+k), j.h) {
					b.kept[run.at+k] = scale
				}
			}
		}
	}
}

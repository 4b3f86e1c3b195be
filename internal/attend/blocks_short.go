package attend

import (
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// Blocks of few sources, such as sentences, take their weights once in Backward and not for
// each of the gradients, and all blocks and heads at a time. The bits are those of
// the general way: the same numbers are added in the same order.

// short reports whether Backward may go so: every block has one range of sources and not many destinations, its sources begin
// with the first that a destination hears, no two blocks share sources, no gradients share
// elements, and all of them are wanted but that of a bias.
func (m *Blocks) short(g *BlockGrads) bool {
	if g.Bias != nil || g.Q == nil || g.K == nil || g.X == nil || overlap(g.Q, g.K) || overlap(g.Q, g.X) || overlap(g.K, g.X) {
		return false
	}
	end := 0
	for _, s := range m.Spans {
		if s.NumSrc > blockSrc || s.NumDst > 4*blockDst || s.Src < end || s.Mask != graph.FullMask && s.Mask != graph.CausalMask {
			return false
		}
		end = s.Src + s.NumSrc
	}
	return true
}

// wholeOf leaves a block whole.
func wholeOf(graph.Span) (n, step int) { return 1, 1 }

// shortGrads adds to all gradients of a block and a head.
func (b *block) shortGrads(m *Blocks, j job, g *BlockGrads) {
	if j.NumSrc == 0 {
		return
	}
	keys, values := m.ofKeys(j.h), m.ofValues(j.h)
	for lo := 0; lo < j.NumDst; lo += blockDst {
		j.lo, j.hi = lo, min(lo+blockDst, j.NumDst)
		r := rect{j.Dst + j.lo, j.hi - j.lo, j.Src, j.NumSrc}
		b.weightsAndGrads(m, j, r, g.Out)
		for i := range r.nv {
			k, row := (r.v+i)*m.Heads+j.h, i*blockSrc
			p, d := b.p[row:row+blockSrc], b.dp[row:row+blockSrc]
			vec.Runs(blockSrc).Dot(g.center[k:k+1], p, d)
			vec.Shift.Forward(d, d, -g.center[k])
			vec.Mul.Forward(d, d, p, 1, 1)
		}
		b.dropWeights(m, r)
		(&gemm.Product{A: b.p[:], RS: 1, CS: blockSrc, B: g.Out[r.v*values.all+values.at:], LDB: values.all, C: g.X[r.u*values.all+values.at:], LDC: values.all, M: r.nu, N: values.d, K: r.nv}).MulAdd()
		b.scaleGrads(m, r)
		(&gemm.Product{A: b.dp[:], RS: blockSrc, CS: 1, B: m.K[r.u*keys.all+keys.at:], LDB: keys.all, C: g.Q[r.v*keys.all+keys.at:], LDC: keys.all, M: r.nv, N: keys.d, K: r.nu}).MulAdd()
		(&gemm.Product{A: b.dp[:], RS: 1, CS: blockSrc, B: m.Q[r.v*keys.all+keys.at:], LDB: keys.all, C: g.K[r.u*keys.all+keys.at:], LDC: keys.all, M: r.nu, N: keys.d, K: r.nv}).MulAdd()
	}
}

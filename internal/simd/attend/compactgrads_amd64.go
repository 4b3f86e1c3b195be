//go:build !noasm && !f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func (b *CompactGrads) addFast(edges []int32) bool {
	w := b.H * b.Width
	b.bytes = 4 * w
	for step := max(cpu.AtOnce/w, 1); len(edges) > 0; {
		b.n = min(step, len(edges))
		b.ahead, b.near = cpu.Ahead(len(b.DU), b.n, len(edges))
		b.edges = &edges[0]
		if b.Width == 8 && b.H == 8 {
			addCompactGrads8(b)
		} else {
			addCompactGrads(b)
		}
		edges = edges[b.n:]
	}
	b.edges = nil
	return true
}

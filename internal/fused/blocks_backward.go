package fused

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// BlockGrads are the gradient of the result, and those that [Blocks.Backward] adds to.
// One that is nil is not wanted. Those of K and X may be one array, or share elements.
type BlockGrads struct {
	Out           []tensor.Float
	Q, K, X, Bias []tensor.Float

	center []tensor.Float // Σ_u p·dp of each destination and head
	known  bool           // that is set
}

// Room is how many elements of scratch [Blocks.Backward] needs: one for each destination
// and head, and copies of the gradient of a table of biases if that is wanted.
func (m *Blocks) Room(bias bool) int {
	if !bias {
		return len(m.Stats.Top)
	}
	return len(m.Stats.Top) + m.Bias.room()
}

// Backward adds the gradients. Room is zero; the first elements become Σ_u p·dp of each
// destination and head. That is ⟨dy, y⟩, but summed of the numbers it is taken off: where
// one source has all weight, what is left is zero and no rounding, which long queries and
// keys would multiply.
//
// One visit of each tile is five products, but a source's gradients are then one job's,
// and a head cannot be shared by threads. Where that leaves too many of them idle there
// are two visits of seven products, the first by destinations and the second by sources.
// An element is one chain over its tiles in order, so no bit depends on which it is.
func (m *Blocks) Backward(g *BlockGrads, room []tensor.Float) {
	n := len(m.Stats.Top)
	g.center, g.known = room[:n], false
	if g.Bias != nil {
		m.biasGrad(g, room[n:])
		g.known = true
	}
	runs := m.runs()
	if m.oneVisit(g, runs) {
		runs.each(m, func(spans []graph.Span, first int) {
			m.each(spans, first, whole, func(b *block, j job) { b.visit(m, j, g) })
		})
		return
	}
	if g.Q != nil || g.K != nil && !g.known {
		near := *g
		near.K, near.X = nil, nil
		m.each(m.Spans, 0, destinations, func(b *block, j job) { b.visit(m, j, &near) })
	}
	far := *g
	far.Q, far.known = nil, true
	parts := [2]BlockGrads{far, far}
	if parts[1].X = nil; !overlap(g.X, g.K) || m.oneArray(g) {
		parts[1].K = nil
	} else {
		parts[0].K = nil
	}
	runs.each(m, func(spans []graph.Span, first int) {
		for i := range parts {
			if part := &parts[i]; part.K != nil || part.X != nil {
				m.each(spans, first, sources, func(b *block, j job) { b.visit(m, j, part) })
			}
		}
	})
}

// blockRuns is how many blocks in a row have sources of their own: all, or one.
type blockRuns int

// runs returns that of m.
func (m *Blocks) runs() blockRuns {
	for i := 1; i < len(m.Spans); i++ {
		if before := m.Spans[i-1]; m.Spans[i].Src < before.Src+before.NumSrc {
			return 1
		}
	}
	return blockRuns(len(m.Spans))
}

// each calls f with the runs of blocks and their first edges, in order.
func (n blockRuns) each(m *Blocks, f func(spans []graph.Span, first int)) {
	first := 0
	for lo := 0; lo < len(m.Spans); lo += int(n) {
		spans := m.Spans[lo : lo+int(n)]
		f(spans, first)
		for _, s := range spans {
			first += s.NumEdges()
		}
	}
}

// oneVisit reports whether all gradients are computed in one visit of each tile.
func (m *Blocks) oneVisit(g *BlockGrads, runs blockRuns) bool {
	if overlap(g.Q, g.K) || overlap(g.Q, g.X) || overlap(g.X, g.K) && !m.oneArray(g) {
		return false
	}
	threads, jobs := par.Threads(), int(runs)*m.Heads
	rounds := (jobs + threads - 1) / threads
	return 5*rounds*threads <= 7*jobs
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

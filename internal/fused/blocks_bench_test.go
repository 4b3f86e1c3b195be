package fused_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// BenchmarkBlocks is a forward and a backward pass on one thread: of sentences, of a long
// text, of one whose logits are hundreds apart, and of a window over one.
func BenchmarkBlocks(b *testing.B) {
	defer par.SetThreads(1)()
	for _, c := range []struct {
		name        string
		spans, n, d int
		mask        graph.SpanMask
		drop        float64
		scale       float
	}{
		{"64x50x16", 64, 50, 16, graph.FullMask, 0, 0.25},
		{"64x50x16/dropout", 64, 50, 16, graph.FullMask, 0.1, 0.25},
		{"1x2048x64", 1, 2048, 64, graph.FullMask, 0, 0.25},
		{"1x2048x64/dropout", 1, 2048, 64, graph.FullMask, 0.1, 0.25},
		{"1x1024x64/spread", 1, 1024, 64, graph.FullMask, 0, 8},
		{"window/4096x8", 1, 4096, 8, graph.BandMask, 0, 0.25},
	} {
		m := &fused.Blocks{Heads: 8, KeyWidth: c.d, ValueWidth: c.d, Scale: c.scale}
		for i := range c.spans {
			m.Spans = append(m.Spans, graph.Span{Src: i * c.n, NumSrc: c.n, Dst: i * c.n, NumDst: c.n, Mask: c.mask, Width: 128})
		}
		if c.drop > 0 {
			mask := tensor.NewMask(1, 2, 3, c.drop)
			m.Drop = &mask
		}
		rng, rows := rand.New(rand.NewPCG(1, 1)), c.spans*c.n
		some := func() []float { return normal(rng, rows, m.Heads, c.d).Data }
		m.Q, m.K, m.X = some(), some(), some()
		g := &fused.BlockGrads{Out: some(), Q: some(), K: some(), X: some()}
		m.Stats = fused.BlockStats{Top: make([]float, rows*m.Heads), Sum: make([]float, rows*m.Heads)}
		y, room := make([]float, len(m.Q)), make([]float, rows*m.Heads)
		b.Run(c.name+"/forward", func(b *testing.B) {
			for b.Loop() {
				clear(y)
				clear(m.Stats.Sum)
				m.Forward(y)
			}
		})
		b.Run(c.name+"/backward", func(b *testing.B) {
			for b.Loop() {
				clear(room)
				m.Backward(g, room)
			}
		})
	}
}

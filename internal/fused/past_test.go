package fused_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// A query of the past has the bits of the last row of a causal block, and those of each row of
// it with so many rows of the past, on any number of threads.
func TestPastIsLastOfBlock(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ heads, dk, dx, reach int }{{1, 1, 1, 0}, {2, 3, 5, 0}, {3, 8, 8, 2}, {8, 32, 32, 0}, {1, 17, 33, 70}} {
		const n, room, regions = 150, 160, 3
		floats := func(n int) []float { return normal(rng, n).Data }
		q, k, x := floats(n*c.heads*c.dk), floats(n*c.heads*c.dk), floats(n*c.heads*c.dx)
		g := graph.Causal(n)
		m := fused.Blocks{Spans: g.Spans(), Q: q, K: k, X: x, Heads: c.heads, KeyWidth: c.dk, ValueWidth: c.dx, Scale: 0.3}
		m.Stats = fused.BlockStats{Top: make([]float, n*c.heads), Sum: make([]float, n*c.heads)}
		p := fused.Past{Room: room, Heads: c.heads, KeyWidth: c.dk, ValueWidth: c.dx, Scale: 0.3}
		if c.reach > 0 {
			p.Bias, p.Reach = floats((2*c.reach+1)*c.heads), c.reach
			_, dst := g.Places()
			m.Bias = fused.BlockBias{X: p.Bias, Width: c.heads, Offsets: &fused.OffsetTable{Dst: dst, Lo: -c.reach, Hi: c.reach}}
		}
		want := make([]float, n*c.heads*c.dx)
		m.Forward(want)

		const region = 1
		p.K, p.X = make([]float, regions*c.heads*c.dk*room), make([]float, regions*c.heads*c.dx*room)
		for u := range n {
			for j := range c.heads * c.dk {
				p.K[(region*c.heads*c.dk+j)*room+u] = k[u*c.heads*c.dk+j]
			}
			copy(p.X[(region*room+u)*c.heads*c.dx:], x[u*c.heads*c.dx:(u+1)*c.heads*c.dx])
		}
		for v := range int32(n) {
			p.Regions, p.Lens = append(p.Regions, region), append(p.Lens, v+1)
		}
		p.Regions, p.Lens = append(p.Regions, 0), append(p.Lens, 0) // hears nothing
		p.Q = append(slices.Clone(q), make([]float, c.heads*c.dk)...)
		for _, threads := range []int{1, 3} {
			undo := par.SetThreads(threads)
			p.Y = make([]float, (n+1)*c.heads*c.dx)
			p.Forward()
			undo()
			if !slices.Equal(p.Y, append(slices.Clone(want), make([]float, c.heads*c.dx)...)) {
				t.Errorf("%s: not the bits of blocks", fmt.Sprint(c, threads))
			}
		}
	}
}

// A query of a region that does not grow has the bits of a block where all hear all, however
// many.
func TestPastIsRowOfWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	const heads, d = 2, 3
	for _, n := range []int{70, 600} {
		q, k, x := normal(rng, 1, heads, d).Data, normal(rng, n, heads, d).Data, normal(rng, n, heads, d).Data
		m := fused.Blocks{Spans: []graph.Span{{NumSrc: n, NumDst: 1}}, Q: q, K: k, X: x, Heads: heads, KeyWidth: d, ValueWidth: d, Scale: 5}
		m.Stats = fused.BlockStats{Top: make([]float, heads), Sum: make([]float, heads)}
		want := make([]float, heads*d)
		m.Forward(want)

		p := fused.Past{Room: n, Heads: heads, KeyWidth: d, ValueWidth: d, Scale: 5, Whole: true, Q: q, X: x, Regions: []int32{0}, Lens: []int32{int32(n)}}
		p.K, p.Y = make([]float, len(k)), make([]float, len(want))
		for i, v := range k {
			p.K[i%(heads*d)*n+i/(heads*d)] = v
		}
		p.Forward()
		if !slices.Equal(p.Y, want) {
			t.Errorf("%d rows: not the bits of the block", n)
		}
	}
}

// Under a window a query has the bits of a row of a causal band, from regions that have forgotten
// what no tile reads any more.
func TestPastIsRowOfBand(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, heads, d = 260, 2, 5
	floats := func(n int) []float { return normal(rng, n).Data }
	q, k, x := floats(n*heads*d), floats(n*heads*d), floats(n*heads*d)
	for _, window := range []int{1, 7, 47, 48, 64, 100, 300} {
		g := graph.CausalBand(n, window)
		m := fused.Blocks{Spans: g.Spans(), Q: q, K: k, X: x, Heads: heads, KeyWidth: d, ValueWidth: d, Scale: 0.3}
		m.Stats = fused.BlockStats{Top: make([]float, n*heads), Sum: make([]float, n*heads)}
		want := make([]float, n*heads*d)
		m.Forward(want)

		most := fused.PastMost(window)
		p := fused.Past{Room: most, Heads: heads, KeyWidth: d, ValueWidth: d, Scale: 0.3, Window: window, Regions: []int32{0}}
		for v := range n {
			base := fused.PastBegin(v, window)
			if v-base >= most {
				t.Fatalf("window %d: place %d reads from %d on, more than %d", window, v, base, most)
			}
			p.K, p.X, p.Y = make([]float, heads*d*most), make([]float, heads*d*most), make([]float, heads*d)
			for u := base; u <= v; u++ {
				for j := range heads * d {
					p.K[j*most+u-base] = k[u*heads*d+j]
				}
				copy(p.X[(u-base)*heads*d:], x[u*heads*d:(u+1)*heads*d])
			}
			p.Q, p.Lens, p.Bases = q[v*heads*d:(v+1)*heads*d], []int32{int32(v - base + 1)}, []int32{int32(base)}
			p.Forward()
			if !slices.Equal(p.Y, want[v*heads*d:(v+1)*heads*d]) {
				t.Fatalf("window %d, place %d: not the bits of the band", window, v)
			}
		}
	}
}

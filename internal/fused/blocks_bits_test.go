package fused_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/tensor"
)

// blockPass is attention on blocks with random operands, forward and backward.
type blockPass struct {
	m        fused.Blocks
	dy       []float
	src, dst int
}

// newBlockPass returns that of some blocks.
func newBlockPass(seed uint64, spans []graph.Span, heads, d, f int, drop float64) *blockPass {
	p := &blockPass{}
	for _, s := range spans {
		p.dst, p.src = max(p.dst, s.Dst+s.NumDst), max(p.src, s.Src+s.NumSrc)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	some := func(rows, width int) []float { return normal(rng, rows, heads, width).Data }
	p.m = fused.Blocks{
		Spans: spans, Q: some(p.dst, d), K: some(p.src, d), X: some(p.src, f),
		Heads: heads, KeyWidth: d, ValueWidth: f, Scale: 0.4,
	}
	if drop > 0 {
		mask := tensor.NewMask(1, 2, 3, drop)
		p.m.Drop = &mask
	}
	p.dy = some(p.dst, f)
	return p
}

// run returns the result and the gradients of Q, K and X.
func (p *blockPass) run() [][]float {
	m := p.m
	m.Stats = fused.BlockStats{Top: make([]float, p.dst*m.Heads), Sum: make([]float, p.dst*m.Heads)}
	out := [][]float{make([]float, len(p.dy)), make([]float, len(m.Q)), make([]float, len(m.K)), make([]float, len(m.X))}
	m.Forward(out[0])
	m.Backward(&fused.BlockGrads{Out: p.dy, Q: out[1], K: out[2], X: out[3]}, make([]float, m.Room(false)))
	return out
}

// same fails unless two passes have the same bits.
func (p *blockPass) same(t *testing.T, what string, want [][]float) {
	t.Helper()
	for i, got := range p.run() {
		compare.Equal(t, what+": "+[]string{"the result", "Q", "K", "X"}[i], got, want[i])
	}
}

// No bit depends on the threads, which choose between one visit of each tile and two, or on
// the width of registers.
func TestBlocksBits(t *testing.T) {
	for name, spans := range blockGraphs {
		for _, drop := range []float64{0, 0.3} {
			p := newBlockPass(7, spans, 3, 16, 33, drop)
			undo := par.SetThreads(1)
			want := p.run()
			undo()
			for _, threads := range []int{3, 8} { // one visit, and two
				undo := par.SetThreads(threads)
				p.same(t, fmt.Sprintf("%s, dropout %v, %d threads", name, drop, threads), want)
				undo()
			}
			if cpu.Path() == "avx512" {
				undo = cpu.Narrow()
				p.same(t, name+", narrow", want)
				undo()
			}
		}
	}
}

// Gradients are added to what is there, be those of keys and values one array or two, and a scale
// may be zero or less.
func TestBlocksAddGrads(t *testing.T) {
	for _, scale := range []float{0.4, 0, -0.4} {
		p := newBlockPass(3, []graph.Span{{NumSrc: 203, NumDst: 104}}, 2, 16, 16, 0)
		p.m.Scale = scale
		want := &blockOracle{m: &p.m, dy: p.dy}
		want.run(p.dst, p.src, 0)
		for _, threads := range []int{1, 8} {
			for _, one := range []bool{false, true} {
				undo := par.SetThreads(threads)
				ones := func(n int) []float { return slices.Repeat([]float{1}, n) }
				p.m.Stats = fused.BlockStats{Top: make([]float, p.dst*p.m.Heads), Sum: make([]float, p.dst*p.m.Heads)}
				p.m.Forward(make([]float, len(p.dy)))
				g := &fused.BlockGrads{Out: p.dy, Q: ones(len(p.m.Q)), K: ones(len(p.m.K)), X: ones(len(p.m.X))}
				k := make([]float64, len(want.k))
				for i, v := range want.k {
					if k[i] = v; one {
						k[i] += want.x[i]
					}
				}
				if one {
					g.X = g.K
				}
				p.m.Backward(g, make([]float, p.m.Room(false)))
				added := func(x []float) (d []float64) {
					for _, v := range x {
						d = append(d, float64(v)-1)
					}
					return d
				}
				what := fmt.Sprintf("scale %v, %d threads, one array %t: ", scale, threads, one)
				compare.Near(t, what+"K", added(g.K), k, compare.Off(1e-4, 1e-4))
				compare.Near(t, what+"Q", added(g.Q), want.q, compare.Off(1e-4, 1e-4))
				undo()
			}
		}
	}
}

// A sentence has the bits that it has alone, wherever it stands in a batch.
func TestBlocksBatch(t *testing.T) {
	const heads, d = 2, 16
	lengths := []int{50, 3, 64, 65, 1, 100}
	var spans []graph.Span
	n := 0
	for _, k := range lengths {
		spans = append(spans, graph.Span{Src: n, NumSrc: k, Dst: n, NumDst: k, Mask: graph.CausalMask})
		n += k
	}
	all := newBlockPass(9, spans, heads, d, d, 0)
	together := all.run()
	for i, s := range spans {
		lo, hi := s.Dst*heads*d, (s.Dst+s.NumDst)*heads*d
		alone := &blockPass{m: all.m, dy: all.dy[lo:hi], src: s.NumSrc, dst: s.NumDst}
		alone.m.Q, alone.m.K, alone.m.X = all.m.Q[lo:hi], all.m.K[lo:hi], all.m.X[lo:hi]
		alone.m.Spans = []graph.Span{{NumSrc: s.NumSrc, NumDst: s.NumDst, Mask: s.Mask}}
		var want [][]float
		for _, x := range together {
			want = append(want, x[lo:hi])
		}
		alone.same(t, fmt.Sprintf("sentence %d", i), want)
	}
}

// All small sizes have the gradients that each has alone, with those that are not wanted nil.
func TestBlocksGradsAlone(t *testing.T) {
	for n := 1; n < 20; n++ {
		p := newBlockPass(uint64(n), []graph.Span{{NumSrc: n, NumDst: 2*n + 1, Mask: graph.SpanMask(n % 3)}}, 2, n, 21-n, float64(n%2)*0.4)
		want := p.run()
		m := p.m
		m.Stats = fused.BlockStats{Top: make([]float, p.dst*m.Heads), Sum: make([]float, p.dst*m.Heads)}
		m.Forward(make([]float, len(p.dy)))
		for i, size := range []int{len(m.Q), len(m.K), len(m.X)} {
			got := make([]float, size)
			g := &fused.BlockGrads{Out: p.dy}
			*[]*[]float{&g.Q, &g.K, &g.X}[i] = got
			m.Backward(g, make([]float, m.Room(false)))
			if !slices.Equal(got, want[i+1]) {
				t.Errorf("%d sources: gradient %d alone has other bits", n, i)
			}
		}
	}
}

package fused_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// blockOracle is attention on blocks and its gradients in float64, edge by edge.
type blockOracle struct {
	m              *fused.Blocks
	dy             []float
	y, q, k, x, db []float64
}

// run goes over the edges of all blocks.
func (o *blockOracle) run(dst, src, biases int) {
	m := o.m
	o.y, o.x = make([]float64, dst*m.Heads*m.ValueWidth), make([]float64, src*m.Heads*m.ValueWidth)
	o.q, o.k, o.db = make([]float64, dst*m.Heads*m.KeyWidth), make([]float64, src*m.Heads*m.KeyWidth), make([]float64, biases)
	first := 0
	for _, s := range m.Spans {
		for j := range s.NumDst {
			for h := range m.Heads {
				o.row(s, j, h, first)
			}
			first += s.EdgesBefore(j+1) - s.EdgesBefore(j)
		}
	}
}

// row does a destination and a head, whose edges begin with number first.
func (o *blockOracle) row(s graph.Span, j, h, first int) {
	m, v := o.m, s.Dst+j
	var us, es []int
	lo, hi, skip := s.Sources(j)
	for u := lo; u < hi; u++ {
		if u != skip {
			us, es = append(us, u), append(es, first+len(es))
		}
	}
	at := func(row, width int) int { return (row*m.Heads + h) * width }
	place := func(e int) int { // of its bias
		if m.Bias.Kinds != nil {
			e = int(m.Bias.Kinds[e])
		}
		return e*m.Bias.Width + h%m.Bias.Width
	}
	p, kept, sum := make([]float64, len(us)), make([]float64, len(us)), 0.0
	for i, u := range us {
		z := 0.0
		for d := range m.KeyWidth {
			z += float64(m.K[at(u, m.KeyWidth)+d]) * float64(m.Q[at(v, m.KeyWidth)+d])
		}
		z *= float64(m.Scale)
		if m.Bias.X != nil {
			z += float64(m.Bias.X[place(es[i])])
		}
		p[i], kept[i] = math.Exp(z), 1
		sum += p[i]
		if m.Drop != nil {
			kept[i] = 0
			if m.Drop.Keeps(es[i], h) {
				kept[i] = m.Drop.Scale
			}
		}
	}
	dp, center := make([]float64, len(us)), 0.0
	for i, u := range us {
		p[i] /= sum
		for f := range m.ValueWidth {
			to, from := at(v, m.ValueWidth)+f, at(u, m.ValueWidth)+f
			o.y[to] += p[i] * kept[i] * float64(m.X[from])
			o.x[from] += p[i] * kept[i] * float64(o.dy[to])
			dp[i] += kept[i] * float64(m.X[from]) * float64(o.dy[to])
		}
		center += p[i] * dp[i]
	}
	for i, u := range us {
		dz := p[i] * (dp[i] - center)
		if m.Bias.X != nil {
			o.db[place(es[i])] += dz
		}
		for d := range m.KeyWidth {
			q, k := at(v, m.KeyWidth)+d, at(u, m.KeyWidth)+d
			o.q[q] += dz * float64(m.Scale) * float64(m.K[k])
			o.k[k] += dz * float64(m.Scale) * float64(m.Q[q])
		}
	}
}

// blockGraphs are less and more than a block of the pass, with gaps between destinations, and with sources that
// two share.
var blockGraphs = map[string][]graph.Span{
	"full":        {{NumSrc: 70, NumDst: 50, Dst: 1}},
	"no loops":    {{NumSrc: 66, NumDst: 67, Mask: graph.NoLoopsMask}},
	"causal":      {{NumSrc: 99, NumDst: 99, Mask: graph.CausalMask}},
	"band":        {{NumSrc: 70, NumDst: 70, Mask: graph.BandMask, Width: 3}},
	"causal band": {{Src: 2, NumSrc: 130, NumDst: 120, Mask: graph.CausalBandMask, Width: 17}},
	"sentence":    {{NumSrc: 60, NumDst: 64, Mask: graph.CausalMask}},
	"long":        {{NumSrc: 4100, NumDst: 2}}, // more than are kept for a tile
	"long causal": {{NumSrc: 4200, NumDst: 2}, {Src: 4150, NumSrc: 3, Dst: 2, NumDst: 5, Mask: graph.CausalMask}},
	"parts":       {{NumSrc: 400, NumDst: 104, Dst: 1}}, // more sources than are taken at a time
	"causal part": {{NumSrc: 210, NumDst: 210, Mask: graph.CausalMask}},
	"several":     {{NumSrc: 5, NumDst: 5}, {Src: 5, NumSrc: 3, Dst: 7, NumDst: 9}, {Src: 4, NumSrc: 2, Dst: 16, NumDst: 2, Mask: graph.NoLoopsMask}},
}

// fillBias gives m a bias of a form, for so many edges.
func fillBias(m *fused.Blocks, form, edges int, rng *rand.Rand) {
	switch form {
	case 1: // a row an edge
		m.Bias = fused.BlockBias{X: normal(rng, edges).Data, Width: 1}
	case 2: // a row of heads a kind
		m.Bias = fused.BlockBias{X: normal(rng, 3*m.Heads).Data, Kinds: make([]int32, edges), Width: m.Heads}
		for i := range m.Bias.Kinds {
			m.Bias.Kinds[i] = rng.Int32N(3)
		}
	}
}

func TestBlocks(t *testing.T) {
	for name, spans := range blockGraphs {
		for form := range 3 {
			rng := rand.New(rand.NewPCG(1, uint64(form)))
			const heads, d, f = 2, 5, 3
			dst, src, edges := 0, 0, 0
			for _, s := range spans {
				dst, src, edges = max(dst, s.Dst+s.NumDst), max(src, s.Src+s.NumSrc), edges+s.NumEdges()
			}
			m := &fused.Blocks{
				Spans: spans, Q: normal(rng, dst, heads, d).Data, K: normal(rng, src, heads, d).Data, X: normal(rng, src, heads, f).Data,
				Heads: heads, KeyWidth: d, ValueWidth: f, Scale: 0.4,
			}
			if form > 0 {
				mask := tensor.NewMask(1, 2, 3, 0.3)
				m.Drop = &mask
			}
			fillBias(m, form, edges, rng)
			want := &blockOracle{m: m, dy: normal(rng, dst, heads, f).Data}
			want.run(dst, src, len(m.Bias.X))
			for _, threads := range []int{1, 8} { // one visit, and two
				undo := par.SetThreads(threads)
				want.compare(t, fmt.Sprintf("%s, bias %d, %d threads: ", name, form, threads), dst, src)
				undo()
			}
		}
	}
}

// compare computes the same by the pass.
func (o *blockOracle) compare(t *testing.T, what string, dst, src int) {
	t.Helper()
	m := o.m
	zeros := func(n int) []float { return make([]float, n) }
	m.Stats = fused.BlockStats{Top: spoilt(dst * m.Heads), Sum: zeros(dst * m.Heads)}
	y := zeros(len(o.y))
	m.Forward(y)
	g := &fused.BlockGrads{Out: o.dy, Q: zeros(len(o.q)), K: zeros(len(o.k)), X: zeros(len(o.x))}
	if m.Bias.X != nil {
		g.Bias = zeros(len(o.db))
	}
	m.Backward(g, zeros(m.Room(m.Bias.X != nil)))
	one := &fused.BlockGrads{Out: o.dy, X: zeros(len(o.x))} // the only one that needs no gradient of the logits
	m.Backward(one, zeros(m.Room(false)))
	for name, pair := range map[string]struct {
		got  []float
		want []float64
	}{"y": {y, o.y}, "Q": {g.Q, o.q}, "K": {g.K, o.k}, "X": {g.X, o.x}, "X alone": {one.X, o.x}, "bias": {g.Bias, o.db}} {
		compare.Near(t, what+name, pair.got, pair.want, rounded)
	}
}

// A step allocates what its loops are made of, whatever the blocks' sizes.
func TestBlocksAllocateLittle(t *testing.T) {
	if sparing.Raced {
		t.Skip("the race detector empties pools")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would empty the pools
	const n, heads, d = 130, 2, 8
	rng := rand.New(rand.NewPCG(1, 1))
	x := normal(rng, n, heads, d).Data
	m := &fused.Blocks{
		Spans: []graph.Span{{NumSrc: n, NumDst: n, Mask: graph.CausalMask}}, Q: x, K: x, X: x,
		Heads: heads, KeyWidth: d, ValueWidth: d, Scale: 0.4,
		Stats: fused.BlockStats{Top: make([]float, n*heads), Sum: make([]float, n*heads)},
	}
	y, room := make([]float, n*heads*d), make([]float, m.Room(false))
	g := &fused.BlockGrads{Out: x, Q: make([]float, len(x)), K: make([]float, len(x)), X: make([]float, len(x))}
	if got := testing.AllocsPerRun(4, func() {
		clear(m.Stats.Sum)
		clear(room)
		m.Forward(y)
		m.Backward(g, room)
	}); got > 10 {
		t.Errorf("%v allocations, want 10 at most", got)
	}
}

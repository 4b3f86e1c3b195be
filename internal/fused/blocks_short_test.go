package fused_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Short blocks have the gradients that each has alone, to the bit, with dropout and without, on
// any number of threads.
func TestShortBlocksAreAsOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	g := graph.Batch(graph.Complete(7), graph.Causal(60), graph.CompleteBipartite(0, 3), graph.CompleteBipartite(9, 0), graph.Complete(1), graph.CompleteBipartite(64, 100), graph.Causal(64))
	const heads, dk, dx = 3, 5, 9
	floats := func(n int) []float {
		x := tensor.New(n)
		x.Normal(rng, 0, 1)
		return x.Data
	}
	src, dst := g.NumSrc()*heads, g.NumDst()*heads
	m := fused.Blocks{Spans: g.Spans(), Q: floats(dst * dk), K: floats(src * dk), X: floats(src * dx), Heads: heads, KeyWidth: dk, ValueWidth: dx, Scale: 0.4}
	out := floats(dst * dx)
	for _, drop := range []bool{false, true} {
		if drop {
			mask := tensor.NewMask(1, 2, 3, 0.3)
			m.Drop = &mask
		}
		m.Stats = fused.BlockStats{Top: make([]float, dst), Sum: make([]float, dst)}
		m.Forward(make([]float, dst*dx))
		grads := func(q, k, x bool) [3][]float {
			into := fused.BlockGrads{Out: out}
			all := [3][]float{make([]float, dst*dk), make([]float, src*dk), make([]float, src*dx)}
			for i, to := range []*[]float{&into.Q, &into.K, &into.X} {
				if []bool{q, k, x}[i] {
					*to = all[i]
				}
			}
			m.Backward(&into, make([]float, m.Room(false)))
			return all
		}
		want := [3][]float{grads(true, false, false)[0], grads(false, true, false)[1], grads(false, false, true)[2]}
		for _, threads := range []int{1, 3} {
			undo := par.SetThreads(threads)
			for i, got := range grads(true, true, true) {
				if !slices.Equal(got, want[i]) {
					t.Errorf("dropout %v, %d threads: gradient %d is not that of other blocks", drop, threads, i)
				}
			}
			undo()
		}
	}
}

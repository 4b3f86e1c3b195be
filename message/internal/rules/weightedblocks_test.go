package rules_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/message/internal/rules"
	"github.com/edgewise-ml/edgewise/tensor"
)

// weighted is the operands of Σ U(x)·E(w).
type weighted struct{ X, W *grad.Param }

func newWeighted(g *graph.Graph, shape ...int) *weighted {
	rng := rand.New(rand.NewPCG(5, uint64(g.NumEdges())))
	l := &weighted{grad.NewParam(append([]int{g.NumSrc()}, shape...)...), grad.NewParam(g.NumEdges(), 1)}
	l.X.Value.Normal(rng, 0, 1)
	l.W.Value.Normal(rng, 0, 1)
	return l
}

func (l *weighted) sum(t *grad.Tape, g *graph.Graph) *grad.Var {
	return message.UpdateAll(g, message.UMulE(t.Use(l.X), t.Use(l.W)), message.Sum)
}

// run returns the sum and its gradients.
func (l *weighted) run(g *graph.Graph) []*tensor.Dense {
	t := grad.NewTape(1)
	y := l.sum(t, g)
	all := []*tensor.Dense{y.Value()}
	for _, d := range t.Backward(y.Mul(y).Sum()) {
		all = append(all, d.Value)
	}
	return all
}

func TestWeightedBlocks(t *testing.T) {
	const says = "rule: sum of U(x) × a scalar an edge, on whole blocks"
	few := graph.CompleteBipartite(3, 2)
	for name, c := range map[string]struct {
		g    *graph.Graph
		want bool
	}{
		"one":       {graph.Complete(65), true},
		"some":      {graph.Batch(graph.CompleteBipartite(70, 60), few, graph.CompleteNoLoops(65)), true},
		"small":     {graph.Batch(few, few), false},
		"no loops":  {graph.CompleteNoLoops(70), false},
		"causal":    {graph.Causal(70), false},
		"no blocks": {graph.Ring(70), false},
	} {
		o := newWeighted(c.g, 5)
		m := message.UMulE(grad.Const(o.X.Value), grad.Const(o.W.Value))
		if got := strings.HasPrefix(message.Explain(c.g, m, message.Sum), says); got != c.want {
			t.Errorf("%s: the rule runs it is %v, want %v", name, got, c.want)
			continue
		}
		got := o.run(c.g)
		undo := par.SetThreads(4)
		compare.Arrays(t, name+" on four threads", o.run(c.g), got, compare.Exactly)
		undo()
		formula := formulaOf([]*grad.Param{o.X, o.W}, nil, func() { o.run(c.g) })
		reference.Near(t, name, got, formula)
		rules.TilesOnly = true
		reference.Near(t, name+", in tiles", o.run(c.g), formula)
		rules.TilesOnly = false
	}
}

// A small block of a batch has the bits that it has alone, and so has a large one.
func TestWeightedBlocksBatch(t *testing.T) {
	parts := []*graph.Graph{graph.CompleteBipartite(3, 2), graph.CompleteBipartite(70, 60), graph.CompleteNoLoops(65), graph.Causal(4)}
	g := graph.Batch(parts...)
	o := newWeighted(g, 5)
	all := o.run(g)
	src, dst, edge := 0, 0, 0
	for i, part := range parts {
		alone := newWeighted(part, 5)
		copy(alone.X.Value.Data, o.X.Value.Data[5*src:])
		copy(alone.W.Value.Data, o.W.Value.Data[edge:])
		got := alone.run(part)
		for j, from := range []int{5 * dst, 5 * src, edge} {
			x := got[j].Data
			compare.Equal(t, fmt.Sprintf("part %d: array %d, and in a batch", i, j), x, all[j].Data[from:from+len(x)])
		}
		src, dst, edge = src+part.NumSrc(), dst+part.NumDst(), edge+part.NumEdges()
	}
}

func TestWeightedBlocksGradient(t *testing.T) {
	g := graph.CompleteBipartite(4096, 1)
	o := &struct{ X, W *grad.Param }{grad.NewParam(1, 2, 1), grad.NewParam(1, 4)}
	o.X.Value.Normal(rand.New(rand.NewPCG(1, 2)), 0, 1)
	o.W.Value.Normal(rand.New(rand.NewPCG(3, 4)), 0, 1)
	gradtest.Check(t, o, func(tape *grad.Tape) *grad.Var {
		x, w := tape.Use(o.X).Rows(make([]int32, 4096)), tape.Use(o.W).Reshape(4, 1).Rows(everyFourth(4096))
		return message.UpdateAll(g, message.UMulE(x, w.Reshape(-1, 1, 1)), message.Sum).Scale(1e-3).Tanh().Sum()
	})
}

// everyFourth is 0, 1, 2, 3, 0, …
func everyFourth(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i % 4)
	}
	return out
}

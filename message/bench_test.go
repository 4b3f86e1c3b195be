package message_test

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/message"
)

// powerLaw has n nodes and so many edges between nodes whose chances fall as a
// power of their rank; numbers are shuffled.
func powerLaw(n, edges int) *graph.Graph {
	rng := rand.New(rand.NewPCG(7, 7))
	name := rng.Perm(n)
	draw := func() int32 { return int32(name[int(float64(n)*math.Pow(rng.Float64(), 2.2))]) }
	src, dst := make([]int32, edges), make([]int32, edges)
	for i := range src {
		src[i], dst[i] = draw(), draw()
	}
	return graph.Must(graph.New(n, src, dst))
}

// large is of the size of ogbn-arxiv.
var large = sync.OnceValue(func() *graph.Graph { return powerLaw(169343, 1166243) })

// arxiv returns large, or with -short leaves the benchmark out.
func arxiv(b *testing.B) *graph.Graph {
	b.Helper()
	if testing.Short() {
		b.Skip("a million edges are too many for -short")
	}
	return large()
}

// training times forward and backward, after a step that makes all memory.
func training(b *testing.B, forward func(t *grad.Tape) *grad.Var) {
	defer par.Hot()()
	tape := grad.NewTape(1)
	step := func(back bool) {
		tape.Reset()
		y := forward(tape)
		if back {
			tape.Backward(y.Sum())
		}
	}
	step(true)
	for _, way := range []struct {
		name string
		back bool
	}{{"forward", false}, {"both", true}} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				step(way.back)
			}
			b.ReportMetric(float64(tape.Stats().Peak)/(1<<20), "peak-MiB")
		})
	}
}

// BenchmarkGATv2 is the layer with 8 heads of 8 and its linear maps, the
// features' gradients included.
func BenchmarkGATv2(b *testing.B) {
	g := arxiv(b)
	n := g.NumNodes()
	x := param(1, n, 64).Value
	ws, wd, bs, bd, a := param(2, 64, 64), param(3, 64, 64), param(4, 64), param(5, 64), param(6, 8, 8)
	training(b, func(t *grad.Tape) *grad.Var {
		h := t.Watch(x)
		fs := h.MatMul(t.Use(ws)).Add(t.Use(bs)).Reshape(n, 8, 8)
		fd := h.MatMul(t.Use(wd)).Add(t.Use(bd)).Reshape(n, 8, 8)
		alpha := message.UAddV(fs, fd).LeakyReLU(0.2).Dot(message.W(t.Use(a))).Softmax()
		return message.UpdateAll(g, message.U(fs).Mul(alpha), message.Sum)
	})
}

// BenchmarkArbitrary is a message that only tiles run, tanh(u·e + v)·w.
func BenchmarkArbitrary(b *testing.B) {
	g := arxiv(b)
	n := g.NumNodes()
	u, v, e, w := param(1, n, 64), param(2, n, 64), param(3, g.NumEdges(), 1), param(4, 64)
	training(b, func(t *grad.Tape) *grad.Var {
		m := message.U(t.Watch(u.Value)).Mul(message.E(t.Watch(e.Value))).Add(message.V(t.Watch(v.Value))).Tanh().Mul(message.W(t.Use(w)))
		return message.UpdateAll(g, m, message.Mean)
	})
}

package layers_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/train"
)

// BenchmarkCora is an epoch of the paper's network on Cora: a step, and an
// evaluation.
func BenchmarkCora(b *testing.B) {
	d, err := cora.Load()
	if err != nil {
		b.Fatal(err)
	}
	g, x := d.Graph.WithSelfLoops(), grad.Const(d.Normalised())
	rng := rand.New(rand.NewPCG(1, 0))
	c1 := &layers.GATConv{In: 1433, Out: 8, Heads: 8, Activation: grad.ELU, FeatDrop: 0.6, AttnDrop: 0.6}
	c2 := &layers.GATConv{In: 64, Out: 7, Heads: 1, Average: true, FeatDrop: 0.6, AttnDrop: 0.6}
	c1.Init(rng)
	c2.Init(rng)
	var labels []int32
	for _, v := range d.Split.Train {
		labels = append(labels, d.Labels[v])
	}
	forward := func(t *grad.Tape) *grad.Var { return c2.Forward(t, g, c1.Forward(t, g, x)) }
	opt := &train.Adam{LR: 5e-3, WeightDecay: 5e-4}
	tape, eval := grad.NewTape(1), grad.NewEval()
	step := func() {
		tape.Reset()
		opt.Step(tape.Backward(forward(tape).Rows(d.Split.Train).CrossEntropy(labels)))
	}
	defer par.Hot()()
	b.Run("Step", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			step()
		}
	})
	b.Run("Eval", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			eval.Reset()
			forward(eval)
		}
	})
}

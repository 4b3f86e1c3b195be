package layers_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/train"
)

// coraNet is the paper's network on Cora.
type coraNet struct {
	step func() float64 // of training, returns the loss
	eval func()
}

func newCoraNet(tb testing.TB) coraNet {
	d, err := cora.Load()
	if err != nil {
		tb.Fatal(err)
	}
	rows, err := d.Normalised()
	if err != nil {
		tb.Fatal(err)
	}
	g, x := graph.WithSelfLoops(d.Graph), grad.Const(rows)
	rng := rand.New(rand.NewPCG(1, 0))
	c1 := &layers.GATConv{In: 1433, Out: 8, Heads: 8, Activation: grad.ELU, FeatDrop: 0.6, AttnDrop: 0.6}
	c2 := &layers.GATConv{In: 64, Out: 7, Heads: 1, Average: true, FeatDrop: 0.6, AttnDrop: 0.6}
	c1.Init(rng)
	c2.Init(rng)
	labels := d.Labels.Of(d.Split.Train)
	forward := func(t *grad.Tape) *grad.Var { return c2.Forward(t, g, c1.Forward(t, g, x)) }
	opt := &train.Adam{LR: 5e-3, WeightDecay: 5e-4}
	tape, eval := grad.NewTape(1), grad.NewEval()
	return coraNet{
		step: func() float64 {
			tape.Reset()
			loss := forward(tape).Rows(d.Split.Train).CrossEntropy(labels)
			opt.Step(tape.Backward(loss))
			return float64(loss.Value().Data[0])
		},
		eval: func() {
			eval.Reset()
			forward(eval)
		},
	}
}

// The kernels in assembly train as those in plain Go do.
func TestCoraLosses(t *testing.T) {
	if cpu.Path() == "go" {
		t.Skip("there is no assembly to compare with")
	}
	fast, slow := newCoraNet(t), newCoraNet(t)
	for epoch := range 4 {
		got := fast.step()
		undo := cpu.Disable()
		want := slow.step()
		undo()
		if !(math.Abs(got-want) <= 1e-5*want) {
			t.Fatalf("epoch %d: the loss is %v, in plain Go %v", epoch, got, want)
		}
	}
}

// BenchmarkCora is an epoch of the paper's network on Cora: a step, and an
// evaluation.
func BenchmarkCora(b *testing.B) {
	net := newCoraNet(b)
	defer par.Hot()()
	b.Run("Step", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			net.step()
		}
	})
	b.Run("Eval", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			net.eval()
		}
	})
}

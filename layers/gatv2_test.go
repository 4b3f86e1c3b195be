package layers_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestGATv2Memory trains with many features of many edges: they are projected
// without an array of a projected row for each edge.
func TestGATv2Memory(t *testing.T) {
	const nodes, edges, features = 500, 100_000, 12
	rng := rand.New(rand.NewPCG(1, 1))
	g := random.Uniform(rng, nodes, edges)
	l := &layers.GATv2Conv{In: 8, Out: 16, Heads: 4, EdgeIn: features}
	l.Init(rng)
	x, e := tensor.New(nodes, 8), tensor.New(edges, features)
	x.Normal(rng, 0, 1)
	e.Normal(rng, 0, 1)
	tape := grad.NewTape(1)
	tape.Reset()
	y := l.Apply(tape, g, layers.In{Src: tape.Input(x), Edge: tape.Input(e)}).Y
	for i, d := range tape.Backward(y.Mul(y).Sum()) {
		if tensor.Size(d.Value.Shape()...) == 0 || d.Value.Data[0] != d.Value.Data[0] {
			t.Errorf("gradient %d is %v", i, d.Value)
		}
	}
	const float = int(unsafe.Sizeof(tensor.Float(0)))
	stored := edges * l.Heads * l.Out * float
	if peak := tape.Stats().Peak; peak > stored/4 {
		t.Errorf("peak %d KiB; projected features of the edges alone would be %d KiB", peak>>10, stored>>10)
	}
}

package layers_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// setHeldMost sets how large a projection may be that an evaluation holds.
func setHeldMost(n int) (undo func()) {
	old := cpu.HeldMost
	cpu.HeldMost = n
	return func() { cpu.HeldMost = old }
}

// GATConv on a tape that records nothing has the same bits whether it holds the projection
// or not, less memory, and nothing left to read when it returns.
func TestGATWithoutProjection(t *testing.T) {
	rng := rand.New(rand.NewPCG(29, 1))
	const n = 3000
	src, dst := make([]int32, 4*n), make([]int32, 4*n)
	for i := range src {
		src[i], dst[i] = int32(rng.IntN(n)), int32(rng.IntN(n/2)) // half of the nodes hear nobody
	}
	g := graph.Must(graph.New(n, src, dst))
	x := tensor.New(n, 6)
	for i := range x.Data {
		x.Data[i] = tensor.Float(rng.NormFloat64())
	}
	for name, l := range map[string]*layers.GATConv{
		"plain":          {In: 6, Out: 8, Heads: 8},
		"activation":     {In: 6, Out: 8, Heads: 8, Activation: grad.ELU},
		"without bias":   {In: 6, Out: 8, Heads: 8, NoBias: true},
		"mean of heads":  {In: 6, Out: 8, Heads: 8, Average: true},
		"residual":       {In: 6, Out: 8, Heads: 8, Residual: layers.ResidualLinear},
		"sixteen heads":  {In: 6, Out: 8, Heads: 16},
		"out of range":   {In: 6, Out: 8, Heads: 8},
		"features edges": {In: 6, Out: 8, Heads: 8, EdgeIn: 2},
	} {
		l.Init(rng)
		in := layers.In{Src: grad.Const(x)}
		if name == "out of range" {
			l.AttnL.Value.Data[3] = 1e4
		}
		if l.EdgeIn > 0 {
			in.Edge = grad.Const(tensor.New(4*n, 2))
		}
		var y [2][]tensor.Float
		var held [2]int
		for i, most := range []int{math.MaxInt, 0} {
			undo := setHeldMost(most)
			tape := grad.NewEval()
			out := l.Apply(tape, g, in).Y
			kept := x.Data[0]
			x.Data[0] = 1e9 // from here on the features are the caller's again
			y[i] = slices.Clone(out.Value().Data)
			x.Data[0] = kept
			held[i] = tape.Stats().Held
			undo()
		}
		if !slices.Equal(y[0], y[1]) {
			t.Errorf("%s: other bits", name)
		}
		if saves := name == "plain" || name == "without bias"; saves && held[1] > held[0]*2/3 {
			t.Errorf("%s: the tape holds %d bytes, and %d with the projection", name, held[1], held[0])
		}
	}
}

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

// A step of a GATConv as wide as its input holds three arrays of rows beside the
// input and the gradient that it is given: the projected features, whose gradient
// becomes that of the input, that gradient, and the result. The rest is a number
// for each node and head: the logits, their gradients, and a record of four.
func TestGATConvMemory(t *testing.T) {
	const n, heads, width = 20_000, 8, 8
	rng := rand.New(rand.NewPCG(1, 0))
	g := random.PowerLaw(rng, n, 4*n, 0.75)
	l := &layers.GATConv{In: heads * width, Out: width, Heads: heads}
	l.Init(rng)
	x, dy := tensor.New(n, heads*width), tensor.New(n, heads*width)
	x.Uniform(rng, -1, 1)
	dy.Fill(1)
	tape := grad.NewTape(1)
	for range 2 {
		tape.Reset()
		tape.BackwardFrom(l.Forward(tape, g, tape.Watch(x)), dy)
	}
	most := n * (3*heads*width + 8*heads) * 9 / 8 * int(unsafe.Sizeof(x.Data[0])) // classes waste an eighth at most
	if s := tape.Stats(); s.Peak > most || s.Held > most {
		t.Errorf("a step needs %+v, want at most %d bytes", s, most)
	}
}

package message_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestMemory trains with a message that only tiles run, on many edges: no
// array of edges × width is made, and a later step makes nothing at all.
func TestMemory(t *testing.T) {
	const n, edges, width = 10_000, 300_000, 16 // the array would be twice all that may be held
	rng := rand.New(rand.NewPCG(1, 1))
	src, dst := make([]int32, edges), make([]int32, edges)
	for i := range src {
		src[i], dst[i] = rng.Int32N(n), int32(n*math.Pow(rng.Float64(), 4)) // few nodes hear very many
	}
	g := graph.Must(graph.New(n, src, dst))
	u, v, e, w := param(1, n, width), param(2, n, width), param(3, edges, 1), param(4, width)
	tape := grad.NewTape(1)
	step := func() grad.Stats {
		tape.Reset()
		m := message.U(tape.Use(u)).Mul(message.E(tape.Use(e))).Add(message.V(tape.Use(v))).Tanh().Mul(message.W(tape.Use(w)))
		tape.Backward(message.UpdateAll(g, m, message.Mean).Sum())
		return tape.Stats()
	}
	first := step()
	const float = int(unsafe.Sizeof(tensor.Float(0)))
	// The result, its gradient and those of u and v; that of e; a window of edges;
	// an eighth for the size classes and a little beside.
	bound := (4*n*width+edges+1<<20)*float*9/8 + 1<<20
	t.Logf("peak %d KiB; edges × width are %d KiB", first.Peak>>10, edges*width*float>>10)
	if first.Peak > bound {
		t.Errorf("peak %d bytes, want at most %d", first.Peak, bound)
	}
	if second := step(); second.Held != first.Held || second.Peak != first.Peak {
		t.Errorf("the second step holds %d bytes, peak %d; the first %d, %d", second.Held, second.Peak, first.Held, first.Peak)
	}
}

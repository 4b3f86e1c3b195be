package message_test

import (
	"runtime/debug"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/message"
)

// TestAllocations takes steps on a small and on a large graph: what a step
// allocates after the first does not grow with the graph.
func TestAllocations(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // pools stay full
	step := func(n, edges int) float64 {
		g := powerLaw(n, edges)
		x, e, w := param(1, n, 16), param(2, edges, 1), param(3, 16)
		tape := grad.NewTape(1)
		run := func() {
			tape.Reset()
			u := tape.Use(x)
			m := message.UAddV(u, u).Tanh().Dot(message.W(tape.Use(w))).Softmax().Mul(message.E(tape.Use(e)))
			tape.Backward(message.UpdateAll(g, message.U(u).Mul(m), message.Sum, message.Max).Sum())
		}
		run()
		return testing.AllocsPerRun(10, run)
	}
	small, large := step(20, 60), step(5000, 60000)
	t.Logf("%.0f allocations on 60 edges, %.0f on 60,000", small, large)
	if large > small+60 { // a few for each of some loops and of their threads
		t.Errorf("%.0f allocations on 60 edges, %.0f on 60,000", small, large)
	}
}

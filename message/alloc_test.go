package message_test

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// layered is one operation from a row for each node to a row of the same shape.
type layered func(t *grad.Tape, g *graph.Graph, x *grad.Var, p *parts) *grad.Var

// parts are the Vars that messages read beside x.
type parts struct{ e, w *grad.Var }

// layeredMessages are messages of many kinds, none of which has a rule.
func layeredMessages() map[string]layered {
	return map[string]layered{
		"arbitrary": func(_ *grad.Tape, g *graph.Graph, x *grad.Var, p *parts) *grad.Var {
			m := message.U(x).Mul(message.E(p.e)).Add(message.V(x)).Tanh().Mul(message.W(p.w))
			return message.UpdateAll(g, m, message.Mean)
		},
		"GATv2": func(_ *grad.Tape, g *graph.Graph, x *grad.Var, p *parts) *grad.Var {
			a := message.UAddV(x, x).LeakyReLU(0.2).Dot(message.W(p.w)).Softmax()
			return message.UpdateAll(g, message.U(x).Mul(a), message.Sum)
		},
		"extremes": func(_ *grad.Tape, g *graph.Graph, x *grad.Var, p *parts) *grad.Var {
			m := message.U(x).Sub(message.V(x)).Sigmoid()
			return message.UpdateAll(g, m, message.Max)
		},
		"gate": func(_ *grad.Tape, g *graph.Graph, x *grad.Var, p *parts) *grad.Var {
			gate := message.U(x).Add(message.V(x)).Sigmoid().Normalise()
			return message.UpdateAll(g, message.U(x).Mul(gate).Mul(message.E(p.e)), message.Sum)
		},
		"edges": func(_ *grad.Tape, g *graph.Graph, x *grad.Var, p *parts) *grad.Var {
			m := message.ApplyEdges(g, message.UMulV(x, x).Add(message.W(p.w)).ReLU())
			return message.UpdateAll(g, message.E(m).Abs(), message.LogSumExp)
		},
		"dropped": func(t *grad.Tape, g *graph.Graph, x *grad.Var, p *parts) *grad.Var {
			a := message.UAddV(x, x).LeakyReLU(0.2).Dot(message.W(p.w)).Softmax().Dropout(t, 0.5)
			return message.UpdateAll(g, message.U(x).Mul(a), message.Sum)
		},
	}
}

// garbage returns what a step that does f so many times over allocates, in
// allocations and in bytes.
func garbage(g *graph.Graph, f layered, times int) (count, bytes float64) {
	x, e, w := param(1, g.NumNodes(), 16), param(2, g.NumEdges(), 1), param(3, 16)
	dy := param(4, g.NumNodes(), 16).Value
	tape := grad.NewTape(1)
	step := func() {
		tape.Reset()
		p := &parts{e: tape.Use(e), w: tape.Use(w)}
		y := tape.Use(x)
		for range times {
			y = f(tape, g, y, p)
		}
		tape.BackwardFrom(y, dy)
	}
	for range 3 {
		step()
	}
	var before, after runtime.MemStats
	count, bytes = math.Inf(1), math.Inf(1)
	// The least, since now and then a pool grows: until four in a row are no less.
	for same := 0; same < 4; same++ {
		runtime.ReadMemStats(&before)
		step()
		runtime.ReadMemStats(&after)
		n, b := float64(after.Mallocs-before.Mallocs), float64(after.TotalAlloc-before.TotalAlloc)
		if n < count || b < bytes {
			same = 0
		}
		count, bytes = min(count, n), min(bytes, b)
	}
	return count, bytes
}

// TestAllocations says messages again and again: what each costs, forward and
// backward, is a few small objects, on a small graph as on a large one.
func TestAllocations(t *testing.T) {
	if sparing.Raced {
		t.Skip("the race detector allocates")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // pools stay full
	defer par.SetThreads(1)()                        // so that they need hold one worker alone
	for name, f := range layeredMessages() {
		for _, size := range [][2]int{{60, 200}, {500, 2500}} {
			g := powerLaw(size[0], size[1])
			n1, b1 := garbage(g, f, 1)
			n5, b5 := garbage(g, f, 5)
			n, b := (n5-n1)/4, (b5-b1)/4
			if name == "edges" { // two operations
				n, b = n/2, b/2
			}
			t.Logf("%s on %d edges: %.1f allocations, %.0f bytes", name, size[1], n, b)
			if n > 4 {
				t.Errorf("%s on %d edges: %.1f allocations, want at most 4", name, size[1], n)
			}
			if b > 400 && name != "dropped" {
				t.Errorf("%s on %d edges: %.0f bytes, want at most 400", name, size[1], b)
			}
		}
	}
}

// A level of a sweep over chains asks for the sum of rows of sources, each of which one
// destination hears: to find that it is x itself costs no allocation.
func TestLevelAllocatesNothing(t *testing.T) {
	if sparing.Raced {
		t.Skip("the race detector allocates")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // pools stay full
	g := graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{0, 1, 2}))
	x := grad.Const(tensor.New(3, 4))
	if n := testing.AllocsPerRun(100, func() {
		if message.UpdateAll(g, message.U(x), message.Sum) != x {
			t.Fatal("the sum is another Var than x")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

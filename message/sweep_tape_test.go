package message_test

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A Sweep is as many operations on the tape whatever the number of levels.
func TestSweepIsAConstantNumberOfOperations(t *testing.T) {
	count := func(constant bool, length int) int {
		g := graph.Chains(length, length)
		w, h0, x := param(1, 4, 4), param(2, 1, 4), param(3, g.NumNodes(), 4)
		tape := grad.NewTape(1)
		init := tape.Use(h0)
		if constant {
			init = grad.Const(h0.Value)
		}
		message.Sweep(g, message.State{init}, recur(tape.Use(w), tape.Use(x)))
		return tape.Stats().Ops
	}
	for _, constant := range []bool{false, true} {
		few, many := count(constant, 2), count(constant, 200)
		if few != many || !constant && few != 2 {
			t.Errorf("constant init %v: 2 levels make %d operations, 200 make %d", constant, few, many)
		}
	}
}

// A step of training allocates as often on chains of 200 and on a tree as on
// chains of 10, where the step returns what it was given; and the arena does not
// grow after the first step.
func TestSweepAllocatesConstantly(t *testing.T) {
	if sparing.Raced {
		t.Skip("the race detector allocates")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // pools stay full
	count := func(g *graph.Graph) float64 {
		w, h0, x := param(1, 8, 8), param(2, 1, 8), param(3, g.NumNodes(), 8)
		tape := grad.NewTape(1)
		step := func() {
			tape.Reset()
			wv, xv := tape.Use(w), tape.Use(x)
			s := message.Sweep(g, message.State{tape.Use(h0)}, func(l *message.Level, prev message.State) message.State {
				h := message.UpdateAll(l.In, message.U(prev[0]), message.Sum)
				prev[0] = h.MatMul(wv).Add(l.Rows(xv)).Tanh()
				return prev
			})
			tape.Backward(s[0].Sum())
		}
		step()
		step()
		held := tape.Stats().Held
		n := testing.AllocsPerRun(5, step)
		if now := tape.Stats().Held; now != held {
			t.Errorf("%d nodes: the arena grew from %d to %d bytes", g.NumNodes(), held, now)
		}
		return n
	}
	few := count(graph.Chains(10, 10, 10))
	for name, g := range map[string]*graph.Graph{"50": graph.Chains(50, 50, 50), "200": graph.Chains(200, 200, 200), "trees": acyclic()["trees"], "dag": acyclic()["dag"]} {
		if many := count(g); many > few+2 {
			t.Errorf("%s: %.0f allocations, %.0f on chains of 10", name, many, few)
		}
	}
	t.Logf("%.0f allocations", few)
}

// The gradient of a weight is one product over the frame: of chains of one
// length the bits of the product of all states, cut in parts as a long one is.
func TestSweepWeightIsOneProduct(t *testing.T) {
	const chains, length, width = 1000, 5, 3
	g := graph.Chains(slices.Repeat([]int{length}, chains)...)
	w, h0 := param(1, width, width), param(2, 1, width)
	tape := grad.NewTape(1)
	wv := tape.Use(w)
	var seen []*grad.Var // what the levels multiply; Vars of a step must not leave it
	s := message.Sweep(g, message.State{tape.Use(h0)}, func(l *message.Level, prev message.State) message.State {
		seen = append(seen, prev[0].Keep())
		return message.State{prev[0].MatMul(wv)}
	})
	// The gradient at a product of level n is 1 + Wᵀ + … : that of the sum.
	var x, dz []tensor.Float
	for _, p := range seen {
		x = append(x, p.Value().Data...)
	}
	d := make([][]tensor.Float, length)
	for n := range slices.Backward(d) {
		row := tensor.New(1, width)
		row.Fill(1)
		if n+1 < length {
			tensor.MatMul(row, tensor.Of(d[n+1], 1, width), w.Value, tensor.TransB)
		}
		d[n] = row.Data
	}
	for _, row := range d {
		for range chains {
			dz = append(dz, row...)
		}
	}
	want := tensor.New(width, width)
	tensor.MatMul(want, tensor.Of(x, chains*length, width), tensor.Of(dz, chains*length, width), tensor.TransA)
	compare.Arrays(t, "gradient", []*tensor.Dense{tape.Backward(s[0].Sum()).Of(wv)}, []*tensor.Dense{want}, compare.SameBits)
}

// What a chain's node hears is a view of the state, not a sum of it.
func TestChainsAreNotSummed(t *testing.T) {
	x := grad.Const(param(1, 1, 3).Value)
	message.Sweep(graph.Chains(3, 1, 2), message.State{x}, func(l *message.Level, prev message.State) message.State {
		h := message.UpdateAll(l.In, message.CopyU(prev[0]), message.Sum)
		if h != prev[0] {
			t.Errorf("level %d: the sum of one state each is another Var", l.N)
		}
		if how := message.Explain(l.In, message.CopyU(prev[0]), message.Sum); !strings.Contains(how, "x itself") {
			t.Errorf("level %d: %s", l.N, how)
		}
		return message.State{h}
	})
	crossed := graph.Must(graph.New(2, []int32{1, 0}, []int32{0, 1}))
	if y := message.UpdateAll(crossed, message.CopyU(column(1, 2)), message.Sum).Value().Data; y[0] != 2 || y[1] != 1 {
		t.Errorf("two nodes that hear each other got %v", y)
	}
}

// Two Sweeps on one tape, one on the other, with the same weight.
func TestSweepTwice(t *testing.T) {
	for name, g := range acyclic() {
		w, h0, x := param(1, 3, 3), param(2, 1, 3), param(3, g.NumNodes(), 3)
		t.Run(name, func(t *testing.T) {
			gradtest.Check(t, []*grad.Param{w, h0, x}, func(tp *grad.Tape) *grad.Var {
				wv, init := tp.Use(w), message.State{tp.Use(h0)}
				first := message.Sweep(g, init, recur(wv, tp.Use(x)))
				return weigh(message.Sweep(g, init, recur(wv, first[0]))[0])
			})
		})
	}
}

// A Sweep in each step of another, over the chains' own states.
func TestSweepInSweep(t *testing.T) {
	g, inner := graph.Chains(3, 2), graph.Chains(2)
	w, h0, x := param(1, 2, 2), param(2, 1, 2), param(3, g.NumNodes(), 2)
	gradtest.Check(t, []*grad.Param{w, h0, x}, func(tp *grad.Tape) *grad.Var {
		wv, h := tp.Use(w), tp.Use(h0)
		return weigh(message.Sweep(g, message.State{h}, func(l *message.Level, prev message.State) message.State {
			mean := message.Sweep(inner, message.State{h}, func(_ *message.Level, p message.State) message.State {
				return message.State{p[0].MatMul(wv).Tanh()}
			})[0].RowRange(1, 2)
			s := message.UpdateAll(l.In, message.U(prev[0]), message.Sum)
			return message.State{s.MatMul(wv).Add(l.Rows(tp.Use(x))).Add(mean).Tanh()}
		})[0])
	})
}

// A state that a step passes on, returns twice, or has from outside.
func TestSweepReturnsWhatItHas(t *testing.T) {
	g := graph.Chains(3, 3)
	w, h0, x := param(1, 2, 2), param(2, 2, 2), param(3, 2, 2)
	gradtest.Check(t, []*grad.Param{w, h0, x}, func(tp *grad.Tape) *grad.Var {
		wv, h, xv := tp.Use(w), tp.Use(h0), tp.Use(x)
		outside := xv.Square()
		s := message.Sweep(g, message.State{h, h, h, h, h}, func(l *message.Level, prev message.State) message.State {
			y := prev[0].MatMul(wv).Tanh()
			return message.State{y, y, prev[1], outside, xv}
		})
		loss := weigh(s[0])
		for _, v := range s[1:] {
			loss = loss.Add(weigh(v))
		}
		return loss
	})
}

// A level's Part is its Rows of the arranged array.
func TestPart(t *testing.T) {
	g := graph.Chains(2, 5, 3)
	x := grad.Const(param(1, g.NumNodes(), 2).Value)
	levels, err := g.Levels()
	if err != nil {
		t.Fatal(err)
	}
	arranged := x.Rows(levels.Order)
	message.Sweep(g, message.State{x.RowRange(0, 1)}, func(l *message.Level, prev message.State) message.State {
		compare.Arrays(t, "part", []*tensor.Dense{l.Part(arranged).Value()}, []*tensor.Dense{x.Rows(l.Nodes()).Value()}, compare.SameBits)
		return message.State{l.Rows(x)}
	})
	if err := tensor.Try(func() {
		message.Sweep(g, message.State{x.RowRange(0, 1)}, func(l *message.Level, prev message.State) message.State {
			return message.State{l.Part(prev[0])}
		})
	}); err == nil {
		t.Error("an array of fewer rows than the graph has was taken")
	}
}

// Values and gradients have the same bits on any number of threads.
func TestSweepThreads(t *testing.T) {
	g := graph.Chains(slices.Repeat([]int{9, 30, 17, 1}, 12)...)
	const width = 48
	w, h0, x := param(1, width, width), param(2, 1, width), param(3, g.NumNodes(), width)
	run := func(threads int) []*tensor.Dense {
		defer par.SetThreads(threads)()
		tp := grad.NewTape(1)
		s := message.Sweep(g, message.State{tp.Use(h0)}, recur(tp.Use(w), tp.Use(x)))
		out := []*tensor.Dense{s[0].Value().Clone()}
		for _, g := range tp.Backward(weigh(s[0])) {
			out = append(out, g.Value.Clone())
		}
		return out
	}
	want := run(1)
	for _, n := range []int{3, 8} {
		compare.Arrays(t, "threads", run(n), want, compare.SameBits)
	}
}

package message_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestSharedMemory reads one array through every kind of leaf, and through views
// whose rows overlap: its gradient is the sum, on any number of threads.
func TestSharedMemory(t *testing.T) {
	const n = 300
	g := graph.Ring(n, 1) // as many edges as nodes
	x := param(1, n+1, 3).Value
	message.SetChunks(t, 64, 200)
	run := func(whole bool) *tensor.Dense {
		tape := grad.NewTape(1)
		v := tape.Watch(x)
		if whole { // copies, whose gradients are added up by the tape
			lo, hi := make([]int32, n), make([]int32, n)
			for i := range n {
				lo[i], hi[i] = int32(i), int32(i+1)
			}
			a := [6]*grad.Var{}
			for i := range a {
				a[i] = v.Rows([][]int32{lo, hi}[i%2])
			}
			return tape.Backward(weigh(message.UpdateAll(g, mixed(a), message.Sum))).Of(v)
		}
		return tape.Backward(weigh(message.UpdateAll(g, mixed(views(v)), message.Sum))).Of(v)
	}
	want := sum(g, mixed(views(grad.NewTape(1).Watch(x)))).results(x.Data)[1:]
	reference.Near(t, "of copies", []*tensor.Dense{run(true)}, want)
	for _, threads := range append(sparing.Threads(), 1) {
		undo := par.SetThreads(threads)
		reference.Near(t, "of views", []*tensor.Dense{run(false)}, want)
		undo()
	}
}

// views are all rows but the last and all but the first, in turn.
func views(x *grad.Var) [6]*grad.Var {
	lo, hi := x.RowRange(0, x.Dim(0)-1), x.RowRange(1, x.Dim(0))
	return [6]*grad.Var{lo, hi, lo, hi, lo, hi}
}

// mixed reads two arrays each at the source, the destination and the edge.
func mixed(a [6]*grad.Var) message.Msg {
	u := message.U(a[0]).Mul(message.U(a[1]).Tanh())
	v := message.V(a[2]).Mul(message.V(a[3]).Sigmoid())
	return u.Add(v).Mul(message.E(a[4]).Add(message.E(a[5]).Scale(0.5)))
}

// TestHubViewsThreads reads one array at the destinations through two views whose rows overlap. The
// gradient of a row is that of the one view plus that of the other, to the bit, also where a hub's
// edges come in parts and its neighbour is a hub: each view's is summed apart, on any number of threads.
func TestHubViewsThreads(t *testing.T) {
	g := manyHubs(200, 150, 300)
	n := g.NumDst()
	x, u := param(1, n+1, 3).Value, grad.Const(param(2, n, 3).Value)
	message.SetChunks(t, 64, 200)
	run := func(tape *grad.Tape, lo, hi *grad.Var) grad.Grads {
		m := message.U(u).Add(message.V(lo)).Tanh().Mul(message.U(u).Sub(message.V(hi)).Sigmoid())
		return tape.Backward(weigh(message.UpdateAll(g, m, message.Sum)))
	}
	tape := grad.NewTape(1)
	lo, hi := tape.Watch(x.RowRange(0, n).Clone()), tape.Watch(x.RowRange(1, n+1).Clone())
	apart := run(tape, lo, hi)
	want := tensor.New(n+1, 3)
	copy(want.Data, apart.Of(lo).Data)
	for i, d := range apart.Of(hi).Data {
		want.Data[3+i] += d
	}
	for _, threads := range append(sparing.Threads(), 1) {
		undo := par.SetThreads(threads)
		tape := grad.NewTape(1)
		v := tape.Watch(x)
		got := run(tape, v.RowRange(0, n), v.RowRange(1, n+1)).Of(v)
		undo()
		for i, d := range got.Data {
			if d != want.Data[i] {
				t.Fatalf("%d threads: element %d is %v, want %v", threads, i, d, want.Data[i])
			}
		}
	}
}

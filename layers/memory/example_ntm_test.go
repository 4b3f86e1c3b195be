package memory_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A machine of forty slots reads three sentences of other lengths at once. Its weights over the
// slots are a row a step.
func ExampleNTM() {
	net := &memory.NTM{
		In: 6, Out: 4, Controller: memory.FeedForwardController, Hidden: 64,
		Slots: 40, Width: 16,
	}
	net.Init(rand.New(rand.NewPCG(1, 2)))

	b := text.Task{Count: 3, Min: 2, Max: 5, Symbols: 4, Seed: 1}.CopyBits()
	t := grad.NewTape(1)
	y, states := net.ForwardFrom(t, b.Graph(), t.Input(b.X), nil)
	loss := y.Rows(b.At).BCE(grad.Const(b.Answer)) // of what is asked for, and nothing else
	t.Backward(loss)                               // and so on with an optimiser

	fmt.Println(b.Lengths(), y.Shape(), net.Weights(states).Shape())

	s := net.Start(nil)
	for range 3 { // a step at a time
		y, s = net.Step(nil, grad.Const(tensor.New(1, 6)), s)
	}
	fmt.Println(y.Shape(), net.Memory(s).Shape())
	// Output:
	// [8 6 10] [24 4] [24 2 40]
	// [1 4] [1 40 16]
}

// What is pushed last is read first; a pop of more than there is takes what there is.
func ExampleStackMemory() {
	m := &memory.StackMemory{Width: 3, Slots: 8}
	s := m.Start(nil)
	for _, step := range []struct {
		value     []tensor.Float
		push, pop tensor.Float
	}{
		{[]tensor.Float{1, 0, 0}, 0.8, 0},
		{[]tensor.Float{0, 1, 0}, 0.5, 0.1},
		{[]tensor.Float{0, 0, 1}, 0.9, 0.9},
	} {
		r, next := m.Step(nil, s, grad.Const(tensor.Of(step.value, 1, 3)),
			grad.Const(tensor.Of([]tensor.Float{step.push}, 1, 1)),
			grad.Const(tensor.Of([]tensor.Float{step.pop}, 1, 1)))
		fmt.Printf("%.1f\n", r.Value().Data)
		s = next
	}
	// Output:
	// [0.8 0.0 0.0]
	// [0.5 0.5 0.0]
	// [0.1 0.0 0.9]
}

// A tree of two branches: the query goes left, and there to the second leaf.
func ExampleTreeMemory() {
	trees := graph.Must(graph.Trees([]int32{-1, 0, 0, 1, 1, 2, 2}))
	keys := tensor.Of([]tensor.Float{0, 0, 1, 0, -1, 0, 1, -1, 1, 1, -1, -1, -1, 1}, 7, 2)
	values := tensor.Of([]tensor.Float{0, 0, 0, 3, 4, 5, 6}, 7, 1)
	query := tensor.Of([]tensor.Float{5, 5}, 1, 2)
	m := &memory.TreeMemory{}
	r, _ := m.Forward(nil, trees, grad.Const(keys), grad.Const(values), grad.Const(query))
	leaf, looked := m.Descend(trees, keys, query)
	fmt.Printf("%.3f, node %d of %d keys\n", r.Value().Data[0], leaf[0], looked[0])
	// Output:
	// 4.000, node 4 of 4 keys
}

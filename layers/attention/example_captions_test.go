package attention_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Two pictures of four by four pixels, a convolution, and the largest of each two by two of its cells.
func ExampleShowAttendTell() {
	pixels := tensor.New(2*16, 3) // red, green and blue
	pixels.Uniform(rand.New(rand.NewPCG(5, 6)), 0, 1)

	around := graph.Windows(4, 4, graph.Window{Size: 3, Pad: 1})     // each pixel hears nine, or fewer at the edges
	coarser := graph.Windows(4, 4, graph.Window{Size: 2, Stride: 2}) // each of 2×2 places hears four
	conv := &layers.Conv2D{In: 3, Out: 8, Activation: grad.ReLU}
	conv.Init(rand.New(rand.NewPCG(1, 2)))

	t := grad.NewTape(1)
	x := conv.Forward(t, graph.Batch(around, around), grad.Const(pixels))
	cells := message.UpdateAll(graph.Batch(coarser, coarser), message.U(x), message.Max)

	net := &attention.ShowAttendTell{Cell: 8, Target: 6, Begin: 1, Embed: 4, Hidden: 5}
	net.Init(rand.New(rand.NewPCG(3, 4)))
	written := graph.Chains(3, 2)
	logits, look := net.Apply(t, graph.Chains(4, 4), cells, written, []int32{1, 4, 2, 1, 3})
	loss := logits.CrossEntropy([]int32{4, 2, 0, 3, 0}).Add(net.Penalty(look).Scale(0.01))
	for i, w := range look.Matrices() {
		fmt.Println("picture", i, "has", w.Rows(), "steps, which look at", w.RowLen(), "cells")
	}
	t.Backward(loss) // and so on with an optimiser
	// Output:
	// picture 0 has 3 steps, which look at 4 cells
	// picture 1 has 2 steps, which look at 4 cells
}

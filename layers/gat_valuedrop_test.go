package layers_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestGATValueDrop: what is summed is dropped, and what the logits see is not.
func TestGATValueDrop(t *testing.T) {
	g := graph.WithSelfLoops(graph.Must(graph.New(4, []int32{0, 1, 2, 3, 0, 2}, []int32{1, 2, 3, 0, 2, 2})))
	rng := rand.New(rand.NewPCG(5, 6))
	x := tensor.New(4, 3)
	x.Normal(rng, 0, 1)
	conv := &layers.GATConv{In: 3, Out: 2, Heads: 2, ValueDrop: 0.5}
	conv.Init(rng)

	got := conv.Forward(grad.NewTape(9), g, grad.Const(x)).Value()

	tape := grad.NewTape(9)
	ft := tape.Dropout(grad.Const(x), 0).MatMul(tape.Use(conv.W)).Reshape(-1, 2, 2)
	alpha := message.UAddV(ft.Dot(tape.Use(conv.AttnL)), ft.Dot(tape.Use(conv.AttnR))).LeakyReLU(0.2).Softmax().Dropout(tape, 0) // as many masks drawn
	want := message.UpdateAll(g, message.U(tape.Dropout(ft, 0.5)).Mul(alpha), message.Sum).Value()
	if !slices.Equal(got.Data, want.Data) {
		t.Errorf("got %v, want %v", got.Data, want.Data)
	}
	whole := conv.Forward(grad.NewEval(), g, grad.Const(x)).Value()
	if slices.Equal(got.Data, whole.Data) {
		t.Error("nothing is dropped in training")
	}
	conv.ValueDrop = 0
	if !slices.Equal(whole.Data, conv.Forward(grad.NewTape(9), g, grad.Const(x)).Value().Data) {
		t.Error("something is dropped in evaluation, or without ValueDrop")
	}
}

package sequence_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
)

// The steps of PyTorch's benchmarks: 64 chains of 50, 128 inputs, 128 hidden.
const (
	benchLength = 50
	benchBatch  = 64
	benchWidth  = 128
)

// timeStep times a step forwards and backwards, with the gradient of x.
func timeStep(b *testing.B, g *graph.Graph, forward func(t *grad.Tape, x *grad.Var) *grad.Var) {
	defer par.Hot()()
	x := random(1, g.NumNodes(), benchWidth).Value
	t := grad.NewTape(1)
	step := func() {
		t.Reset()
		t.Backward(forward(t, t.Watch(x)).Sum())
	}
	step()
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}

func BenchmarkCells(b *testing.B) {
	g := graph.Chains(slices.Repeat([]int{benchLength}, benchBatch)...)
	for name, c := range map[string]sequence.Cell{
		"rnn":    &sequence.RNN{In: benchWidth, Hidden: benchWidth},
		"gru":    &sequence.GRU{In: benchWidth, Hidden: benchWidth},
		"lstm":   &sequence.LSTM{In: benchWidth, Hidden: benchWidth},
		"normed": &sequence.LSTM{In: benchWidth, Hidden: benchWidth, LayerNorm: true},
	} {
		c.Init(rand.New(rand.NewPCG(1, 1)))
		b.Run(name, func(b *testing.B) {
			timeStep(b, g, func(t *grad.Tape, x *grad.Var) *grad.Var { return c.ForwardFrom(t, g, x, nil)[0] })
		})
	}
}

// A plain tanh cell that is spelt out with a Sweep.
func BenchmarkSweep(b *testing.B) {
	g := graph.Chains(slices.Repeat([]int{benchLength}, benchBatch)...)
	w, u := random(1, benchWidth, benchWidth), random(2, benchWidth, benchWidth)
	u.Value.Normal(rand.New(rand.NewPCG(3, 1)), 0, 0.08)
	h0 := grad.NewParam(1, benchWidth)
	timeStep(b, g, func(t *grad.Tape, x *grad.Var) *grad.Var {
		xw, uv := x.MatMul(t.Use(w)), t.Use(u)
		return message.Sweep(g, message.State{t.Use(h0)}, func(l *message.Level, prev message.State) message.State {
			h := message.UpdateAll(l.In, message.U(prev[0]), message.Sum)
			return message.State{h.MatMul(uv).Add(l.Rows(xw)).Tanh()}
		})[0]
	})
}

package bench

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/train"
)

// ntmBenchmarks are training steps of a neural Turing machine that learns to copy rows of bits:
// forward, the loss of the answers, backward, gradients cut to ±10, and the optimiser's step.
func ntmBenchmarks(threads int) []Benchmark {
	const t, bits, batch, slots, width, hidden = 20, 8, 16, 128, 20, 100
	var out []Benchmark
	for _, c := range []struct {
		form string
		of   memory.Controller
	}{{"feedforward", memory.FeedForwardController}, {"lstm", memory.LSTMController}} {
		out = append(out, Benchmark{
			name: "memory/ntm/" + c.form, op: "memory/ntm", lanes: threads,
			params: map[string]any{"t": t, "bits": bits, "batch": batch, "slots": slots, "width": width, "hidden": hidden, "form": c.form, "threads": threads},
			prepare: func() workload {
				net := &memory.NTM{In: bits + 2, Out: bits, Controller: c.of, Hidden: hidden, Slots: slots, Width: width}
				net.Init(rand.New(rand.NewPCG(1, 2)))
				b := text.Task{Count: batch, Min: t, Symbols: bits}.CopyBits()
				g, tape, want := b.Graph(), grad.NewTape(1), grad.Const(b.Answer)
				opt := &train.RMSprop{LR: 1e-4, Alpha: 0.95, Momentum: 0.9}
				return workload{call: func() {
					tape.Reset()
					y := net.Forward(tape, g, tape.Input(b.X))
					grads := tape.Backward(y.Rows(b.At).BCE(want))
					grads.ClipValue(10)
					opt.Step(grads)
				}}
			},
		})
	}
	return out
}

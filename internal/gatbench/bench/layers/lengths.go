package layers

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// What is timed by length: one sequence of rows so wide, by layers of so many taps and heads.
const lengthWidth, lengthTaps, lengthHeads = 256, 3, 4

// sequenceLengths are the lengths.
var sequenceLengths = []int{64, 256, 1024, 4096}

// Lengths are a recurrence, a convolution and self-attention over one sequence of several lengths, with all gradients;
// attention once by itself, from its queries, keys and values, and once with the products that make these.
func Lengths(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	for _, kind := range []struct {
		name string
		work func(n int) bench.Work
	}{
		{"recurrence", func(n int) bench.Work {
			return overLength(graph.Chains(n), &sequence.RNN{In: lengthWidth, Hidden: lengthWidth})
		}},
		{"convolution", func(n int) bench.Work {
			return overLength(graph.Chains(n), &sequence.Conv1D{In: lengthWidth, Out: lengthWidth, Kernel: lengthTaps})
		}},
		{"attention", attentionAlone},
		{"multihead", func(n int) bench.Work {
			return overLength(graph.Complete(n), &attention.MultiHead{Model: lengthWidth, Heads: lengthHeads})
		}},
	} {
		for _, n := range sequenceLengths {
			out = append(out, bench.Benchmark{
				Name: fmt.Sprintf("length/%s/%dx%d", kind.name, n, lengthWidth), Op: "length/" + kind.name, Lanes: c.Threads,
				Params:  map[string]any{"t": n, "d": lengthWidth, "threads": c.Threads},
				Prepare: func() bench.Work { return kind.work(n) },
			})
		}
	}
	return out
}

// overLength is a layer over a sequence.
func overLength(g *graph.Graph, net convolution) bench.Work {
	net.Init(rand.New(rand.NewPCG(1, 2)))
	return recurrentTask{g, bench.Operand(g.NumNodes(), lengthWidth), net}.workload()
}

// attentionAlone is attention of all pairs, without its projections.
func attentionAlone(n int) bench.Work {
	g := graph.Complete(n)
	var x [3]*tensor.Dense // queries, keys and values
	for i := range x {
		x[i] = bench.Operand(n, lengthHeads, lengthWidth/lengthHeads)
	}
	return bench.BothWays(func(t *grad.Tape, in func(*tensor.Dense) *grad.Var) *grad.Var {
		y, _ := (&message.Attention{Q: in(x[0]), K: in(x[1]), V: in(x[2])}).Apply(t, g)
		return y
	}, bench.Operand)
}

package layers

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// attendShape is what the peers' dense command calls b, t, d and heads.
type attendShape struct{ b, t, d, heads int }

// attendShapes are those that are timed: sentences, long texts, and one of two thousand words.
var attendShapes = []attendShape{{64, 50, 128, 8}, {16, 512, 512, 8}, {1, 2048, 512, 8}}

func (s attendShape) String() string { return fmt.Sprintf("%dx%dx%dx%d", s.b, s.t, s.d, s.heads) }

func (s attendShape) params(threads int) map[string]any {
	return map[string]any{"b": s.b, "t": s.t, "d": s.d, "heads": s.heads, "threads": threads}
}

// sentences is a graph in which every word hears all words of its sentence.
func sentences(lengths ...int) *graph.Graph {
	all := make([]*graph.Graph, len(lengths))
	for i, n := range lengths {
		all[i] = graph.Complete(n)
	}
	return graph.Batch(all...)
}

// encoderDrop is torch's default dropout of an encoder layer.
const encoderDrop = 0.1

// SelfAttention is attention of words, of every word to all of its sentence and to those near it.
func SelfAttention(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	threads := c.Threads
	for _, s := range attendShapes {
		out = append(out, bench.Benchmark{
			Name: fmt.Sprintf("attention/mha/%v", s), Op: "dense/mha", Lanes: threads, Params: s.params(threads),
			Prepare: func() bench.Work { return s.task(newMultiHead(s.d, s.heads)).workload() },
		})
	}
	for _, s := range attendShapes {
		for _, p := range []float64{encoderDrop, 0} {
			b := bench.Benchmark{
				Name: fmt.Sprintf("attention/encoder_layer/%v", s), Op: "dense/encoder_layer", Lanes: threads, Params: s.params(threads),
				Prepare: func() bench.Work { return s.task(newEncoderLayer(s, p)).workload() },
			}
			if b.Params["dropout"] = p; p == 0 {
				b.Name += "/nodropout"
			}
			out = append(out, b)
		}
	}
	return append(out, raggedAttention(threads), windowBenchmark(threads))
}

// task returns a network over sentences of one length.
func (s attendShape) task(net convolution) recurrentTask {
	net.Init(rand.New(rand.NewPCG(1, 2)))
	return recurrentTask{sentences(slices.Repeat([]int{s.t}, s.b)...), bench.Operand(s.b*s.t, s.d), net}
}

// raggedAttention is self-attention over the sentences of the ragged recurrent networks.
func raggedAttention(threads int) bench.Benchmark {
	s := attendShape{b: 64, d: 128, heads: 8}
	params := s.params(threads)
	delete(params, "t")
	params["lengths"] = raggedLengths()
	return bench.Benchmark{
		Name: fmt.Sprintf("attention/ragged/%dx%d", s.d, s.heads), Op: "attention/ragged", Lanes: threads, Params: params,
		Prepare: func() bench.Work {
			net, g := newMultiHead(s.d, s.heads), sentences(raggedLengths()...)
			net.Init(rand.New(rand.NewPCG(1, 2)))
			return recurrentTask{g, bench.Operand(g.NumNodes(), s.d), net}.workload()
		},
	}
}

// What is timed of a window: so many words, each of which hears so many on either side.
const windowWords, windowReach, windowWidth, windowHeads = 16_384, 128, 64, 8

// windowBenchmark is attention without its linear parts on a band, to the gradients of
// queries, keys and values.
func windowBenchmark(threads int) bench.Benchmark {
	return bench.Benchmark{
		Name: fmt.Sprintf("attention/window/%dx%dx%dx%d", windowWords, windowReach, windowWidth, windowHeads), Op: "attention/window", Lanes: threads,
		Params:  map[string]any{"n": windowWords, "w": windowReach, "d": windowWidth, "heads": windowHeads, "threads": threads},
		Prepare: func() bench.Work { return window(windowWords, windowReach) },
	}
}

func window(words, reach int) bench.Work {
	g := graph.Band(words, reach)
	var x [3]*tensor.Dense // queries, keys and values
	for i := range x {
		x[i] = bench.Operand(words, windowHeads, windowWidth/windowHeads)
	}
	return bench.BothWays(func(t *grad.Tape, in func(*tensor.Dense) *grad.Var) *grad.Var {
		y, _ := (&message.Attention{Q: in(x[0]), K: in(x[1]), V: in(x[2])}).Apply(t, g)
		return y
	}, bench.Operand)
}

// newMultiHead is what torch's MultiheadAttention is.
func newMultiHead(width, heads int) convolution {
	return &attention.MultiHead{Model: width, Heads: heads}
}

// newEncoderLayer is what torch's TransformerEncoderLayer is: norms come after the sums.
func newEncoderLayer(s attendShape, drop float64) convolution {
	return &attention.EncoderBlock{Block: attention.Block{Model: s.d, Heads: s.heads, Drop: drop}}
}

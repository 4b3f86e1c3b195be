package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
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

// attendBenchmarks are attention over words: of every word to all of its sentence, to those
// near it, and by a network of keys and queries.
func attendBenchmarks(threads int) []Benchmark {
	var out []Benchmark
	for _, s := range attendShapes {
		out = append(out, Benchmark{
			name: fmt.Sprintf("attention/mha/%v", s), op: "dense/mha", lanes: threads, params: s.params(threads),
			prepare: func() workload { return s.task(newMultiHead(s.d, s.heads)).workload() },
		})
	}
	for _, s := range attendShapes {
		for _, p := range []float64{encoderDrop, 0} {
			b := Benchmark{
				name: fmt.Sprintf("attention/encoder_layer/%v", s), op: "dense/encoder_layer", lanes: threads, params: s.params(threads),
				prepare: func() workload { return s.task(newEncoderLayer(s, p)).workload() },
			}
			if b.params["dropout"] = p; p == 0 {
				b.name += "/nodropout"
			}
			out = append(out, b)
		}
	}
	out = append(out, raggedAttention(threads), windowBenchmark(threads))
	return append(append(out, additiveBenchmarks(threads)...), generateBenchmarks(threads)...)
}

// task returns a network over sentences of one length.
func (s attendShape) task(net convolution) recurrentTask {
	net.Init(rand.New(rand.NewPCG(1, 2)))
	return recurrentTask{sentences(slices.Repeat([]int{s.t}, s.b)...), newOperand(s.b*s.t, s.d), net}
}

// raggedAttention is self-attention over the sentences of the ragged recurrent networks.
func raggedAttention(threads int) Benchmark {
	s := attendShape{b: 64, d: 128, heads: 8}
	params := s.params(threads)
	delete(params, "t")
	params["lengths"] = raggedLengths()
	return Benchmark{
		name: fmt.Sprintf("attention/ragged/%dx%d", s.d, s.heads), op: "attention/ragged", lanes: threads, params: params,
		prepare: func() workload {
			net, g := newMultiHead(s.d, s.heads), sentences(raggedLengths()...)
			net.Init(rand.New(rand.NewPCG(1, 2)))
			return recurrentTask{g, newOperand(g.NumNodes(), s.d), net}.workload()
		},
	}
}

// What is timed of a window: so many words, each of which hears so many on either side.
const windowWords, windowReach, windowWidth, windowHeads = 16_384, 128, 64, 8

// windowBenchmark is attention without its linear parts on a band, to the gradients of
// queries, keys and values.
func windowBenchmark(threads int) Benchmark {
	return Benchmark{
		name: fmt.Sprintf("attention/window/%dx%dx%dx%d", windowWords, windowReach, windowWidth, windowHeads), op: "attention/window", lanes: threads,
		params:  map[string]any{"n": windowWords, "w": windowReach, "d": windowWidth, "heads": windowHeads, "threads": threads},
		prepare: func() workload { return window(windowWords, windowReach) },
	}
}

func window(words, reach int) workload {
	g, t, eval := graph.Band(words, reach), grad.NewTape(1), grad.NewEval()
	var x [3]*tensor.Dense // queries, keys and values
	for i := range x {
		x[i] = newOperand(words, windowHeads, windowWidth/windowHeads)
	}
	seed := newOperand(words, windowHeads, windowWidth/windowHeads)
	return workload{
		call: func() {
			t.Reset()
			y, _ := (&message.Attention{Q: t.Watch(x[0]), K: t.Watch(x[1]), V: t.Watch(x[2])}).Apply(t, g)
			t.BackwardFrom(y, seed)
		},
		forward: func() {
			eval.Reset()
			(&message.Attention{Q: eval.Input(x[0]), K: eval.Input(x[1]), V: eval.Input(x[2])}).Apply(eval, g)
		},
	}
}

// newMultiHead is what torch's MultiheadAttention is.
func newMultiHead(width, heads int) convolution {
	return &attention.MultiHead{Model: width, Heads: heads}
}

// newEncoderLayer is what torch's TransformerEncoderLayer is: norms come after the sums.
func newEncoderLayer(s attendShape, drop float64) convolution {
	return &attention.EncoderBlock{Block: attention.Block{Model: s.d, Heads: s.heads, Drop: drop}}
}

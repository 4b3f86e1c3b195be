package layers

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// recurrentShape is what the peers' dense command calls t, b, i, h, layers and bi.
type recurrentShape struct{ t, b, i, h, layers, bi int }

// recurrentShapes are those that are timed of every cell: a small one, two wide layers, and the
// encoder of a translation.
var recurrentShapes = []recurrentShape{
	{50, 64, 128, 128, 1, 0}, {50, 64, 256, 256, 2, 0}, {30, 80, 620, 1000, 1, 1},
}

// oneSequence is a chain by itself.
var oneSequence = recurrentShape{100, 1, 128, 128, 1, 0}

// String is the end of a name: TxBxIxH, and of several layers or both directions these.
func (s recurrentShape) String() string {
	out := fmt.Sprintf("%dx%dx%dx%d", s.t, s.b, s.i, s.h)
	switch {
	case s.bi > 0:
		return fmt.Sprintf("%sx%dx%d", out, s.layers, s.bi)
	case s.layers > 1:
		return fmt.Sprintf("%sx%d", out, s.layers)
	}
	return out
}

func (s recurrentShape) params(threads int) map[string]any {
	return map[string]any{"t": s.t, "b": s.b, "i": s.i, "h": s.h, "layers": s.layers, "bi": s.bi, "threads": threads}
}

// cellOf makes a cell.
type cellOf func(in, hidden int) sequence.Cell

func lstm(in, hidden int) sequence.Cell { return &sequence.LSTM{In: in, Hidden: hidden} }
func gru(in, hidden int) sequence.Cell  { return &sequence.GRU{In: in, Hidden: hidden} }
func rnn(in, hidden int) sequence.Cell  { return &sequence.RNN{In: in, Hidden: hidden} }

// variants are forms of cells, each timed beside the plain cell.
var variants = []struct {
	name        string
	make, plain cellOf
}{
	{"lstm_noforget", func(in, hidden int) sequence.Cell {
		return &sequence.LSTM{In: in, Hidden: hidden, Forget: sequence.NoForget}
	}, lstm},
	{"lstm_coupled", func(in, hidden int) sequence.Cell {
		return &sequence.LSTM{In: in, Hidden: hidden, Forget: sequence.CoupledForget}
	}, lstm},
	{"lstm_peephole", func(in, hidden int) sequence.Cell {
		return &sequence.LSTM{In: in, Hidden: hidden, Peephole: sequence.DiagonalPeephole}
	}, lstm},
	{"lstm_layernorm", func(in, hidden int) sequence.Cell {
		return &sequence.LSTM{In: in, Hidden: hidden, LayerNorm: true}
	}, lstm},
	{"lstm_dropout", func(in, hidden int) sequence.Cell {
		return &sequence.LSTM{In: in, Hidden: hidden, InputDropout: 0.3, StateDropout: 0.3}
	}, lstm},
	{"gru_minimal", func(in, hidden int) sequence.Cell {
		return &sequence.GRU{In: in, Hidden: hidden, Minimal: true}
	}, lstm},
	{"gru_admits", func(in, hidden int) sequence.Cell {
		return &sequence.GRU{In: in, Hidden: hidden, UpdateAdmits: true}
	}, lstm},
	{"rnn_leaky", func(in, hidden int) sequence.Cell {
		return &sequence.RNN{In: in, Hidden: hidden, LearnLeak: true}
	}, lstm},
	{"rnn_residual", func(in, hidden int) sequence.Cell {
		return &sequence.RNN{In: in, Hidden: hidden, Residual: true}
	}, lstm},
	{"treelstm_chain", func(in, hidden int) sequence.Cell {
		return &sequence.TreeLSTM{In: in, Hidden: hidden}
	}, lstm},
}

// Sequences are recurrent networks on chains and trees.
func Sequences(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	threads := c.Threads
	for _, c := range []struct {
		name   string
		make   cellOf
		shapes []recurrentShape
	}{
		{"lstm", lstm, append(slices.Clone(recurrentShapes), oneSequence)},
		{"gru", gru, append(slices.Clone(recurrentShapes), oneSequence)},
		{"rnn", rnn, recurrentShapes[:2]},
	} {
		for _, s := range c.shapes {
			out = append(out, bench.Benchmark{
				Name: fmt.Sprintf("sequence/%s/%v", c.name, s), Op: "dense/" + c.name, Lanes: threads, Params: s.params(threads),
				Prepare: func() bench.Work { return s.task(c.make).workload() },
			})
		}
	}
	for _, v := range variants {
		s := recurrentShapes[0]
		out = append(out, bench.Benchmark{
			Name: fmt.Sprintf("sequence/%s/%v", v.name, s), Op: "sequence/" + v.name, Lanes: threads, Params: s.params(threads),
			Prepare: func() bench.Work {
				w := s.task(v.make).workload()
				w.Rival = bench.Reference{Name: "LSTM", Share: 1, Call: s.task(v.plain).workload().Call, Equal: true}
				return w
			},
		})
	}
	return slices.Concat(out, raggedBenchmarks(threads), longBenchmarks(threads))
}

// recurrentTask is a network over a graph, whose gradients go to its Params and to its
// input, as in the peers' dense command.
type recurrentTask struct {
	g   *graph.Graph
	x   *tensor.Dense
	net interface {
		Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
	}
}

// task returns a stack of cells on chains of one length.
func (s recurrentShape) task(c cellOf) recurrentTask {
	return recurrentTask{graph.Chains(slices.Repeat([]int{s.t}, s.b)...), bench.Operand(s.t*s.b, s.i), s.net(c)}
}

// net returns a stack of cells.
func (s recurrentShape) net(c cellOf) *sequence.Stack {
	net, in := &sequence.Stack{}, s.i
	for range s.layers {
		net.Layers = append(net.Layers, c(in, s.h))
		if s.bi > 0 {
			net.Back = append(net.Back, c(in, s.h))
		}
		in = s.h * (1 + s.bi)
	}
	net.Init(rand.New(rand.NewPCG(1, 2)))
	return net
}

func (r recurrentTask) workload() bench.Work {
	return bench.BothWays(func(t *grad.Tape, in func(*tensor.Dense) *grad.Var) *grad.Var {
		return r.net.Forward(t, r.g, in(r.x))
	}, ones)
}

func ones(shape ...int) *tensor.Dense {
	x := tensor.New(shape...)
	x.Fill(1)
	return x
}

// raggedLengths are of 64 sequences of 5 to 97, 25 in the mean, in no order: 5 + ⌊95·((k+½)/64)^3.63⌋ for
// k = 0, 37, 74 … modulo 64. So a peer can make the same.
func raggedLengths() []int {
	const n = 64
	out := make([]int, n)
	for i := range out {
		out[i] = 5 + int(95*math.Pow((float64(i*37%n)+0.5)/n, 3.63))
	}
	return out
}

// raggedBenchmarks are a batch of sequences of all lengths.
func raggedBenchmarks(threads int) []bench.Benchmark {
	var out []bench.Benchmark
	for _, c := range []struct {
		name string
		make cellOf
	}{{"lstm", lstm}, {"gru", gru}} {
		params := recurrentShape{0, 64, 128, 128, 1, 0}.params(threads)
		delete(params, "t")
		params["lengths"] = raggedLengths()
		out = append(out, bench.Benchmark{
			Name: "sequence/ragged/" + c.name, Op: "sequence/ragged_" + c.name, Lanes: threads, Params: params,
			Prepare: func() bench.Work {
				g := graph.Chains(raggedLengths()...)
				return recurrentTask{g, bench.Operand(g.NumNodes(), 128), recurrentShape{i: 128, h: 128, layers: 1}.net(c.make)}.workload()
			},
		})
	}
	return out
}

// The chain whose memory is watched, and the segments that it is cut into.
const longChain, longSegment = 10_000, 50

// longBenchmarks are one chain of many nodes, whole and with the gradient cut to segments.
func longBenchmarks(threads int) []bench.Benchmark {
	s := recurrentShape{longChain, 1, 128, 128, 1, 0}
	truncated := maps.Clone(s.params(threads))
	truncated["segment"] = longSegment
	return []bench.Benchmark{
		{
			Name: "sequence/lstm/" + s.String(), Op: "dense/lstm", Lanes: threads, Params: s.params(threads),
			Prepare: func() bench.Work { return s.task(lstm).workload() },
		},
		{
			Name: fmt.Sprintf("sequence/truncated/%v/%d", s, longSegment), Op: "sequence/truncated", Lanes: threads, Params: truncated,
			Prepare: func() bench.Work { return s.truncated() },
		},
	}
}

// truncated is the chain in segments, each with its gradient, and the state kept between.
func (s recurrentShape) truncated() bench.Work {
	c, t, g := lstm(s.i, s.h), grad.NewTape(1), graph.Chains(longSegment)
	c.Init(rand.New(rand.NewPCG(1, 2)))
	x := bench.Operand(s.t, s.i)
	return bench.Work{Call: func() {
		var state message.State
		for from := 0; from < s.t; from += longSegment {
			t.Reset()
			y := c.ForwardFrom(t, g, t.Watch(x.RowRange(from, from+longSegment)), state)
			state = y.Rows(g.Sinks()).Keep()
			t.Backward(y[0].Sum())
		}
	}}
}

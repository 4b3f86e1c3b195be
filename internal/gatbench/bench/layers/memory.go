package layers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// MemN2N are epochs of training on the questions of a task of bAbI, where that is found:
// batches are made of the words' numbers, the loss is a sum, the norm cut to 40.
func MemN2N(c *bench.Choice) []bench.Benchmark {
	const batch, d, hops, slots = 32, 20, 3, 50
	dir, err := text.Find(c.Data, "babi")
	if err != nil {
		return nil
	}
	var out []bench.Benchmark
	for _, task := range []int{1, 2} {
		out = append(out, bench.Benchmark{
			Name: fmt.Sprintf("memory/memn2n/%d", task), Op: "memory/memn2n", Lanes: c.Threads,
			Params: map[string]any{"task": task, "batch": batch, "d": d, "hops": hops, "memory": slots, "threads": c.Threads},
			Open: func() (bench.Work, error) {
				stories, words, err := babiStories(dir, task)
				if err != nil {
					return bench.Work{}, err
				}
				net := &memory.MemN2N{Vocab: words, Dim: d, Hops: hops, Memory: slots, Encoding: memory.Position}
				e := memoryEpoch{net: net, stories: stories, rng: rand.New(rand.NewPCG(1, 2)), tape: grad.NewTape(1), opt: &train.SGD{LR: 0.01}}
				net.Init(e.rng)
				return bench.Work{Call: func() { e.run(batch) }, Failed: func() error { return e.failed }}, nil
			},
		})
	}
	return out
}

// babiStories are the questions that a task is learnt from, in numbers.
func babiStories(dir string, task int) (stories []memory.Story, words int, err error) {
	asked, _, err := text.LoadBAbI(dir, task)
	if err != nil {
		return nil, 0, err
	}
	numbers := map[string]int32{}
	encode := func(line string) (out []int32) {
		for _, w := range strings.Fields(strings.ToLower(strings.Trim(line, ".?"))) {
			if _, is := numbers[w]; !is {
				numbers[w] = int32(len(numbers))
			}
			out = append(out, numbers[w])
		}
		return out
	}
	for _, q := range asked {
		s := memory.Story{Question: encode(q.Text), Answer: encode(q.Answer)[0]}
		for _, line := range q.Story {
			s.Sentences = append(s.Sentences, encode(line))
		}
		stories = append(stories, s)
	}
	return stories, len(numbers), nil
}

// memoryEpoch is a training of a memory network.
type memoryEpoch struct {
	net     *memory.MemN2N
	stories []memory.Story
	rng     *rand.Rand
	tape    *grad.Tape
	opt     train.Optimiser
	failed  error
}

func (e *memoryEpoch) run(batch int) {
	order, some := e.rng.Perm(len(e.stories)), make([]memory.Story, 0, batch)
	for at := 0; at < len(order); at += batch {
		some = some[:0]
		for _, i := range order[at:min(at+batch, len(order))] {
			some = append(some, e.stories[i])
		}
		s, err := e.net.Batch(some, nil)
		if err != nil {
			e.failed = err
			return
		}
		e.tape.Reset()
		grads := e.tape.Backward(s.Loss(e.net.Forward(e.tape, s)))
		grads.ClipNorm(40)
		e.opt.Step(grads)
	}
}

// What is timed of Hopfield networks: so many units, patterns and states.
const (
	hopfieldUnits, hopfieldPatterns, hopfieldStates = 10_000, 500, 64
	modernPatterns, modernUnits, modernCues         = 100_000, 256, 64
)

// bipolarOperand are rows of +1 and −1.
func bipolarOperand(rows, units int) *tensor.Dense {
	x := bench.Operand(rows, units)
	for i, v := range x.Data {
		x.Data[i] = tensor.Float(math.Copysign(1, float64(v)))
	}
	return x
}

// Hopfield are recalls: all units at once, beside the product that it is; one unit
// after the other, beside reading the weights once; and by attention, beside attention.
func Hopfield(c *bench.Choice) []bench.Benchmark {
	params := map[string]any{"units": hopfieldUnits, "patterns": hopfieldPatterns, "states": hopfieldStates, "threads": c.Threads}
	edges := float64(hopfieldUnits) * hopfieldUnits
	return []bench.Benchmark{
		{
			Name: fmt.Sprintf("memory/hopfield/%dx%dx%d", hopfieldUnits, hopfieldPatterns, hopfieldStates), Op: "memory/hopfield", Lanes: c.Threads, Params: params,
			Flops: 2 * edges * hopfieldStates, Bytes: edges * float64(bench.FloatSize),
			Open: func() (bench.Work, error) { return hopfieldSweep(memory.Recall{Sync: true, Most: 1}, hopfieldStates) },
		},
		{
			Name: fmt.Sprintf("memory/hopfield_async/%dx%dx%d", hopfieldUnits, hopfieldPatterns, hopfieldStates), Op: "memory/hopfield_async", Lanes: c.Threads, Params: params,
			Flops: 2 * edges * hopfieldStates, Bytes: edges * float64(bench.FloatSize),
			Open: func() (bench.Work, error) { return hopfieldSweep(memory.Recall{Most: 1}, hopfieldStates) },
		},
		{
			Name: fmt.Sprintf("memory/modern/%dx%d", modernPatterns, modernUnits), Op: "memory/modern", Lanes: c.Threads,
			Params:  map[string]any{"patterns": modernPatterns, "d": modernUnits, "cues": modernCues, "threads": c.Threads},
			Flops:   4 * float64(modernPatterns) * modernUnits * modernCues,
			Bytes:   float64(modernPatterns) * modernUnits * float64(bench.FloatSize),
			Prepare: modernRetrieval,
		},
	}
}

// hopfieldSweep is one sweep over all units of some states, each a pattern with noise. The
// rival of all units at once is the product of weights and states.
func hopfieldSweep(how memory.Recall, states int) (bench.Work, error) {
	patterns := bipolarOperand(hopfieldPatterns, hopfieldUnits)
	h, err := memory.Store(memory.Hebb, patterns)
	if err != nil {
		return bench.Work{}, err
	}
	cues := tensor.Of(patterns.Data[:states*hopfieldUnits], states, hopfieldUnits).Clone()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range cues.Data {
		if rng.IntN(10) == 0 {
			cues.Data[i] *= -1
		}
	}
	w := bench.Failing(func() error {
		_, err := h.Recall(cues, how)
		return err
	})
	if how.Sync {
		y, columns := tensor.New(hopfieldUnits, states), bench.Operand(hopfieldUnits, states)
		w.Rival = bench.Reference{Name: "gemm", Share: 1, Equal: true, Call: func() { tensor.MatMul(y, h.W.Value, columns, 0) }}
	} else {
		sink := tensor.Float(0)
		w.Rival = bench.Reference{Name: "one reading of the weights", Share: 1, Call: func() {
			for i := range hopfieldUnits {
				for _, v := range h.W.Value.Row(i) {
					sink += v
				}
			}
		}}
	}
	return w, nil
}

// modernRetrieval is a step of the modern form; the rival is attention on the same arrays.
func modernRetrieval() bench.Work {
	patterns, cues := bench.Operand(modernPatterns, modernUnits), bench.Operand(modernCues, modernUnits)
	// β as attention has it: with a large one most weights are numbers below the smallest normal
	// one, with which processors take ten times as long.
	beta := 1 / math.Sqrt(modernUnits)
	g, m := graph.CompleteBipartite(modernPatterns, modernCues), &memory.Modern{Beta: beta}
	x, q := grad.Const(patterns), grad.Const(cues)
	return bench.Work{
		Call: func() { m.Retrieve(patterns, cues) },
		Rival: bench.Reference{Name: "message.Attention", Share: 1, Equal: true, Call: func() {
			(&message.Attention{Q: q, K: x, V: x, Scale: beta}).Apply(nil, g)
		}},
	}
}

// NTM are training steps of a neural Turing machine that learns to copy rows of bits:
// forward, the loss of the answers, backward, gradients cut to ±10, and the optimiser's step.
func NTM(c *bench.Choice) []bench.Benchmark {
	const t, bits, batch, slots, width, hidden = 20, 8, 16, 128, 20, 100
	var out []bench.Benchmark
	for _, net := range []struct {
		form string
		of   memory.Controller
	}{{"feedforward", memory.FeedForwardController}, {"lstm", memory.LSTMController}} {
		out = append(out, bench.Benchmark{
			Name: "memory/ntm/" + net.form, Op: "memory/ntm", Lanes: c.Threads,
			Params: map[string]any{"t": t, "bits": bits, "batch": batch, "slots": slots, "width": width, "hidden": hidden, "form": net.form, "threads": c.Threads},
			Prepare: func() bench.Work {
				net := &memory.NTM{In: bits + 2, Out: bits, Controller: net.of, Hidden: hidden, Slots: slots, Width: width}
				net.Init(rand.New(rand.NewPCG(1, 2)))
				b := text.Task{Count: batch, Min: t, Symbols: bits}.CopyBits()
				g, tape, want := b.Graph(), grad.NewTape(1), grad.Const(b.Answer)
				opt := &train.RMSprop{LR: 1e-4, Alpha: 0.95, Momentum: 0.9}
				return bench.Work{Call: func() {
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

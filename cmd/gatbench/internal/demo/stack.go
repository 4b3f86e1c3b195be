package demo

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// reversing has an LSTM say rows of bits from the last to the first, with a stack and without,
// and another repeat them with a queue.
var reversing = Demo{Name: "stack", About: "rows of bits said backwards, by an LSTM with a stack and by one without", Aside: []string{"LSTM alone, reversing"}, Run: runStack}

const stackBits, stackSlots = 4, 48

// plainLSTM is an LSTM without a memory beside its own state.
type plainLSTM struct {
	LSTM   *sequence.LSTM
	Answer *layers.Linear
}

func (n *plainLSTM) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return n.Answer.Forward(t, n.LSTM.Forward(t, g, x))
}

func runStack(s *Stage) error {
	s.say("An LSTM of 64 units hears one to eight rows of %d bits and says them from the last to the first. One has a stack to push to and pop from; the next has only its own state. A third has a queue, and says the rows in their order. Then they are given longer ones than they ever heard.", stackBits)
	stack, queue := s.stackMachine("stack", false), s.stackMachine("queue", true)
	plain := &plainLSTM{&sequence.LSTM{In: stackBits + 2, Hidden: 64}, &layers.Linear{In: 64, Out: stackBits}}
	plain.LSTM.Init(s.rng("LSTM"))
	plain.Answer.Init(s.rng("answer"))
	exact := map[string]map[string]float64{}
	losses := &picture.Chart{Title: "loss", X: picture.Axis{Label: "epoch", Whole: true}}
	for i, m := range []struct {
		name string
		net  bitReader
		task bitTask
	}{{"stack, reversing", stack, reversedBits}, {"LSTM alone, reversing", plain, reversedBits}, {"queue, copying", queue, copiedBits}} {
		s.print("%s\n", m.name)
		l := s.onBits(m.net, 20, 1, 8, &train.Adam{LR: 3e-3}, m.task)
		l.every = 5
		if err := l.run(); err != nil {
			return err
		}
		at := map[string]float64{}
		for _, n := range []int{8, 16, 20} {
			at[fmt.Sprint(n)] = marksOf(m.net, m.task(100, n, n, s.stream("test", 1))).exact
		}
		s.print("wholly right: %.0f %% of eight rows, %.0f %% of sixteen, %.0f %% of twenty\n", 100*at["8"], 100*at["16"], 100*at["20"])
		exact[m.name] = at
		losses.Series = append(losses.Series, curve(m.name, i, l.losses))
	}
	s.result(map[string]any{"exact": exact})
	return s.showStacks(stack, queue, losses)
}

// stackMachine returns an LSTM with a stack or a queue.
func (s *Stage) stackMachine(part string, queue bool) *memory.StackMachine {
	n := &memory.StackMachine{In: stackBits + 2, Out: stackBits, Hidden: 64, Stack: memory.StackMemory{Width: 16, Slots: stackSlots, Queue: queue}}
	n.Init(s.rng(part))
	return n
}

func reversedBits(count, lo, hi int, seed uint64) text.Bits {
	return text.Task{Count: count, Min: lo, Max: hi, Symbols: stackBits, Seed: seed}.ReverseBits()
}

func copiedBits(count, lo, hi int, seed uint64) text.Bits {
	return text.Task{Count: count, Min: lo, Max: hi, Symbols: stackBits, Seed: seed}.CopyBits()
}

// showStacks shows what is in both memories as twelve rows are heard and said.
func (s *Stage) showStacks(stack, queue *memory.StackMachine, losses picture.Panel) error {
	var rows [][]picture.Panel
	for _, m := range []struct {
		title string
		net   *memory.StackMachine
		task  bitTask
	}{{"what is on the stack", stack, reversedBits}, {"what is in the queue", queue, copiedBits}} {
		b := m.task(1, 12, 12, s.stream("shown", 0))
		_, states := m.net.ForwardFrom(grad.NewEval(), b.Graph(), grad.Const(b.X), nil)
		steps := b.X.Rows()
		heat := &picture.Heat{Title: m.title + ": each push is a line, strong where it is dark", Across: "steps", Down: "pushes", Values: make([][]float64, steps), Top: 1}
		for push := range steps {
			heat.Values[push] = make([]float64, steps)
			for step := push; step < steps; step++ { // the newest stands first
				heat.Values[push][step] = float64(states[1].Value().Row(step)[step-push])
			}
		}
		s.print("\n")
		s.heat(heat)
		rows = append(rows, []picture.Panel{heat})
	}
	if err := s.draw(append(rows, []picture.Panel{losses})...); err != nil {
		return err
	}
	return s.keep(stack)
}

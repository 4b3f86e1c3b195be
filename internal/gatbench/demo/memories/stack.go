package memories

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// Stack has an LSTM say rows of bits from the last to the first, with a stack and without,
// and another repeat them with a queue.
var Stack = stage.Demo{Name: "stack", About: "rows of bits said backwards, by an LSTM with a stack and by one without; facts in a set and in a tree", Aside: []string{"LSTM alone, reversing", "LSTM alone", "looked"}, Seconds: 9, Act: stacks{}, Next: "--memory tree"}

// stacks are the flags of Stack.
type stacks struct {
	Memory string `enum:"stack,set,tree" default:"stack" placeholder:"NAME" help:"What the memory is organised as: stack shows a stack and a queue, set facts that have no order, tree facts that are found from branch to branch. Default: stack."`
}

// Run shows one of the memories.
func (f stacks) Run(s *stage.Stage) error {
	if f.Memory == "stack" {
		return runStack(s)
	}
	return showFacts(s, f.Memory == "tree")
}

const stackBits, stackSlots = 4, 48

// A stack, or a queue, that has not learnt begins anew.
const (
	stackTries = 5
	stackLoss  = 5e-3 // of a bit of unseen rows, twice as many as it learns from, by one that has
)

// plainLSTM is an LSTM without a memory beside its own state.
type plainLSTM struct {
	LSTM   *sequence.LSTM
	Answer *layers.Linear
}

func (n *plainLSTM) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return n.Answer.Forward(t, n.LSTM.Forward(t, g, x))
}

func runStack(s *stage.Stage) error {
	s.Say("An LSTM of 64 units reads one to eight rows of %d bits and has to give them from the last to the first. One network has a stack to push to and pop from; the second has only its own state. A third has a queue, and gives the rows in their order. Then all are tested on longer inputs than they were trained on.", stackBits)
	exact, validation, tries := map[string]map[string]float64{}, map[string]float64{}, map[string]int{}
	var loops []*stage.Training
	learnt := map[string]bitReader{}
	for _, m := range []struct {
		name  string
		task  bitTask
		tries int
		net   func(s *stage.Stage) bitReader
	}{
		{"stack, reversing", reversedBits, stackTries, func(s *stage.Stage) bitReader { return stackMachine(s, false) }},
		{"LSTM alone, reversing", reversedBits, 1, newPlainLSTM},
		{"queue, copying", copiedBits, stackTries, func(s *stage.Stage) bitReader { return stackMachine(s, true) }},
	} {
		s.Print("%s\n", m.name)
		best, err := bestOnBits(s, m.tries, stackLoss, m.task(s.Count(100), 16, 16, s.Stream("validation", 0)), func(s *stage.Stage) (bitReader, *stage.Training) {
			net := m.net(s)
			l := onBits(s, net, 20, 1, 8, m.task)
			l.Name, l.Optimiser, l.Every = m.name, &train.Adam{LR: 3e-3}, 5
			return net, l
		})
		if err != nil {
			return err
		}
		at := map[string]float64{}
		for _, n := range []int{8, 16, 20} {
			at[fmt.Sprint(n)] = marksOf(best.Net, m.task(s.Count(100), n, n, s.Stream("test", 1))).exact
		}
		s.Print("wholly right: %.0f %% of eight rows, %.0f %% of sixteen, %.0f %% of twenty: it %s\n", 100*at["8"], 100*at["16"], 100*at["20"], stackVerdict(at))
		exact[m.name], validation[m.name], tries[m.name], learnt[m.name] = at, best.Cost, best.Try, best.Net
		loops = append(loops, best.How)
	}
	s.Result(map[string]any{"exact": exact, "validation_loss": validation, "try": tries})
	return showStacks(s, learnt["stack, reversing"].(*memory.StackMachine), learnt["queue, copying"].(*memory.StackMachine), stage.LossPanel(loops...))
}

// stackVerdict says what shares of rows that are wholly right mean, by how many rows they have.
func stackVerdict(at map[string]float64) string {
	if at["8"] < 0.9 || at["16"] >= 0.9 {
		return stage.Verdict(min(at["8"], at["16"]))
	}
	return "has learnt it for as many rows as it heard, and no more"
}

// stackMachine returns an LSTM with a stack or a queue.
func stackMachine(s *stage.Stage, queue bool) *memory.StackMachine {
	n := &memory.StackMachine{In: stackBits + 2, Out: stackBits, Hidden: 64, Stack: memory.StackMemory{Width: 16, Slots: stackSlots, Queue: queue}}
	n.Init(s.RNG("weights"))
	return n
}

func newPlainLSTM(s *stage.Stage) bitReader {
	n := &plainLSTM{&sequence.LSTM{In: stackBits + 2, Hidden: 64}, &layers.Linear{In: 64, Out: stackBits}}
	rng := s.RNG("weights")
	n.LSTM.Init(rng)
	n.Answer.Init(rng)
	return n
}

func reversedBits(count, lo, hi int, seed uint64) text.Bits {
	return text.Task{Count: count, Min: lo, Max: hi, Symbols: stackBits, Seed: seed}.ReverseBits()
}

func copiedBits(count, lo, hi int, seed uint64) text.Bits {
	return text.Task{Count: count, Min: lo, Max: hi, Symbols: stackBits, Seed: seed}.CopyBits()
}

// showStacks shows what is in both memories as twelve rows are heard and said.
func showStacks(s *stage.Stage, stack, queue *memory.StackMachine, losses picture.Panel) error {
	var rows [][]picture.Panel
	for _, m := range []struct {
		title string
		net   *memory.StackMachine
		task  bitTask
	}{{"what is on the stack", stack, reversedBits}, {"what is in the queue", queue, copiedBits}} {
		b := m.task(1, 12, 12, s.Stream("shown", 0))
		_, states := m.net.ForwardFrom(grad.NewEval(), b.Graph(), grad.Const(b.X), nil)
		steps := b.X.Rows()
		heat := &picture.Heat{Title: m.title + ": each push is a line, dark where it is strong", Across: "steps", Down: "pushes", Values: make([][]float64, steps), Top: 1}
		for push := range steps {
			heat.Values[push] = make([]float64, steps)
			for step := push; step < steps; step++ { // the newest stands first
				heat.Values[push][step] = float64(states[1].Value().Row(step)[step-push])
			}
		}
		s.Print("\n")
		s.Heat(heat)
		rows = append(rows, []picture.Panel{heat})
	}
	s.Draw(append(rows, []picture.Panel{losses})...)
	return s.Keep(stack)
}

package memories

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// bitReader is a network that reads rows of bits and answers with logits of bits.
type bitReader interface {
	Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
}

// bitTask makes so many sequences of lengths from lo to hi.
type bitTask func(count, lo, hi int, seed uint64) text.Bits

// onBits trains a network on sequences that are new at every step: a batch of 16, the loss of
// the bits that are asked for and of no others. It is scored by unseen sequences of the largest
// length it learns from. The optimiser is the caller's to set.
func onBits(s *stage.Stage, net bitReader, epochs, lo, hi int, task bitTask) *stage.Training {
	const batch = 16
	test := task(s.Count(100), hi, hi, s.Stream("test", 0))
	return &stage.Training{
		Stage: s, Clip: 10, Epochs: s.EpochsOr(epochs),
		Loss: func(t *grad.Tape, _ []int32) *grad.Var {
			b := task(batch, lo, hi, s.Stream("steps", t.Step()))
			return net.Forward(t, b.Graph(), t.Input(b.X)).Rows(b.At).BCE(grad.Const(b.Answer))
		},
		Score: func() (float64, error) { return marksOf(net, test).wrong, nil }, ScoreName: "wrong_bits",
	}
}

// bestOnBits trains a network up to so many times, until the loss of sequences that it does not
// learn from, and that are not the test's, is no more than enough.
func bestOnBits[M bitReader](s *stage.Stage, tries int, enough float64, validation text.Bits, fit func(s *stage.Stage) (M, *stage.Training)) (stage.Learnt[M], error) {
	return stage.BestOf(s, tries, enough, func(s *stage.Stage) (stage.Learnt[M], error) {
		net, l := fit(s)
		if err := l.Run(); err != nil {
			return stage.Learnt[M]{}, err
		}
		y := net.Forward(grad.NewEval(), validation.Graph(), grad.Const(validation.X)).Rows(validation.At)
		return stage.Learnt[M]{Net: net, How: l, Cost: float64(y.BCE(grad.Const(validation.Answer)).Value().Data[0])}, nil
	})
}

// beginTogether has all heads begin at the first slot: they need not find each other.
func beginTogether(net *memory.NTM) {
	for h := range net.StartAt.Value.Rows() {
		clear(net.StartAt.Value.Row(h))
		net.StartAt.Value.Row(h)[0] = 5
	}
}

// ntmOptimiser is that of demos of the Turing machine, for so many steps.
func ntmOptimiser(steps int) *train.RMSprop {
	return &train.RMSprop{LR: 1e-3, Alpha: 0.95, Momentum: 0.9, Schedule: finer(steps)}
}

// bitMarks are how good answers are.
type bitMarks struct {
	wrong float64 // bits a sequence
	exact float64 // share of the sequences whose bits are all right
}

// marksOf compares a network's answers with the right ones.
func marksOf(net bitReader, b text.Bits) bitMarks {
	y := net.Forward(grad.NewEval(), b.Graph(), grad.Const(b.X)).Rows(b.At).Value()
	bits, right, n := 0, 0, float64(max(1, b.Len()))
	for i := range b.Len() {
		wrong := 0
		lo, hi := b.Sequence(i)
		for r := lo; r < hi; r++ {
			for j, v := range b.Answer.Row(r) {
				if (y.Row(r)[j] > 0) != (v > 0.5) {
					wrong++
				}
			}
		}
		if bits += wrong; wrong == 0 {
			right++
		}
	}
	return bitMarks{float64(bits) / n, float64(right) / n}
}

// bitPanels show a sequence and what a machine makes of it, a column a step: the input, the
// answer beside what is said, and where the heads are.
func bitPanels(net *memory.NTM, b text.Bits) []*picture.Heat {
	y, s := net.ForwardFrom(grad.NewEval(), b.Graph(), grad.Const(b.X), nil)
	steps := b.X.Rows()
	in := &picture.Heat{Title: "what it reads: bits, and two flags", Across: "steps", Values: columnsOf(b.X, 0, b.X.RowLen()), Top: 1}
	want, said := tensor.New(steps, b.Answer.RowLen()), tensor.New(steps, b.Answer.RowLen())
	for k, r := range b.At {
		copy(want.Row(int(r)), b.Answer.Row(k))
		copy(said.Row(int(r)), y.Sigmoid().Value().Row(int(r)))
	}
	return append([]*picture.Heat{
		in, {Title: "what is to be said", Across: "steps", Values: columnsOf(want, 0, want.RowLen()), Top: 1},
		{Title: "what it says", Across: "steps", Values: columnsOf(said, 0, said.RowLen()), Top: 1},
	}, headPanels(net, s)...)
}

// headPanels show where each head is at each step of one sequence, a row a slot.
func headPanels(net *memory.NTM, s message.State) []*picture.Heat {
	at := s[1].Value()
	var out []*picture.Heat
	for h := range at.RowLen() / net.Slots {
		title := fmt.Sprintf("where it reads, head %d", h-max(1, net.Writes)+1)
		if h < max(1, net.Writes) {
			title = fmt.Sprintf("where it writes, head %d", h+1)
		}
		out = append(out, &picture.Heat{Title: title, Across: "steps", Down: "slots", Values: columnsOf(at, h*net.Slots, (h+1)*net.Slots), Top: 1})
	}
	return out
}

// columnsOf are columns lo to hi of x as rows.
func columnsOf(x *tensor.Dense, lo, hi int) [][]float64 {
	out := make([][]float64, hi-lo)
	for j := range out {
		for r := range x.Rows() {
			out[j] = append(out[j], float64(x.Row(r)[lo+j]))
		}
	}
	return out
}

// showHeads prints where the heads of the machine are and draws it all, with the losses.
func showHeads(s *stage.Stage, net *memory.NTM, b text.Bits, l *stage.Training) {
	panels := bitPanels(net, b)
	for _, h := range panels[3:] {
		s.Print("\n")
		s.Heat(h)
	}
	rows := [][]picture.Panel{{panels[0], panels[1], panels[2]}, nil}
	for _, h := range panels[3:] {
		rows[1] = append(rows[1], h)
	}
	s.Draw(append(rows, []picture.Panel{stage.LossPanel(l)})...)
}

// finer is a third of the rate in the last third of the steps. The heads find their way early;
// each step of a long sequence that they then take not quite sharply blurs those after it.
func finer(steps int) train.Schedule {
	return train.ScheduleFunc(func(step int) float64 {
		if 10*step > 7*steps {
			return 0.3
		}
		return 1
	})
}

package demo

import (
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/train"
)

// copying has a neural Turing machine say rows of bits again. Its controller has no memory of
// its own: all that it knows is on the tape.
var copying = Demo{Name: "copy", About: "rows of bits said again, by a neural Turing machine; where it writes and reads", Run: runCopy,
	Targets: []string{"20", "8"}}

// A tape has a slot for each of forty rows and for the flags: where it goes round, the end of a
// sequence is written over its beginning.
const (
	copyBits  = 4
	copySlots = 64
)

func runCopy(s *Stage) error {
	longest := 20
	if s.Target == "8" {
		longest = 8
	}
	s.say("A feed-forward network of 64 units writes and reads a memory of %d slots. It hears one to %d rows of %d bits and says them again; then it is given longer ones than it ever heard.", copySlots, longest, copyBits)
	net := &memory.NTM{In: copyBits + 2, Out: copyBits, Controller: memory.FeedForwardController, Hidden: 64, Slots: copySlots, Width: 16}
	net.Init(s.rng("weights"))
	for h := range net.StartAt.Value.Rows() { // both heads begin at the first slot, and need not find each other
		clear(net.StartAt.Value.Row(h))
		net.StartAt.Value.Row(h)[0] = 5
	}
	task := func(count, lo, hi int, seed uint64) text.Bits {
		return text.Task{Count: count, Min: lo, Max: hi, Symbols: copyBits, Seed: seed}.CopyBits()
	}
	opt := ntmOptimiser()
	l := s.onBits(net, 20, 1, longest, opt, task)
	opt.Schedule = finer(l.epochs * len(l.batches(0)))
	if err := l.run(); err != nil {
		return err
	}
	exact := map[string]float64{}
	for _, c := range []struct {
		name   string
		length int
	}{{"8", 8}, {"16", 16}, {"20", 20}, {"32", 32}, {"40", 40}} {
		exact[c.name] = marksOf(net, task(100, c.length, c.length, s.stream("test", 1))).exact
	}
	wrong := l.scores[len(l.scores)-1]
	s.result(map[string]any{"wrong_bits": wrong, "exact": exact})
	s.say("Of %d rows %.3f bits are wrong. Wholly right: %.0f %% of eight rows, %.0f %% of sixteen, %.0f %% of twenty, %.0f %% of thirty-two, %.0f %% of forty.",
		longest, wrong, 100*exact["8"], 100*exact["16"], 100*exact["20"], 100*exact["32"], 100*exact["40"])
	s.say("Below, sixteen rows: a line is a slot, a column a step. It writes one slot after the other, goes back to the first, and reads them in order.")
	if err := s.showHeads(net, task(1, 16, 16, s.stream("shown", 0)), l); err != nil {
		return err
	}
	return s.keep(net)
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

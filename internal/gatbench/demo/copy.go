package demo

import (
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/train"
)

// copying has a neural Turing machine say rows of bits again. Its controller has no memory of
// its own: all that it knows is on the tape.
var copying = Demo{Name: "copy", About: "rows of bits said again, by a neural Turing machine; where it writes and reads", Seconds: 19, Run: runCopy,
	Targets: []string{"20", "8"}}

// A tape has a slot for each of forty rows and for the flags: where it goes round, the end of a
// sequence is written over its beginning.
const (
	copyBits  = 4
	copySlots = 64

	copyTries = 3    // of a network that has not learnt
	copyLoss  = 1e-3 // of a bit of unseen rows, more than it learns from, by one that has
)

func runCopy(s *Stage) error {
	longest := 20
	if s.Target == "8" {
		longest = 8
	}
	s.say("A feed-forward network of 64 units writes and reads a memory of %d slots. It reads one to %d rows of %d bits and repeats them. Then it is tested on longer inputs than it was trained on.", copySlots, longest, copyBits)
	task := func(count, lo, hi int, seed uint64) text.Bits {
		return text.Task{Count: count, Min: lo, Max: hi, Symbols: copyBits, Seed: seed}.CopyBits()
	}
	best, err := bestOnBits(s, copyTries, copyLoss, task(len(s.few(100)), min(3*longest, 40), min(3*longest, 40), s.stream("validation", 0)), func(s *Stage) (*memory.NTM, *training) {
		net := &memory.NTM{In: copyBits + 2, Out: copyBits, Controller: memory.FeedForwardController, Hidden: 64, Slots: copySlots, Width: 16}
		net.Init(s.rng("weights"))
		beginTogether(net)
		opt := ntmOptimiser()
		l := s.onBits(net, 20, 1, longest, opt, task)
		opt.Schedule = finer(l.epochs * s.steps())
		return net, l
	})
	if err != nil {
		return err
	}
	net, l := best.net, best.how
	exact := map[string]float64{}
	for _, c := range []struct {
		name   string
		length int
	}{{"8", 8}, {"16", 16}, {"20", 20}, {"32", 32}, {"40", 40}} {
		exact[c.name] = marksOf(net, task(100, c.length, c.length, s.stream("test", 1))).exact
	}
	wrong := l.scores[len(l.scores)-1]
	s.result(map[string]any{"wrong_bits": wrong, "exact": exact, "validation_loss": best.cost, "try": best.try})
	s.say("With %d rows, %.3f bits are wrong. Completely right: %.0f %% of eight rows, %.0f %% of sixteen, %.0f %% of twenty, %.0f %% of thirty-two, %.0f %% of forty.",
		longest, wrong, 100*exact["8"], 100*exact["16"], 100*exact["20"], 100*exact["32"], 100*exact["40"])
	words := "Below are sixteen rows; each line is a slot, each column a step."
	if exact["16"] >= 0.9 {
		words += " It writes one slot after the other, goes back to the first, and reads them in order."
	}
	s.say("It %s%s. %s", verdict(1-wrong), farther(exact), words)
	if err := s.showHeads(net, task(1, 16, 16, s.stream("shown", 0)), l); err != nil {
		return err
	}
	return s.keep(net)
}

// farther says how far a machine that copies what it learnt from goes on doing so.
func farther(exact map[string]float64) string {
	if exact["8"] < 0.9 {
		return ""
	}
	for _, n := range []string{"40", "32", "20", "16", "8"} {
		if exact[n] >= 0.9 {
			return ", and says at least nine in ten of " + n + " rows right"
		}
	}
	return ""
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

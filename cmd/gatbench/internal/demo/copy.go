package demo

import (
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/layers/memory"
)

// copying has a neural Turing machine say rows of bits again. Its controller has no memory of
// its own: all that it knows is on the tape.
var copying = Demo{Name: "copy", About: "rows of bits said again, by a neural Turing machine; where it writes and reads", Run: runCopy}

const copyBits = 4

func runCopy(s *Stage) error {
	s.say("A feed-forward network of 64 units writes and reads a memory of 40 slots. It hears one to eight rows of %d bits and says them again; then it is given longer ones than it ever heard.", copyBits)
	net := &memory.NTM{In: copyBits + 2, Out: copyBits, Controller: memory.FeedForwardController, Hidden: 64, Slots: 40, Width: 16}
	net.Init(s.rng(1))
	for h := range net.StartAt.Value.Rows() { // both heads begin at the first slot, and need not find each other
		clear(net.StartAt.Value.Row(h))
		net.StartAt.Value.Row(h)[0] = 5
	}
	task := func(count, lo, hi int, seed uint64) text.Bits {
		return text.Task{Count: count, Min: lo, Max: hi, Symbols: copyBits, Seed: seed}.CopyBits()
	}
	l := s.onBits(net, 20, 1, 8, ntmOptimiser(), task)
	if err := l.run(); err != nil {
		return err
	}
	exact := map[string]float64{}
	for _, c := range []struct {
		name   string
		length int
	}{{"8", 8}, {"16", 16}, {"20", 20}, {"32", 32}, {"40", 40}} {
		exact[c.name] = marksOf(net, task(100, c.length, c.length, s.Seed+2<<32)).exact
	}
	wrong := l.scores[len(l.scores)-1]
	s.result(map[string]any{"wrong_bits": wrong, "exact": exact})
	s.say("Of eight rows %.3f bits are wrong. Wholly right: %.0f %% of eight rows, %.0f %% of sixteen, %.0f %% of twenty, %.0f %% of thirty-two, %.0f %% of forty.",
		wrong, 100*exact["8"], 100*exact["16"], 100*exact["20"], 100*exact["32"], 100*exact["40"])
	s.say("Below, sixteen rows: a line is a slot, a column a step. It writes one slot after the other, goes back to the first, and reads them in order.")
	if err := s.showHeads(net, task(1, 16, 16, s.Seed+3<<32), l); err != nil {
		return err
	}
	return s.keep(net)
}

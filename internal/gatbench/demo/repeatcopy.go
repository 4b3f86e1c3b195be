package demo

import (
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/layers/memory"
)

// repeating has a neural Turing machine say rows of bits as often as it is told to.
var repeating = Demo{Name: "repeat-copy", About: "rows of bits said several times, by a neural Turing machine: a loop over its tape", Seconds: 22, Run: runRepeatCopy}

const repeatBits = 4

// A network that has not learnt begins anew.
const (
	repeatTries = 4
	repeatLoss  = 1e-2 // of a bit of sequences drawn apart, by one that has
)

func runRepeatCopy(s *Stage) error {
	s.say("An LSTM of 64 units with a memory of 30 slots reads one to five rows of %d bits and a number from one to five. It has to repeat the rows that often, and then signal the end. It is tested on more rows and more repetitions.", repeatBits)
	task := func(times int) bitTask {
		return func(count, lo, hi int, seed uint64) text.Bits {
			return text.Task{Count: count, Min: lo, Max: hi, Symbols: repeatBits, Seed: seed}.RepeatBits(1, times)
		}
	}
	best, err := bestOnBits(s, repeatTries, repeatLoss, task(5)(len(s.few(100)), 1, 5, s.stream("validation", 0)), func(s *Stage) (*memory.NTM, *training) {
		net := &memory.NTM{In: repeatBits + 2, Out: repeatBits + 1, Hidden: 64, Slots: 30, Width: 16}
		net.Init(s.rng("weights"))
		beginTogether(net)
		opt := ntmOptimiser()
		l := s.onBits(net, 60, 1, 5, opt, task(5))
		opt.Schedule = finer(l.epochs * s.steps())
		l.every = 5
		return net, l
	})
	if err != nil {
		return err
	}
	net, l := best.net, best.how
	few := len(s.few(100))
	exact := map[string]float64{
		"rows_5_times_5": marksOf(net, text.Task{Count: few, Min: 5, Symbols: repeatBits, Seed: s.stream("test", 1)}.RepeatBits(5, 5)).exact,
		"rows_8_times_5": marksOf(net, text.Task{Count: few, Min: 8, Symbols: repeatBits, Seed: s.stream("test", 1)}.RepeatBits(5, 5)).exact,
		"rows_5_times_8": marksOf(net, text.Task{Count: few, Min: 5, Symbols: repeatBits, Seed: s.stream("test", 1)}.RepeatBits(8, 8)).exact,
	}
	wrong := l.scores[len(l.scores)-1]
	s.result(map[string]any{"wrong_bits": wrong, "exact": exact, "validation_loss": best.cost, "try": best.try})
	s.say("With five rows repeated one to five times, %.3f bits are wrong. Completely right: %.0f %% of five rows five times, %.0f %% of eight rows five times, %.0f %% of five rows eight times.",
		wrong, 100*exact["rows_5_times_5"], 100*exact["rows_8_times_5"], 100*exact["rows_5_times_8"])
	words := ""
	if exact["rows_5_times_5"] >= 0.9 {
		words = " Where it reads goes back to the first slot after the last."
	}
	s.say("It %s. Below are five rows, repeated four times; each line is a slot, each column a step.%s", verdict(exact["rows_5_times_5"]), words)
	one := text.Task{Count: 1, Min: 5, Symbols: repeatBits, Seed: s.stream("shown", 0)}.RepeatBits(4, 4)
	if err := s.showHeads(net, one, l); err != nil {
		return err
	}
	return s.keep(net)
}

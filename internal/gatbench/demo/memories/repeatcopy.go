package memories

import (
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/layers/memory"
)

// RepeatCopy has a neural Turing machine say rows of bits as often as it is told to.
var RepeatCopy = stage.Demo{Name: "repeat-copy", About: "rows of bits said several times, by a neural Turing machine: a loop over its tape", Seconds: 22, Act: stage.Func(runRepeatCopy)}

const repeatBits = 4

// A network that has not learnt begins anew.
const (
	repeatTries = 4
	repeatLoss  = 1e-2 // of a bit of sequences drawn apart, by one that has
)

func runRepeatCopy(s *stage.Stage) error {
	s.Say("An LSTM of 64 units with a memory of 30 slots reads one to five rows of %d bits and a number from one to five. It has to repeat the rows that often, and then signal the end. It is tested on more rows and more repetitions.", repeatBits)
	task := func(times int) bitTask {
		return func(count, lo, hi int, seed uint64) text.Bits {
			return text.Task{Count: count, Min: lo, Max: hi, Symbols: repeatBits, Seed: seed}.RepeatBits(1, times)
		}
	}
	best, err := bestOnBits(s, repeatTries, repeatLoss, task(5)(s.Count(100), 1, 5, s.Stream("validation", 0)), func(s *stage.Stage) (*memory.NTM, *stage.Training) {
		net := &memory.NTM{In: repeatBits + 2, Out: repeatBits + 1, Hidden: 64, Slots: 30, Width: 16}
		net.Init(s.RNG("weights"))
		beginTogether(net)
		l := onBits(s, net, 60, 1, 5, task(5))
		l.Optimiser, l.Every = ntmOptimiser(l.Epochs*s.Steps()), 5
		return net, l
	})
	if err != nil {
		return err
	}
	net, l := best.Net, best.How
	few := s.Count(100)
	exact := map[string]float64{
		"rows_5_times_5": marksOf(net, text.Task{Count: few, Min: 5, Symbols: repeatBits, Seed: s.Stream("test", 1)}.RepeatBits(5, 5)).exact,
		"rows_8_times_5": marksOf(net, text.Task{Count: few, Min: 8, Symbols: repeatBits, Seed: s.Stream("test", 1)}.RepeatBits(5, 5)).exact,
		"rows_5_times_8": marksOf(net, text.Task{Count: few, Min: 5, Symbols: repeatBits, Seed: s.Stream("test", 1)}.RepeatBits(8, 8)).exact,
	}
	wrong := stage.Last(l.Scores)
	s.Result(map[string]any{"wrong_bits": wrong, "exact": exact, "validation_loss": best.Cost, "try": best.Try})
	s.Say("With five rows repeated one to five times, %.3f bits are wrong. Completely right: %.0f %% of five rows five times, %.0f %% of eight rows five times, %.0f %% of five rows eight times.",
		wrong, 100*exact["rows_5_times_5"], 100*exact["rows_8_times_5"], 100*exact["rows_5_times_8"])
	words := ""
	if exact["rows_5_times_5"] >= 0.9 {
		words = " Where it reads goes back to the first slot after the last."
	}
	s.Say("It %s. Below are five rows, repeated four times; each line is a slot, each column a step.%s", stage.Verdict(exact["rows_5_times_5"]), words)
	one := text.Task{Count: 1, Min: 5, Symbols: repeatBits, Seed: s.Stream("shown", 0)}.RepeatBits(4, 4)
	showHeads(s, net, one, l)
	return s.Keep(net)
}

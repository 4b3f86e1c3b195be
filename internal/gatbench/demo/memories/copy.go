package memories

import (
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/layers/memory"
)

// Copy has a neural Turing machine say rows of bits again. Its controller has no memory of
// its own: all that it knows is on the tape.
var Copy = stage.Demo{Name: "copy", About: "rows of bits said again, by a neural Turing machine; where it writes and reads", Seconds: 19, Act: copying{}, Next: "--target 8"}

// copying are the flags of Copy.
type copying struct {
	Target int `default:"20" enum:"20,8" placeholder:"N" help:"Learn from sequences of up to 20 rows (the default) or 8."`
}

// A tape has a slot for each of forty rows and for the flags: where it goes round, the end of a
// sequence is written over its beginning.
const (
	copyBits  = 4
	copySlots = 64

	copyTries = 3    // of a network that has not learnt
	copyLoss  = 1e-3 // of a bit of unseen rows, more than it learns from, by one that has
)

// Run trains the machine and shows where it writes and reads.
func (f copying) Run(s *stage.Stage) error {
	longest := f.Target
	s.Say("A feed-forward network of 64 units writes and reads a memory of %d slots. It reads one to %d rows of %d bits and repeats them. Then it is tested on longer inputs than it was trained on.", copySlots, longest, copyBits)
	task := func(count, lo, hi int, seed uint64) text.Bits {
		return text.Task{Count: count, Min: lo, Max: hi, Symbols: copyBits, Seed: seed}.CopyBits()
	}
	best, err := bestOnBits(s, copyTries, copyLoss, task(s.Count(100), min(3*longest, 40), min(3*longest, 40), s.Stream("validation", 0)), func(s *stage.Stage) (*memory.NTM, *stage.Training) {
		net := &memory.NTM{In: copyBits + 2, Out: copyBits, Controller: memory.FeedForwardController, Hidden: 64, Slots: copySlots, Width: 16}
		net.Init(s.RNG("weights"))
		beginTogether(net)
		l := onBits(s, net, 20, 1, longest, task)
		l.Optimiser = ntmOptimiser(l.Epochs * s.Steps())
		return net, l
	})
	if err != nil {
		return err
	}
	net, l := best.Net, best.How
	exact := map[string]float64{}
	for _, c := range []struct {
		name   string
		length int
	}{{"8", 8}, {"16", 16}, {"20", 20}, {"32", 32}, {"40", 40}} {
		exact[c.name] = marksOf(net, task(100, c.length, c.length, s.Stream("test", 1))).exact
	}
	wrong := stage.Last(l.Scores)
	s.Result(map[string]any{"wrong_bits": wrong, "exact": exact, "validation_loss": best.Cost, "try": best.Try})
	s.Say("With %d rows, %.3f bits are wrong. Completely right: %.0f %% of eight rows, %.0f %% of sixteen, %.0f %% of twenty, %.0f %% of thirty-two, %.0f %% of forty.",
		longest, wrong, 100*exact["8"], 100*exact["16"], 100*exact["20"], 100*exact["32"], 100*exact["40"])
	words := "Below are sixteen rows; each line is a slot, each column a step."
	if exact["16"] >= 0.9 {
		words += " It writes one slot after the other, goes back to the first, and reads them in order."
	}
	s.Say("It %s%s. %s", stage.Verdict(1-wrong), farther(exact), words)
	showHeads(s, net, task(1, 16, 16, s.Stream("shown", 0)), l)
	return s.Keep(net)
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

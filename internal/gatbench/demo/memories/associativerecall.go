package memories

import (
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/train"
)

// AssociativeRecall has a neural Turing machine say what followed an item that it is shown again.
var AssociativeRecall = stage.Demo{Name: "associative-recall", About: "the item that followed another in a list, by a neural Turing machine that looks it up", Seconds: 70, Act: stage.Func(runAssociativeRecall)}

const itemBits = 6

// The loss stays above 0.5 for some two thousand steps, until the machine finds that it can look
// items up. Most trainings do not find it, eleven of fifteen: then another begins.
const (
	associatingTries = 5
	associatingLoss  = 0.3 // of unseen lists, by one that did
)

func runAssociativeRecall(s *stage.Stage) error {
	s.Say("An LSTM of 100 units with a memory of 48 slots reads a list of two to six items, each of three rows of %d bits, and then one of these items again. It has to give the next item in the list. It is tested on longer lists.", itemBits)
	task := func(count, lo, hi int, seed uint64) text.Bits {
		return text.Task{Count: count, Min: lo, Max: hi, Symbols: itemBits, Seed: seed}.AssociateBits()
	}
	best, err := bestOnBits(s, associatingTries, associatingLoss, task(s.Count(100), 2, 6, s.Stream("validation", 0)), func(s *stage.Stage) (*memory.NTM, *stage.Training) {
		net := &memory.NTM{In: itemBits + 2, Out: itemBits, Hidden: 100, Slots: 48, Width: 20}
		net.Init(s.RNG("weights"))
		l := onBits(s, net, 35, 2, 6, task)
		l.Optimiser, l.Every = &train.Adam{LR: 1e-3}, 5
		return net, l
	})
	if err != nil {
		return err
	}
	net, l := best.Net, best.How
	exact := map[string]float64{
		"6":  marksOf(net, task(100, 6, 6, s.Stream("test", 1))).exact,
		"10": marksOf(net, task(100, 10, 10, s.Stream("test", 1))).exact,
	}
	wrong := stage.Last(l.Scores)
	s.Result(map[string]any{"wrong_bits": wrong, "exact": exact, "validation_loss": best.Cost, "try": best.Try})
	s.Say("With lists of six, %.3f of %d bits are wrong. Completely right: %.0f %% of lists of six, %.0f %% of lists of ten.", wrong, 3*itemBits, 100*exact["6"], 100*exact["10"])
	words := ""
	if exact["6"] >= 0.9 {
		words = " When it is shown an item it goes to where that is written, and reads on from there."
	}
	s.Say("It %s. Below is a list of five; each line is a slot, each column a step.%s", stage.Verdict(exact["6"]), words)
	showHeads(s, net, task(1, 5, 5, s.Stream("shown", 0)), l)
	return s.Keep(net)
}

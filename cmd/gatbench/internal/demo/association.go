package demo

import (
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/train"
)

// associating has a neural Turing machine say what followed an item that it is shown again.
var associating = Demo{Name: "associative-recall", About: "the item that followed another in a list, by a neural Turing machine that looks it up", Run: runAssociativeRecall}

const itemBits = 6

// The loss stays above 0.5 for some twenty epochs, until the machine finds that it can look
// items up. One training in a few does not: then another begins.
const (
	associatingTries = 3
	associatingLoss  = 0.3 // of the last epoch of one that did
)

func runAssociativeRecall(s *Stage) error {
	s.say("An LSTM of 100 units with a memory of 48 slots hears a list of two to six items, each three rows of %d bits, and then one of them again: it says the next one of the list. It is tried on longer lists.", itemBits)
	net := &memory.NTM{In: itemBits + 2, Out: itemBits, Hidden: 100, Slots: 48, Width: 20}
	task := func(count, lo, hi int, seed uint64) text.Bits {
		return text.Task{Count: count, Min: lo, Max: hi, Symbols: itemBits, Seed: seed}.AssociateBits()
	}
	var l *training
	tries := associatingTries
	if s.Epochs > 0 { // as long as was asked for, and no longer
		tries = 1
	}
	for try := range tries {
		net.Init(s.rng(uint64(1 + try)))
		l = s.onBits(net, 35, 2, 6, &train.Adam{LR: 1e-3}, task)
		l.every = 5
		if err := l.run(); err != nil {
			return err
		}
		if l.losses[len(l.losses)-1] < associatingLoss || try+1 == tries {
			break
		}
		s.print("it has not found the way; again, with other first weights\n")
	}
	exact := map[string]float64{
		"6":  marksOf(net, task(100, 6, 6, s.Seed+2<<32)).exact,
		"10": marksOf(net, task(100, 10, 10, s.Seed+2<<32)).exact,
	}
	wrong := l.scores[len(l.scores)-1]
	s.result(map[string]any{"wrong_bits": wrong, "exact": exact})
	s.say("Of lists of six %.3f bits are wrong, of %d. Wholly right: %.0f %% of lists of six, %.0f %% of lists of ten.", wrong, 3*itemBits, 100*exact["6"], 100*exact["10"])
	s.say("Below, a list of five: a line is a slot, a column a step. When it is shown an item it goes to where that is written, and reads on from there.")
	if err := s.showHeads(net, task(1, 5, 5, s.Seed+3<<32), l); err != nil {
		return err
	}
	return s.keep(net)
}

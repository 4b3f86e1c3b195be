package decode

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Beam keeps the likeliest few hypotheses of each sentence.
//
// A step takes the first hypotheses of all that the live ones lead to, by their
// log-probabilities; of equal ones those of the likelier hypothesis, then of the
// lower token. One that ends leaves the batch but keeps its place, so that a
// sentence never has more than Width, ended and live together, and a beam of 1 is
// [Greedy]. A beam as wide as there are sequences finds the best of all.
//
// A sentence is over when it has no live hypothesis, at its longest length, or
// when it has Best ended ones and no live one can come to a higher score than
// these: log-probabilities only fall. Those that ended come first, the highest
// score before others; of equal scores, the one that ended earlier.
type Beam struct {
	Width int     // hypotheses of a sentence; more than there are tokens is fine
	Best  int     // sequences that are returned of each sentence, at most Width; 0: 1
	Norm  Norm    // what a score is divided by
	Alpha float64 // the power of it; 0: scores are log-probabilities. More prefers longer sequences
}

// Norm is what a log-probability is divided by, to the power of [Beam.Alpha]: a
// function of the number n of tokens, End counted.
type Norm uint8

// The norms.
const (
	ByLength Norm = iota // n
	GNMT                 // (5+n)/6, of Wu and others, "Google's Neural Machine Translation System", 2016
)

// Run returns the sequences of each sentence, the best first: at least one, and
// fewer than Best where there are no more.
func (b Beam) Run(s *Search) ([][]Sequence, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	b.Best = max(1, b.Best)
	return s.run(b, nil)
}

func (b Beam) check() error {
	switch {
	case b.Width < 1:
		return fmt.Errorf("decode: Beam.Width is %d; it must be at least 1", b.Width)
	case b.Best < 0 || b.Best > b.Width:
		return fmt.Errorf("decode: Beam.Best is %d; it must not be more than the Width, %d, nor negative", b.Best, b.Width)
	case b.Norm > GNMT:
		return fmt.Errorf("decode: Beam.Norm is %d; it must be ByLength or GNMT", b.Norm)
	case math.IsNaN(b.Alpha) || math.IsInf(b.Alpha, 0):
		return fmt.Errorf("decode: Beam.Alpha is %v; it must be a number", b.Alpha)
	}
	return nil
}

// score is the log-probability of n tokens, divided.
func (b Beam) score(logProb float64, n int) float64 {
	switch {
	case b.Alpha == 0:
		return logProb
	case b.Norm == GNMT:
		return logProb / math.Pow(float64(5+n)/6, b.Alpha)
	}
	return logProb / math.Pow(float64(n), b.Alpha)
}

// bound is the highest score that a live hypothesis of n tokens can still come to.
func (b Beam) bound(logProb float64, n, longest int) float64 {
	return max(b.score(logProb, n+1), b.score(logProb, longest))
}

// outcome is a sequence that is over.
type outcome struct {
	at             int32 // its last token in past
	ended          bool
	logProb, score float64
}

// rank orders outcomes, those of equal rank as they are.
func rank(all []outcome) {
	slices.SortStableFunc(all, func(a, b outcome) int {
		if a.ended != b.ended {
			if a.ended {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.score, a.score)
	})
}

// enough reports whether no live hypothesis, of n tokens and at most this
// log-probability, comes among the Best outcomes.
func (b Beam) enough(over []outcome, logProb float64, n, longest int) bool {
	if len(over) < b.Best {
		return false
	}
	rank(over)
	last := over[b.Best-1]
	return last.ended && b.bound(logProb, n, longest) <= last.score
}

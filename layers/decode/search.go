package decode

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
)

// State is what a model carries from step to step: any number of Vars with a row
// for each hypothesis, such as h and c of an LSTM.
type State = []*grad.Var

// Step takes every live hypothesis a token further. It returns a row of logits
// for each, one for each token, and the state after it, whose rows are in the
// same order. What it makes is on t, an eval tape that is Reset before the next
// step but one; weights come by t.Use and do not change while a search runs, and what
// was worked out before the search is a constant, such as v.Keep(). It must not keep l.
type Step func(t *grad.Tape, l *Live) (logits *grad.Var, next State)

// NoEnd is the End of sequences that only their length ends.
const NoEnd = -1

// Search says what is to be found. It serves one goroutine, and may be run again:
// then it uses its memory again.
type Search struct {
	Step    Step
	Begin   []int32 // of each sentence the token that its first step is given
	State   State   // before the first step: a row for each sentence, or one for all; may be nil
	End     int32   // the token that ends a sequence, or NoEnd
	Longest []int   // how many tokens a sequence has at most, End counted: of each sentence, or one number for all

	// Prefix has of each sentence the tokens that its sequences begin with; nil, of
	// one or of all: none. They are fed and scored as if they had been chosen, and
	// are not forbidden. Only the last may be End; the whole of a sentence as its
	// prefix gives the score of that sentence.
	Prefix [][]int32

	// Forbid sets forbidden[k] of each token k that a row of l must not take now;
	// all are false before. Nil forbids nothing. A pointer network forbids the
	// inputs that were taken, and those that its sentence does not have.
	Forbid func(l *Live, row int, forbidden []bool)

	// Weights are the packed weights that the steps multiply with. Searches of one model share a
	// set, on any number of goroutines. If it is nil, each run packs its own.
	Weights *grad.Weights

	work run
}

// Sequence is what was found.
type Sequence struct {
	Tokens  []int32 // without the begin token and without End
	LogProb float64 // of the tokens, and of End where it was taken
	Score   float64 // LogProb, divided as the Beam's Norm says
	Ended   bool    // with End; else it is as long as was allowed
}

// StepError reports a step after which a sentence cannot go on.
type StepError struct {
	Sentence, Step int // both count from 0
	Why            string
}

func (e *StepError) Error() string {
	return fmt.Sprintf("decode: sentence %d, step %d: %s", e.Sentence, e.Step, e.Why)
}

// check reports what cannot be searched.
func (s *Search) check() error {
	n := len(s.Begin)
	switch {
	case s.Step == nil:
		return fmt.Errorf("decode: Search.Step is nil; it is the model")
	case s.End < NoEnd:
		return fmt.Errorf("decode: Search.End is %d; it must be a token, or NoEnd", s.End)
	case len(s.Longest) != n && len(s.Longest) != 1:
		return fmt.Errorf("decode: Search.Longest has %d numbers for %d sentences; give one for each, or one for all", len(s.Longest), n)
	case s.Prefix != nil && len(s.Prefix) != n:
		return fmt.Errorf("decode: Search.Prefix has %d lists for %d sentences; give one for each", len(s.Prefix), n)
	}
	for i := range n {
		longest, prefix := s.longest(i), s.prefix(i)
		switch {
		case longest < 1:
			return fmt.Errorf("decode: Search.Longest of sentence %d is %d; it must be at least 1", i, longest)
		case len(prefix) > longest:
			return fmt.Errorf("decode: the prefix of sentence %d has %d tokens, and its Longest is %d", i, len(prefix), longest)
		}
		for j, token := range prefix {
			if token < 0 {
				return fmt.Errorf("decode: the prefix of sentence %d has the token %d", i, token)
			}
			if token == s.End && j+1 < len(prefix) {
				return fmt.Errorf("decode: the prefix of sentence %d goes on after End, its token %d", i, j)
			}
		}
	}
	return nil
}

// longest is the number of tokens that sentence i may have.
func (s *Search) longest(i int) int {
	if len(s.Longest) == 1 {
		return s.Longest[0]
	}
	return s.Longest[i]
}

func (s *Search) prefix(i int) []int32 {
	if s.Prefix == nil {
		return nil
	}
	return s.Prefix[i]
}

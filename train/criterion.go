package train

import "math"

// Criterion says which validation scores make an epoch the best, and count as
// progress where a run waits for it. A score with a NaN is neither, but for ByLast.
type Criterion int

const (
	// ByAccuracy takes the highest accuracy; of equal ones, the lowest loss; of
	// those, the first epoch. Each new best is progress, and nothing else.
	ByAccuracy Criterion = iota
	// ByLoss takes the lowest loss; of equal ones, the highest accuracy; of
	// those, the first epoch. Each new best is progress, and nothing else.
	ByLoss
	// ByEither is the rule of Veličković and others (2018): an accuracy or a
	// loss at least as good as any before is progress, and an epoch in which
	// both are is the best.
	ByEither
	// ByLast takes the last epoch, whatever its scores are, as Kipf and Welling
	// (2017) do. A loss lower than any before is progress, and nothing else.
	ByLast
)

// judge compares the scores of a run's epochs.
type judge struct {
	by       Criterion
	best     Score // of the best epoch; ByEither: the best of each
	chosen   bool  // there is a best epoch
	waited   int   // epochs since the last progress
	accuracy float64
	loss     float64
}

// see takes the next epoch's score and reports whether it is the best so far.
func (j *judge) see(s Score) bool {
	j.waited++
	if j.by == ByLast {
		if !math.IsNaN(s.Loss) && (!j.chosen || s.Loss < j.loss) {
			j.loss, j.chosen, j.waited = s.Loss, true, 0
		}
		return true
	}
	if math.IsNaN(s.Loss) || math.IsNaN(s.Accuracy) {
		return false
	}
	best := !j.chosen || j.better(s)
	progress := best
	if j.by == ByEither && j.chosen {
		higher, lower := s.Accuracy >= j.accuracy, s.Loss <= j.loss
		progress, best = higher || lower, higher && lower
	}
	if !j.chosen {
		j.accuracy, j.loss = s.Accuracy, s.Loss
	}
	j.accuracy, j.loss = math.Max(j.accuracy, s.Accuracy), math.Min(j.loss, s.Loss)
	if progress {
		j.waited = 0
	}
	if best {
		j.best, j.chosen = s, true
	}
	return best
}

// better reports whether s beats the best score so far.
func (j *judge) better(s Score) bool {
	a, b := j.keys(s)
	bestA, bestB := j.keys(j.best)
	return a > bestA || a == bestA && b > bestB
}

// keys returns what decides first and what decides second: more is better.
func (j *judge) keys(s Score) (first, second float64) {
	if j.by == ByLoss {
		return -s.Loss, s.Accuracy
	}
	return s.Accuracy, -s.Loss
}

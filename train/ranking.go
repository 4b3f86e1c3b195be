package train

import (
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Ranks are the places of right answers among all candidates, 1 the highest.
type Ranks []float64

// Add appends the place of a candidate among all, by score: 1 is the highest. Those
// that known names do not count, as other right answers do not in a filtered ranking;
// the candidate may be one of them. Of candidates that tie with it half count, so that
// a model that gives every candidate one score is in the middle and not on top. A NaN
// ranks above the candidate, and a candidate that is NaN last.
func (r *Ranks) Add(scores []float64, candidate int, known []int32) {
	if candidate < 0 || candidate >= len(scores) {
		panic(&tensor.ShapeError{Op: "train.Ranks.Add", Shapes: [][]int{{len(scores)}, {candidate}}, Why: "the candidate has no score"})
	}
	left := make([]bool, len(scores))
	for _, k := range known {
		left[k] = true
	}
	left[candidate] = true
	own, rank := scores[candidate], 1.0
	for i, s := range scores {
		switch {
		case left[i] || s < own:
		case s == own:
			rank += 0.5
		default: // above it, or one of the two is NaN
			rank++
		}
	}
	*r = append(*r, rank)
}

// MRR returns the mean reciprocal rank: the mean of 1/rank; NaN of no ranks.
func (r Ranks) MRR() float64 {
	sum := 0.0
	for _, place := range r {
		sum += 1 / place
	}
	return sum / float64(len(r))
}

// Hits returns the fraction of the ranks that are at most k, hits@k; NaN of no ranks.
func (r Ranks) Hits(k int) float64 {
	n := 0
	for _, place := range r {
		if place <= float64(k) {
			n++
		}
	}
	return float64(n) / float64(len(r))
}

// NDCG returns the normalised discounted cumulative gain of the first k places, where the
// ranks are those of all right answers to one question, none left out: the sum of 1/log₂(1 + rank)
// over ranks of at most k, divided by what it would be if they were the first. It is NaN of no
// ranks. The recall of the first k places is Hits(k) of the same ranks.
func (r Ranks) NDCG(k int) float64 {
	gain, best := 0.0, 0.0
	for i, place := range r {
		if place <= float64(k) {
			gain += 1 / math.Log2(1+place)
		}
		if i < k {
			best += 1 / math.Log2(float64(2+i))
		}
	}
	return gain / best
}

// HitsAbove returns the fraction of positives that score higher than the k-th best
// of the negatives: hits@k as the link tasks of the Open Graph Benchmark have it,
// where all positives compete with the same negatives. It is 1 with fewer than k
// negatives, and NaN without a positive or with a NaN.
func HitsAbove(positives, negatives []float64, k int) float64 {
	if k < 1 {
		panic(&tensor.ShapeError{Op: "train.HitsAbove", Shapes: [][]int{{k}}, Why: "k is at least 1"})
	}
	if len(positives) == 0 || slices.ContainsFunc(positives, math.IsNaN) || slices.ContainsFunc(negatives, math.IsNaN) {
		return math.NaN()
	}
	if len(negatives) < k {
		return 1
	}
	sorted := slices.Clone(negatives)
	slices.Sort(sorted)
	bar, n := sorted[len(sorted)-k], 0
	for _, s := range positives {
		if s > bar {
			n++
		}
	}
	return float64(n) / float64(len(positives))
}

package train

import (
	"math"
	"slices"
)

// Perplexity is the exponential of a mean cross-entropy a token: how many equally
// likely tokens would be as hard to tell. The mean is over tokens, not over
// sentences.
func Perplexity(crossEntropy float64) float64 { return math.Exp(crossEntropy) }

// ExactMatch returns the fraction of sequences that are right from end to end; of
// none it is 0.
func ExactMatch[T comparable](want, got [][]T) (float64, error) {
	if err := pairs("ExactMatch", want, got, false); err != nil {
		return 0, err
	}
	right := 0
	for i := range want {
		if slices.Equal(want[i], got[i]) {
			right++
		}
	}
	return ratio(right, len(want)), nil
}

// TokenAccuracy returns the fraction of all tokens that are right, long sequences
// counting more; of none it is 0. Pairs are of equal length.
func TokenAccuracy[T comparable](want, got [][]T) (float64, error) {
	if err := pairs("TokenAccuracy", want, got, true); err != nil {
		return 0, err
	}
	right, all := 0, 0
	for i := range want {
		for k, w := range want[i] {
			if w == got[i][k] {
				right++
			}
		}
		all += len(want[i])
	}
	return ratio(right, all), nil
}

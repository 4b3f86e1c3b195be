package reading

import (
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Of two kinds the neutral sentence does not count, and what decides is p(3) + p(4) against
// p(0) + p(1), not the likeliest kind.
func TestSentimentScores(t *testing.T) {
	b := &text.TreeBatch{Labels: []int32{3, 9, 2, 1, 4}, Roots: []int32{0, 2, 3, 4}} // node 1 is no root
	p := tensor.Of([]tensor.Float{
		0.4, 0, 0, 0.3, 0.3, // likeliest very negative, and positive by the sums: right of two
		0, 0, 0, 0, 1,
		0.1, 0.1, 0.6, 0.1, 0.1, // neither, and so said: right of five alone
		0.3, 0, 0.6, 0, 0.1, // likeliest neither, and negative by the sums: right of two
		0, 0.5, 0, 0.1, 0.4, // positive by neither: the sums are equal
	}, 5, 5)
	if got, want := scoresOf(p, b), (sentimentScores{five: 1. / 4, two: 2. / 3}); got != want {
		t.Errorf("the scores are %+v, want %+v", got, want)
	}
}

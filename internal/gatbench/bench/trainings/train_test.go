package trainings

import (
	"testing"

	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/train"
)

// Of equal validation accuracies the first counts, as in the peers' loop.
func TestScoresOf(t *testing.T) {
	epoch := func(loss, val, test float64) train.Epoch {
		return train.Epoch{Loss: loss, Scores: train.Scores{Val: train.Score{Accuracy: val}, Test: train.Score{Accuracy: test}}}
	}
	got := scoresOf([]train.Epoch{epoch(3, .5, .4), epoch(2, .7, .6), epoch(1, .7, .5), epoch(.5, .6, .3)})
	if want := (bench.Scores{LastLoss: .5, LastTest: .3, BestVal: .7, BestValTest: .6}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

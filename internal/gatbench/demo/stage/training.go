package stage

import (
	"fmt"
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/train"
)

// Training is a loop of epochs over batches. An epoch is once through the data; where each step
// draws data of its own it is a hundred steps, and people are told of steps.
type Training struct {
	*Stage
	Name      string // of its loss in a picture of several; empty: none
	Optimiser train.Optimiser
	Clip      float64 // of the gradients' norm; 0: none
	Epochs    int
	Batches   func(epoch int) [][]int32 // the rows of each; one nil batch is all there is; nil: each step draws its own

	Loss      func(t *grad.Tape, rows []int32) *grad.Var // of a batch
	Score     func() (float64, error)                    // how good the model is; nil: nobody asks
	ScoreName string
	Every     int // Score is called after every so many epochs, and after the last; 0: 1

	Losses, Scores []float64 // of the epochs: means of their batches, and what Score returned
}

// Run trains. It ends early, with an error, when the stage's context ends.
func (l *Training) Run() error {
	t := grad.NewTape(l.Stream("dropout", 0))
	for epoch := range l.Epochs {
		sum, batches := 0.0, l.batchesOf(epoch)
		for i, rows := range batches {
			if err := l.Ctx.Err(); err != nil {
				return fmt.Errorf("interrupted in %s", l.at(epoch, t.Step()))
			}
			t.Reset()
			loss := l.Loss(t, rows)
			grads := t.Backward(loss)
			if l.Clip > 0 {
				grads.ClipNorm(l.Clip)
			}
			l.Optimiser.Step(grads)
			sum += float64(loss.Value().Data[0])
			if !l.JSON {
				text := fmt.Sprintf("%s%s  loss %.4f", l.Title, l.at(epoch, t.Step()), sum/float64(i+1))
				if l.Batches != nil {
					text += fmt.Sprintf("  batch %d of %d", i+1, len(batches))
				}
				l.Progress.Show("%s", text)
			}
		}
		l.Losses = append(l.Losses, sum/float64(max(1, len(batches))))
		if l.Score != nil && ((epoch+1)%max(1, l.Every) == 0 || epoch+1 == l.Epochs) {
			value, err := l.Score()
			if err != nil {
				return err
			}
			l.Scores = append(l.Scores, value)
			l.report(epoch, t.Step(), value)
		}
	}
	return nil
}

// batchesOf returns the batches of an epoch.
func (l *Training) batchesOf(epoch int) [][]int32 {
	if l.Batches == nil {
		return make([][]int32, l.Steps())
	}
	batches := l.Batches(epoch)
	if l.Few > 0 {
		batches = batches[:min(len(batches), max(1, l.Few/25))]
	}
	return batches
}

// Steps is how many steps an epoch has where each draws data of its own.
func (s *Stage) Steps() int {
	if s.Few > 0 {
		return max(1, s.Few/25)
	}
	return 100
}

// at says where a training is.
func (l *Training) at(epoch int, step uint64) string {
	if l.Batches == nil {
		return fmt.Sprintf("step %d/%d", step, l.Epochs*l.Steps())
	}
	return fmt.Sprintf("epoch %d/%d", epoch+1, l.Epochs)
}

// report says how an epoch, or a hundred steps, went.
func (l *Training) report(epoch int, step uint64, value float64) {
	unit, n := "epoch", uint64(epoch+1)
	if l.Batches == nil {
		unit, n = "step", step
	}
	loss := l.Losses[epoch]
	if l.JSON {
		l.Out.Encode(map[string]any{"event": unit, "demo": l.demo.Name, unit: n, "loss": report.Number(loss), l.ScoreName: report.Number(value)})
		return
	}
	l.Progress.Clear()
	l.Out.Printf("%s %-*d loss %.4f   %s %.4g\n", unit, 10-len(unit), n, loss, strings.ReplaceAll(l.ScoreName, "_", " "), value)
}

// axis is that of a picture of l's losses.
func (l *Training) axis() picture.Axis {
	if l.Batches == nil {
		return picture.Axis{Label: "hundreds of steps", Whole: true}
	}
	return picture.Axis{Label: "epoch", Whole: true}
}

// Learnt is a network that has been trained, how that went, and what it costs by data that is not
// the test's: the less the better.
type Learnt[M any] struct {
	Net  M
	How  *Training
	Cost float64
	Try  int  // the how-manyeth it was, from 1 on
	good bool // it costs no more than enough
}

// BestOf trains a network up to so many times, each time with other first weights and draws, until
// one costs no more than enough, and returns the one that costs least. With --epochs there is one.
func BestOf[M any](s *Stage, tries int, enough float64, fit func(s *Stage) (Learnt[M], error)) (Learnt[M], error) {
	var best Learnt[M]
	for try := 1; try <= tries; try++ {
		own := *s
		if try > 1 {
			own.Seed = s.Stream("try", uint64(try))
		}
		l, err := fit(&own)
		if err != nil {
			return best, err
		}
		if l.Try = try; try == 1 || l.Cost < best.Cost || math.IsNaN(best.Cost) {
			best = l
		}
		if best.good = best.Cost <= enough; best.good || s.Epochs > 0 {
			break
		}
		if try < tries && !math.IsInf(enough, 0) {
			s.Say("It has not learnt: the loss on held-out sequences is %.2g, and should be at most %.2g. Trying again, with other initial weights and other sequences.", l.Cost, enough)
		}
	}
	if !best.good && s.Epochs == 0 {
		s.Print("the one of least loss was number %d\n", best.Try)
	}
	return best, nil
}

// ByLength is the batches of sequences, so many in each, of lengths that are near.
func (s *Stage) ByLength(lengths []int, size int) func(epoch int) [][]int32 {
	return func(epoch int) [][]int32 { return text.ByLength(lengths, size, s.Stream("order", 0), epoch) }
}

// Last returns the last of some numbers.
func Last(x []float64) float64 { return x[len(x)-1] }

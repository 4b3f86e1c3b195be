package demo

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

// training is a loop of epochs over batches. An epoch is once through the data; where each step
// draws data of its own it is a hundred steps, and people are told of steps.
type training struct {
	*Stage
	optimiser train.Optimiser
	clip      float64 // of the gradients' norm; 0: none
	epochs    int
	batches   func(epoch int) [][]int32 // the rows of each; one nil batch is all there is; nil: each step draws its own

	// loss is that of a batch.
	loss func(t *grad.Tape, rows []int32) *grad.Var
	// score is how good the model is after an epoch, and what that is called.
	score func() (value float64, name string)
	every int // score is asked for after every so many epochs, and after the last; 0: 1

	losses, scores, norms []float64 // of each epoch: means, but the largest norm
}

// run trains. It ends early, with an error, when the stage's context ends.
func (l *training) run() error {
	t, step := grad.NewTape(l.stream("dropout", 0)), 0
	for epoch := range l.epochs {
		sum, norm, batches := 0.0, 0.0, l.batchesOf(epoch)
		for i, rows := range batches {
			if err := l.Ctx.Err(); err != nil {
				return fmt.Errorf("interrupted in %s", l.at(epoch, step))
			}
			t.Reset()
			loss := l.loss(t, rows)
			grads := t.Backward(loss)
			if l.clip > 0 {
				norm = max(norm, grads.ClipNorm(l.clip))
			}
			l.optimiser.Step(grads)
			sum += float64(loss.Value().Data[0])
			if step++; !l.JSON {
				text := fmt.Sprintf("%s%s  loss %.4f", l.Title, l.at(epoch, step), sum/float64(i+1))
				if l.batches != nil {
					text += fmt.Sprintf("  batch %d of %d", i+1, len(batches))
				}
				l.Progress.Show("%s", text)
			}
		}
		l.losses, l.norms = append(l.losses, sum/float64(max(1, len(batches)))), append(l.norms, norm)
		if l.score != nil && ((epoch+1)%max(1, l.every) == 0 || epoch+1 == l.epochs) {
			value, name := l.score()
			l.scores = append(l.scores, value)
			l.report(epoch, step, value, name)
		}
	}
	return nil
}

// batchesOf returns the batches of an epoch.
func (l *training) batchesOf(epoch int) [][]int32 {
	if l.batches == nil {
		return make([][]int32, l.steps())
	}
	batches := l.batches(epoch)
	if l.Few > 0 {
		batches = batches[:min(len(batches), max(1, l.Few/25))]
	}
	return batches
}

// steps is how many steps an epoch has where each draws data of its own.
func (s *Stage) steps() int {
	if s.Few > 0 {
		return max(1, s.Few/25)
	}
	return 100
}

// at says where a training is.
func (l *training) at(epoch, step int) string {
	if l.batches == nil {
		return fmt.Sprintf("step %d/%d", step, l.epochs*l.steps())
	}
	return fmt.Sprintf("epoch %d/%d", epoch+1, l.epochs)
}

// report says how an epoch, or a hundred steps, went.
func (l *training) report(epoch, step int, value float64, name string) {
	unit, n := "epoch", epoch+1
	if l.batches == nil {
		unit, n = "step", step
	}
	loss := l.losses[epoch]
	if l.JSON {
		l.Out.Encode(map[string]any{"event": unit, "demo": l.demo.Name, unit: n, "loss": report.Number(loss), name: report.Number(value)})
		return
	}
	l.Progress.Clear()
	l.Out.Printf("%s %-*d loss %.4f   %s %.4g\n", unit, 10-len(unit), n, loss, strings.ReplaceAll(name, "_", " "), value)
}

// axis is that of a picture of l's losses.
func (l *training) axis() picture.Axis {
	if l.batches == nil {
		return picture.Axis{Label: "hundreds of steps", Whole: true}
	}
	return picture.Axis{Label: "epoch", Whole: true}
}

// learnt is a network that has been trained, how that went, and what it costs by data that is not
// the test's: the less the better.
type learnt[M any] struct {
	net  M
	how  *training
	cost float64
	try  int  // the how-manyeth it was, from 1 on
	good bool // it costs no more than enough
}

// bestOf trains a network up to so many times, each time with other first weights and draws, until
// one costs no more than enough, and returns the one that costs least. With --epochs there is one.
func bestOf[M any](s *Stage, tries int, enough float64, fit func(s *Stage) (learnt[M], error)) (learnt[M], error) {
	var best learnt[M]
	for try := 1; try <= tries; try++ {
		own := *s
		if try > 1 {
			own.Seed = s.stream("try", uint64(try))
		}
		l, err := fit(&own)
		if err != nil {
			return best, err
		}
		if l.try = try; try == 1 || l.cost < best.cost || math.IsNaN(best.cost) {
			best = l
		}
		if best.good = best.cost <= enough; best.good || s.Epochs > 0 {
			break
		}
		if try < tries && !math.IsInf(enough, 0) {
			s.say("It has not learnt: the loss on held-out sequences is %.2g, and should be at most %.2g. Trying again, with other initial weights and other sequences.", l.cost, enough)
		}
	}
	if !best.good && s.Epochs == 0 {
		s.print("the one of least loss was number %d\n", best.try)
	}
	return best, nil
}

// byLength is the batches of sequences, so many in each, of lengths that are near.
func (s *Stage) byLength(lengths []int, size int) func(epoch int) [][]int32 {
	return func(epoch int) [][]int32 { return text.ByLength(lengths, size, s.stream("order", 0), epoch) }
}

// whole is the batches of data that is one batch.
func whole(int) [][]int32 { return [][]int32{nil} }
